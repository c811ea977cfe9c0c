// BundleReader: the rows of a bundle, fetched from SQLite.
// Owns the queries. The order and the shape of the parts come from `lifeParts` and `tenantParts` of the ledger's room.
// O1  Rows that change are read in one go, with how far those reach that only grow; these follow page by page and end
//     there, so that a bundle is of one moment though others write meanwhile.
// O2  What lies apart is waited for row by row; a text that cannot be read stops the bundle: a shorter one would pass for the whole.
//     Where what is lost is marked, its mark stands there.

import type { DatabaseSync } from "node:sqlite"
import {
  type AssistantHead,
  type BlockRows,
  type BundlePart,
  byOwner,
  lifeParts,
  type LifeRows,
  lostEntryText,
  lostMailText,
  type LostRow,
  type LineRow,
  type Pause,
  readerOf,
  tenantParts,
  valueOf
} from "@reverie/ledger"
import { type Address, keyText, type Lane, LANES, readKeyText, type TenantId, wholeState } from "@reverie/protocol"
import { limitsIn } from "../ledger/allowance.ts"
import { addressOf, assistantQueries, cursorsOf, type StateRow } from "../ledger/assistants.ts"
import { entryQueries } from "../ledger/entries.ts"
import { readBlob } from "../ledger/blobs.ts"
import { segmentsOf } from "../ledger/segments.ts"
import { recordRows } from "../ledger/record-rows.ts"
import { query } from "../sql.ts"

const PAGE = 256

interface BlockRow {
  readonly key: number
  readonly id: string
  readonly owner: string
  readonly label: string
  readonly body: string
}

const blockQueries = (database: DatabaseSync) => {
  const columns = "SELECT key, tenant, id, owner, label, body FROM blocks WHERE tenant = ?"
  const ofOwner = query<BlockRow>(database, `${columns} AND owner = ?`)
  const ofTenant = query<BlockRow>(database, columns)
  const readers = query<{ readonly reader: string }>(database, "SELECT reader FROM block_readers WHERE block = ?")
  const versions = query<{ readonly body: string; readonly patch: Uint8Array }>(
    database,
    "SELECT block, version, body, patch FROM block_versions WHERE block = ? ORDER BY version"
  )
  const snapshot = query<{ readonly bytes: Uint8Array }>(
    database,
    "SELECT block, bytes FROM block_snapshots WHERE block = ?"
  )
  const answers = query<{ readonly key: string; readonly answer: string }>(
    database,
    "SELECT tenant, key, answer FROM block_answers WHERE tenant = ?"
  )
  const named = (row: BlockRow): BlockRow => ({
    ...row,
    id: readKeyText(row.id),
    owner: readKeyText(row.owner),
    label: readKeyText(row.label)
  })
  return {
    ofOwner: (tenant: TenantId, owner: string) => ofOwner.all(tenant, keyText(owner)).map(named),
    ofTenant: (tenant: TenantId) => ofTenant.all(tenant).map(named),
    whole: (row: BlockRow): BlockRows => ({
      ...row,
      readers: readers.all(row.key).map(({ reader }) => readerOf(reader)),
      versions: versions.all(row.key),
      snapshot: snapshot.one(row.key)?.bytes
    }),
    answers: (tenant: TenantId) => answers.all(tenant).map(({ answer, key }) => ({ key: readKeyText(key), answer }))
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
    `SELECT seq, assistant, id, accepted_at AS acceptedAt, body FROM envelopes
     WHERE assistant = ? AND lane = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`
  ),
  handled: query<{ readonly count: number }>(
    database,
    "SELECT count(*) AS count FROM envelopes WHERE assistant = ? AND lane = ? AND seq <= ?"
  ),
  newestMail: query<{ readonly seq: number | null }>(database, "SELECT max(seq) AS seq FROM envelopes"),
  records: recordRows(database),
  sends: query<{ readonly body: string }>(database, "SELECT body FROM sends ORDER BY seq"),
  deadLetters: query<{ readonly body: string; readonly discarded: number | null }>(
    database,
    "SELECT assistant, body, discarded FROM dead_letters WHERE assistant = ? ORDER BY seq"
  ),
  prompts: query<LineRow>(
    database,
    "SELECT tenant, kind, key, version, at, restores, body FROM prompts WHERE tenant = ? ORDER BY version"
  ),
  limits: limitsIn(database),
  blob: readBlob(database),
  living: query<{ readonly id: string }>(database, "SELECT id FROM assistants WHERE tenant = ?"),
  tenants: query<{ readonly tenant: string }>(
    database,
    `SELECT tenant FROM assistants UNION SELECT tenant FROM blocks UNION SELECT tenant FROM block_answers
     UNION SELECT tenant FROM prompts
     UNION SELECT tenant FROM allowance_accounts WHERE body ->> '$.limits' IS NOT NULL ORDER BY tenant`
  )
})

