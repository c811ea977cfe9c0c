// MovingOut: bundles, gathered from the rows.
// Owns the reading of a life, and of what a tenant has besides its assistants. Leaves putting it down to moving-in.ts.
// O1  Rows that change are read in one go, with how far those reach that only grow; these follow page by page and end
//     there, so that a bundle is of one moment though others write meanwhile.

import type { DatabaseSync } from "node:sqlite"
import {
  answerParts,
  type AssistantHead,
  blockParts,
  type BundlePart,
  byText,
  createdFor,
  createdKey,
  type LineRow,
  promptParts,
  sendName,
  sendNames,
  valueOf
} from "@reverie/ledger"
import { type Address, keyText, type Lane, LANES, readKeyText, type TenantId } from "@reverie/protocol"
import { addressOf, assistantQueries, cursorsOf, entryQueries, type StateRow } from "../ledger/assistants.ts"
import { query } from "../sql.ts"

const PAGE = 256

interface BlockRow {
  readonly key: number
  readonly id: string
  readonly owner: string
  readonly label: string
  readonly body: string
}

/** A reader's name, which is quoted unless it is everybody. */
const readerOf = (reader: string): string => (reader.startsWith('"') ? readKeyText(reader) : reader)

const blockQueries = (database: DatabaseSync) => {
  const columns = "SELECT key, id, owner, label, body FROM blocks WHERE tenant = ?"
  const ofOwner = query<BlockRow>(database, `${columns} AND owner = ?`)
  const ofTenant = query<BlockRow>(database, columns)
  const readers = query<{ readonly reader: string }>(database, "SELECT reader FROM block_readers WHERE block = ?")
  const versions = query<{ readonly body: string; readonly patch: Uint8Array }>(
    database,
    "SELECT body, patch FROM block_versions WHERE block = ? ORDER BY version"
  )
  const snapshot = query<{ readonly bytes: Uint8Array }>(database, "SELECT bytes FROM block_snapshots WHERE block = ?")
  const answers = query<{ readonly key: string; readonly answer: string }>(
    database,
    "SELECT key, answer FROM block_answers WHERE tenant = ?"
  )
  const partsOf = ({ body, id, key, label, owner }: BlockRow): ReadonlyArray<BundlePart> =>
    blockParts({
      id: readKeyText(id),
      owner: readKeyText(owner),
      label: readKeyText(label),
      readers: readers.all(key).map(({ reader }) => readerOf(reader)),
      body,
      versions: versions.all(key),
      snapshot: snapshot.one(key)?.bytes
    })
  const sorted = (rows: ReadonlyArray<BlockRow>) => rows.toSorted(byText(({ id }) => readKeyText(id)))
  return {
    ofOwner: (tenant: TenantId, owner: string) => sorted(ofOwner.all(tenant, keyText(owner))),
    ofTenant: (tenant: TenantId) => sorted(ofTenant.all(tenant)),
    partsOf,
    answers: (
      tenant: TenantId,
      isWanted: (key: string, block: string | undefined) => boolean
    ): ReadonlyArray<BundlePart> => answerParts(answers.all(tenant), isWanted)
  }
}

interface MailRow {
  readonly seq: number
  readonly id: string
  readonly acceptedAt: number
  readonly body: string
}

const rowQueries = (database: DatabaseSync) => ({
  mail: query<MailRow>(
    database,
    `SELECT seq, id, accepted_at AS acceptedAt, body FROM envelopes
     WHERE assistant = ? AND lane = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`
  ),
  handled: query<{ readonly count: number }>(
    database,
    "SELECT count(*) AS count FROM envelopes WHERE assistant = ? AND lane = ? AND seq <= ?"
  ),
  newestMail: query<{ readonly seq: number | null }>(database, "SELECT max(seq) AS seq FROM envelopes"),
  records: query<{ readonly kind: string; readonly key: string; readonly body: string }>(
    database,
    "SELECT kind, key, body FROM records WHERE assistant = ?"
  ),
  sends: query<{ readonly body: string }>(database, "SELECT body FROM sends ORDER BY seq"),
  deadLetters: query<{ readonly body: string; readonly discarded: number | null }>(
    database,
    "SELECT body, discarded FROM dead_letters WHERE assistant = ? ORDER BY seq"
  ),
  prompts: query<LineRow>(
    database,
    "SELECT kind, key, version, at, restores, body FROM prompts WHERE tenant = ? ORDER BY version"
  ),
  living: query<{ readonly id: string }>(database, "SELECT id FROM assistants WHERE tenant = ?"),
  tenants: query<{ readonly tenant: string }>(
    database,
    `SELECT tenant FROM assistants UNION SELECT tenant FROM blocks UNION SELECT tenant FROM block_answers
     UNION SELECT tenant FROM prompts ORDER BY tenant`
  )
})

