// MovingOut: bundles, gathered from the rows.
// Owns the reading of a life, and of what a tenant has besides its assistants. Leaves putting it down to moving-in.ts.
// O1  All of a bundle is read in one transaction that sees one moment: anyone who calls brings it along.

import { Buffer } from "node:buffer"
import {
  answerParts,
  type AssistantHead,
  blockParts,
  type Bundle,
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
import { type Address, readKeyText, type TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { addressOf, assistantColumns, type AssistantRow, laneAt } from "../ports/assistants.ts"
import type { PgFailure, Query } from "../database.ts"

const LIFE = `
  SELECT a.key::text AS key, ${assistantColumns}, (SELECT s.body FROM states s WHERE s.assistant = a.key) AS state
  FROM assistants a WHERE tenant = $1 AND id = $2`

const MAIL = `
  SELECT lane, id, accepted_at::float8 AS "acceptedAt", body FROM envelopes WHERE assistant = $1 ORDER BY lane, seq`
const ENTRIES = "SELECT body FROM ledger WHERE assistant = $1 AND no > $2 ORDER BY no LIMIT $3"
const RECORDS = "SELECT kind, key, body FROM records WHERE assistant = $1"
const SENDS = "SELECT body FROM sends WHERE tenant = $1 ORDER BY seq"
const DEAD_LETTERS = "SELECT body, discarded FROM dead_letters WHERE assistant = $1 ORDER BY seq"

const BLOCKS = "SELECT key::text AS key, id, owner, label, body FROM blocks WHERE tenant = $1"
const READERS = "SELECT reader FROM block_readers WHERE block = $1"
const VERSIONS = "SELECT body, patch FROM block_versions WHERE block = $1 ORDER BY version"
const SNAPSHOT = "SELECT bytes FROM block_snapshots WHERE block = $1"
const ANSWERS = "SELECT key, answer FROM block_answers WHERE tenant = $1"

const PROMPTS = `
  SELECT kind, key, version::float8 AS version, at::float8 AS at, restores::float8 AS restores, body
  FROM prompts WHERE tenant = $1 ORDER BY version`
const LIVING = "SELECT id FROM assistants WHERE tenant = $1"

const TENANTS = `
  SELECT tenant FROM assistants UNION SELECT tenant FROM blocks UNION SELECT tenant FROM block_answers
  UNION SELECT tenant FROM prompts ORDER BY tenant`

const PAGE = 1_000

type Reading<A> = Effect.Effect<A, PgFailure>

interface BlockRow {
  readonly key: string
  readonly id: string
  readonly owner: string
  readonly label: string
  readonly body: string
}

const readerOf = (reader: string): string => (reader.startsWith('"') ? readKeyText(reader) : reader)

const bytesIn = (bytes: Uint8Array): Uint8Array => new Uint8Array(Buffer.from(bytes))

const partsOfBlock = (query: Query, { body, id, key, label, owner }: BlockRow): Reading<ReadonlyArray<BundlePart>> =>
  Effect.gen(function* () {
    const readers = yield* query<{ readonly reader: string }>(READERS, [key])
    const versions = yield* query<{ readonly body: string; readonly patch: Uint8Array }>(VERSIONS, [key])
    const [snapshot] = yield* query<{ readonly bytes: Uint8Array }>(SNAPSHOT, [key])
    return blockParts({
      id: readKeyText(id),
      owner: readKeyText(owner),
      label: readKeyText(label),
      readers: readers.map(({ reader }) => readerOf(reader)),
      body,
      versions: versions.map((version) => ({ body: version.body, patch: bytesIn(version.patch) })),
      snapshot: snapshot === undefined ? undefined : bytesIn(snapshot.bytes)
    })
  })

const blocksOf = (query: Query, tenant: TenantId): Reading<ReadonlyArray<BlockRow>> =>
  Effect.map(query<BlockRow>(BLOCKS, [tenant]), (rows) => rows.toSorted(byText(({ id }) => readKeyText(id))))

const blockPartsOf = (query: Query, rows: ReadonlyArray<BlockRow>): Reading<ReadonlyArray<BundlePart>> =>
  Effect.map(
    Effect.forEach(rows, (row) => partsOfBlock(query, row)),
    (parts) => parts.flat()
  )

const answersOf = (
  query: Query,
  tenant: TenantId,
  isWanted: (key: string, block: string | undefined) => boolean
): Reading<ReadonlyArray<BundlePart>> =>
  Effect.map(query<{ readonly key: string; readonly answer: string }>(ANSWERS, [tenant]), (rows) =>
    answerParts(rows, isWanted)
  )

const entriesOf = (query: Query, key: string): Reading<ReadonlyArray<BundlePart>> =>
  Effect.gen(function* () {
    const found: Array<BundlePart> = []
    for (;;) {
      const rows = yield* query<{ readonly body: string }>(ENTRIES, [key, found.length, PAGE])
      for (const { body } of rows) found.push({ kind: "entry", entry: valueOf(body) } as unknown as BundlePart)
      if (rows.length < PAGE) return found
    }
  })

interface MailRow {
  readonly lane: number
  readonly id: string
  readonly acceptedAt: number
  readonly body: string
}

type LifeRow = AssistantRow & { readonly key: string }

const partsOfLife = (query: Query, row: LifeRow): Reading<ReadonlyArray<BundlePart>> =>
  Effect.gen(function* () {
    const { assistant, tenant } = addressOf(row)
    const mail = yield* query<MailRow>(MAIL, [row.key])
    const entries = yield* entriesOf(query, row.key)
    const records = yield* query<{ readonly kind: string; readonly key: string; readonly body: string }>(RECORDS, [
      row.key
    ])
    const sends = yield* query<{ readonly body: string }>(SENDS, [tenant])
    const letters = yield* query<{ readonly body: string; readonly discarded: boolean }>(DEAD_LETTERS, [row.key])
    const own = (yield* blocksOf(query, tenant)).filter(({ owner }) => readKeyText(owner) === assistant)
    const ids = new Set<string | undefined>(own.map(({ id }) => readKeyText(id)))
    const written = new Set(entries.flatMap((part) => (part.kind === "entry" ? sendNames(part.entry as never) : [])))
    return [
      ...mail.map(({ acceptedAt, body, id, lane }): BundlePart => {
        return { kind: "envelope", lane: laneAt(lane), id: readKeyText(id), acceptedAt, body: valueOf(body) }
      }),
      ...entries,
      ...records
        .map((record) => ({ ...record, key: readKeyText(record.key) }))
        .toSorted(byText(({ key, kind }) => `${kind}\u0000${key}`))
        .map(({ body, key, kind }): BundlePart => ({ kind: "record", of: kind, key, value: valueOf(body) })),
      ...sends
        .map(({ body }) => valueOf(body))
        .filter((envelope) => written.has(sendName(envelope)))
        .map((envelope) => ({ kind: "send", envelope }) as unknown as BundlePart),
      ...letters.map(({ discarded, body }) => {
        const where = discarded ? { discarded } : {}
        return { kind: "dead-letter", ...(valueOf(body) as object), ...where } as BundlePart
      }),
      ...(yield* blockPartsOf(query, own)),
      ...(yield* answersOf(query, tenant, (key, block) => ids.has(block) || key.startsWith(createdKey(assistant))))
    ]
  })

/** A life; undefined when no one lives there. */
export const lifeIn = (query: Query, { assistant, tenant }: Address): Reading<Bundle | undefined> =>
  Effect.gen(function* () {
    const [row] = yield* query<LifeRow>(LIFE, [tenant, assistant])
    if (row === undefined) return undefined
    const { control, epoch, mail, reply, state, version } = row
    const head: AssistantHead = {
      kind: "assistant",
      address: addressOf(row),
      epoch,
      version,
      // Lanes are counted from 1 without gap, so that cursors are counts.
      handled: { control, reply, mail },
      state: valueOf(state) as unknown as AssistantHead["state"]
    }
    return { head, parts: yield* partsOfLife(query, row) }
  })

/** What a tenant has besides the assistants that live here. */
export const tenantPartsIn = (query: Query, tenant: TenantId): Reading<Bundle> =>
  Effect.gen(function* () {
    const living = new Set((yield* query<{ readonly id: string }>(LIVING, [tenant])).map(({ id }) => id))
    const all = yield* blocksOf(query, tenant)
    const isOwned = ({ owner }: BlockRow): boolean => living.has(readKeyText(owner))
    const claimed = new Set<string | undefined>(all.filter(isOwned).map(({ id }) => readKeyText(id)))
    const others = all.filter((row) => !isOwned(row))
    const prompts = yield* query<LineRow>(PROMPTS, [tenant])
    return {
      head: { kind: "tenant", tenant },
      parts: [
        ...(yield* blockPartsOf(query, others)),
        ...(yield* answersOf(query, tenant, (key, block) => !living.has(createdFor(key)) && !claimed.has(block))),
        ...promptParts(prompts)
      ]
    }
  })

export const tenantsIn = (query: Query): Reading<ReadonlyArray<TenantId>> =>
  Effect.map(query<{ readonly tenant: string }>(TENANTS), (rows) => rows.map(({ tenant }) => tenant as TenantId))