export interface BundleReader {
  /** The parts of a life, head first; undefined when there is no such assistant. What changes is read with the call. */
  readonly life: (address: Address, marksLost?: boolean) => Generator<BundlePart | Pause> | undefined
  readonly tenant: (tenant: TenantId) => ReadonlyArray<BundlePart>
  readonly tenants: () => ReadonlyArray<TenantId>
}

/** The rows that only grow, page by page up to where they reached. */
const growingQueries = (
  rows: ReturnType<typeof rowQueries>,
  entries: ReturnType<typeof entryQueries>,
  segments: ReturnType<typeof segmentsOf>
) => ({
  mail: function* (key: number, newest: number, marksLost: boolean) {
    for (const lane of LANES) {
      const column = LANES.indexOf(lane)
      let page = rows.mail.all(key, column, 0, newest, PAGE)
      for (; page.length > 0; page = rows.mail.all(key, column, page.at(-1)?.seq ?? newest, newest, PAGE)) {
        for (const row of page) {
          const body = yield* segments.readableLater(row.body, marksLost ? lostMailText : undefined)
          yield { ...row, lane, id: readKeyText(row.id), body }
        }
      }
    }
  },
  entries: function* ({ key, last, version }: StateRow, marksLost: boolean) {
    // The first that stands for a segment names the bytes that this refers to.
    const marked = new Set<string>()
    for (let from = 1; from <= version; from += PAGE) {
      for (const row of [...entries.between(key, last, from, Math.min(from + PAGE - 1, version))].toReversed()) {
        const mark = (lost: LostRow, digests: ReadonlyArray<string>): string => {
          const isFirst = !marked.has(lost.segment)
          marked.add(lost.segment)
          return lostEntryText(lost, row.no, isFirst ? digests : [])
        }
        yield { ...row, body: yield* segments.readableLater(row.body, marksLost ? mark : undefined) }
      }
    }
  }
})

export const bundleReader = (database: DatabaseSync): BundleReader => {
  const rows = rowQueries(database)
  const blocks = blockQueries(database)
  const assistants = assistantQueries(database)
  const growing = growingQueries(rows, entryQueries(database), segmentsOf(database))

  const headOf = (row: StateRow): AssistantHead => {
    const cursors = cursorsOf(row)
    const count = (lane: Lane) => rows.handled.one(row.key, LANES.indexOf(lane), cursors[lane])?.count ?? 0
    const handled = { control: count("control"), reply: count("reply"), mail: count("mail") }
    const state = wholeState(valueOf(row.state)) as unknown as AssistantHead["state"]
    return { kind: "assistant", address: addressOf(row), epoch: row.epoch, version: row.version, handled, state }
  }

  const lifeOf = (row: StateRow, marksLost: boolean): LifeRows => {
    const { assistant, tenant } = addressOf(row)
    return {
      head: headOf(row),
      mail: growing.mail(row.key, rows.newestMail.one()?.seq ?? 0, marksLost),
      entries: growing.entries(row, marksLost),
      records: rows.records.all(row.key),
      sends: rows.sends.all(),
      deadLetters: rows.deadLetters
        .all(row.key)
        .map(({ body, discarded }) => ({ body, isDiscarded: discarded !== null })),
      blocks: blocks.ofOwner(tenant, assistant).map(blocks.whole),
      answers: blocks.answers(tenant),
      blob: (digest) => rows.blob(tenant, digest)
    }
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
    life: (address, marksLost = false) =>
      atOnce(() => {
        const row = assistants.findWithState(address)
        return row === undefined ? undefined : lifeParts(lifeOf(row, marksLost))
      }),
    tenant: (tenant) =>
      atOnce(() => {
        const living = new Set(rows.living.all(tenant).map(({ id }) => id))
        const { others, owned } = byOwner(living, blocks.ofTenant(tenant))
        return tenantParts({
          tenant,
          living,
          owned,
          blocks: others.map(blocks.whole),
          answers: blocks.answers(tenant),
          prompts: rows.prompts.all(tenant),
          limits: rows.limits.of(tenant)
        })
      }),
    tenants: () => rows.tenants.all().map(({ tenant }) => tenant as TenantId)
  }
}