/** The rows that change: they are read at once. */
const momentOf = (database: DatabaseSync) => {
  const rows = rowQueries(database)
  const blocks = blockQueries(database)
  return (row: StateRow) => {
    const address = addressOf(row)
    const { assistant, tenant } = address
    const own = blocks.ofOwner(tenant, assistant)
    const ids = new Set<string | undefined>(own.map(({ id }) => readKeyText(id)))
    const cursors = cursorsOf(row)
    const count = (lane: Lane) => rows.handled.one(row.key, LANES.indexOf(lane), cursors[lane])?.count ?? 0
    const handled = { control: count("control"), reply: count("reply"), mail: count("mail") }
    const state = valueOf(row.state) as unknown as AssistantHead["state"]
    return {
      head: { kind: "assistant", address, epoch: row.epoch, version: row.version, handled, state } as const,
      newestMail: rows.newestMail.one()?.seq ?? 0,
      records: rows.records
        .all(row.key)
        .toSorted(byText(({ key, kind }) => `${kind}\u0000${key}`))
        .map(({ body, key, kind }): BundlePart => ({ kind: "record", of: kind, key, value: valueOf(body) })),
      sends: rows.sends.all().map(({ body }) => valueOf(body)),
      deadLetters: rows.deadLetters.all(row.key).map(({ discarded, body }) => {
        const where = discarded === null ? {} : { discarded: true as const }
        return { kind: "dead-letter", ...(valueOf(body) as object), ...where } as BundlePart
      }),
      blocks: own.flatMap(blocks.partsOf),
      answers:
        // Blocks that never were leave no answers.
        blocks.answers(tenant, (key, block) => ids.has(block) || key.startsWith(createdKey(assistant)))
    }
  }
}

/** The rows that only grow, page by page up to where they reached. */
const growingOf = (database: DatabaseSync) => {
  const rows = rowQueries(database)
  const entries = entryQueries(database)
  return {
    mail: function* (key: number, newest: number): Generator<BundlePart> {
      for (const lane of LANES) {
        const column = LANES.indexOf(lane)
        let page = rows.mail.all(key, column, 0, newest, PAGE)
        for (; page.length > 0; page = rows.mail.all(key, column, page.at(-1)?.seq ?? newest, newest, PAGE)) {
          for (const { acceptedAt, body, id } of page) {
            yield { kind: "envelope", lane, id: readKeyText(id), acceptedAt, body: valueOf(body) }
          }
        }
      }
    },
    entries: function* (key: number, last: number, version: number): Generator<BundlePart> {
      for (let from = 1; from <= version; from += PAGE) {
        const page = [...entries.between(key, last, from, Math.min(from + PAGE - 1, version))]
        for (const { body } of page.toReversed()) {
          yield { kind: "entry", entry: valueOf(body) } as BundlePart
        }
      }
    }
  }
}

/** What a tenant has besides the assistants that live here. */
const tenantPartsOf = (database: DatabaseSync) => {
  const rows = rowQueries(database)
  const blocks = blockQueries(database)
  return (tenant: TenantId): ReadonlyArray<BundlePart> => {
    const living = new Set(rows.living.all(tenant).map(({ id }) => id))
    const all = blocks.ofTenant(tenant)
    const isOwned = ({ owner }: BlockRow): boolean => living.has(readKeyText(owner))
    const claimed = new Set<string | undefined>(all.filter(isOwned).map(({ id }) => readKeyText(id)))
    return [
      { kind: "tenant", tenant },
      ...all.filter((row) => !isOwned(row)).flatMap(blocks.partsOf),
      ...blocks.answers(tenant, (key, block) => !living.has(createdFor(key)) && !claimed.has(block)),
      ...promptParts(rows.prompts.all(tenant))
    ]
  }
}

export interface MovingOut {
  /** The parts of a life, head first; undefined when no one lives there. The first one is read with the call. */
  readonly life: (address: Address) => Generator<BundlePart> | undefined
  readonly tenantParts: (tenant: TenantId) => ReadonlyArray<BundlePart>
  readonly tenants: () => ReadonlyArray<TenantId>
}

export const movingOut = (database: DatabaseSync): MovingOut => {
  const rows = rowQueries(database)
  const assistants = assistantQueries(database)
  const tenantParts = tenantPartsOf(database)
  const moment = momentOf(database)
  const growing = growingOf(database)

  const parts = function* (row: StateRow, read: ReturnType<typeof moment>): Generator<BundlePart> {
    yield read.head
    yield* growing.mail(row.key, read.newestMail)
    const open = new Set(read.sends.map(sendName))
    const written = new Set<string>()
    for (const part of growing.entries(row.key, row.last, row.version)) {
      if (part.kind === "entry" && open.size > 0) {
        for (const name of sendNames(part.entry as never)) if (open.has(name)) written.add(name)
      }
      yield part
    }
    yield* read.records
    for (const envelope of read.sends) {
      if (written.has(sendName(envelope))) yield { kind: "send", envelope } as unknown as BundlePart
    }
    yield* read.deadLetters
    yield* read.blocks
    yield* read.answers
  }

  /** Readers beside another process see one moment only within a transaction. */
  const atOnce = <A>(read: () => A): A => {
    if (database.isTransaction) return read()
    database.exec("BEGIN")
    try {
      return read()
    } finally {
      database.exec("COMMIT")
    }
  }

  return {
    life: (address) =>
      atOnce(() => {
        const row = assistants.findWithState(address)
        return row === undefined ? undefined : parts(row, moment(row))
      }),
    tenantParts: (tenant) => atOnce(() => tenantParts(tenant)),
    tenants: () => rows.tenants.all().map(({ tenant }) => tenant as TenantId)
  }
}
