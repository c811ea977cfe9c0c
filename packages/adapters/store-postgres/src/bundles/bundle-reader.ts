// BundleReader: the rows of a bundle, fetched from PostgreSQL.
// Owns the queries. The order and the shape of the parts come from `lifeParts` and `tenantParts` of the ledger's room.
// O1  All of a bundle is read in one transaction that sees one moment: the caller brings it along.

import { limitsIn } from "../ports/allowance.ts"
import { Buffer } from "node:buffer"
import {
  type AssistantHead,
  type BlockRows,
  type Bundle,
  bundleOfParts,
  byOwner,
  digestsOfTexts,
  lifeParts,
  type LineRow,
  lostEntryText,
  lostMailText,
  type LostRow,
  readerOf,
  tenantParts,
  valueOf
} from "@reverie/ledger"
import { type Address, readKeyText, type TenantId, wholeState } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { addressOf, assistantColumns, type AssistantRow, laneAt } from "../ports/assistants.ts"
import { blobIn } from "../ports/blobs.ts"
import { readableRows, type Segments } from "../ports/segments.ts"
import type { PgFailure, Query } from "../database.ts"

const LIFE = `
  SELECT a.key::text AS key, ${assistantColumns}, (SELECT s.body FROM states s WHERE s.assistant = a.key) AS state
  FROM assistants a WHERE tenant = $1 AND id = $2`

const MAIL = `
  SELECT lane, id, accepted_at::float8 AS "acceptedAt", body FROM envelopes WHERE assistant = $1 ORDER BY lane, seq`
const ENTRIES = "SELECT no::float8 AS no, body FROM ledger WHERE assistant = $1 AND no > $2 ORDER BY no LIMIT $3"
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
  UNION SELECT tenant FROM prompts
  UNION SELECT tenant FROM allowance_accounts WHERE body::jsonb ? 'limits' ORDER BY tenant`

const PAGE = 1_000

type Reading<A> = Effect.Effect<A, PgFailure>

interface BlockRow {
  readonly key: string
  readonly id: string
  readonly owner: string
  readonly label: string
  readonly body: string
}

const bytesIn = (bytes: Uint8Array): Uint8Array => new Uint8Array(Buffer.from(bytes))

const whole = (query: Query, row: BlockRow): Reading<BlockRows> =>
  Effect.gen(function* () {
    const readers = yield* query<{ readonly reader: string }>(READERS, [row.key])
    const versions = yield* query<{ readonly body: string; readonly patch: Uint8Array }>(VERSIONS, [row.key])
    const [snapshot] = yield* query<{ readonly bytes: Uint8Array }>(SNAPSHOT, [row.key])
    return {
      ...row,
      readers: readers.map(({ reader }) => readerOf(reader)),
      versions: versions.map(({ body, patch }) => ({ body, patch: bytesIn(patch) })),
      snapshot: snapshot === undefined ? undefined : bytesIn(snapshot.bytes)
    }
  })

const blocksOf = (query: Query, tenant: TenantId): Reading<ReadonlyArray<BlockRow>> =>
  Effect.map(query<BlockRow>(BLOCKS, [tenant]), (rows) =>
    rows.map((row) => ({
      ...row,
      id: readKeyText(row.id),
      owner: readKeyText(row.owner),
      label: readKeyText(row.label)
    }))
  )

const answersOf = (query: Query, tenant: TenantId) =>
  Effect.map(query<{ readonly key: string; readonly answer: string }>(ANSWERS, [tenant]), (rows) =>
    rows.map(({ answer, key }) => ({ key: readKeyText(key), answer }))
  )

interface BodyRow {
  readonly body: string
}

type EntryRow = BodyRow & { readonly no: number }

/** What is to stand for entries that are lost; the first of a segment names the bytes that this refers to. */
const marking = () => {
  const marked = new Set<string>()
  return ({ no }: EntryRow, lost: LostRow, digests: ReadonlyArray<string>): string => {
    const isFirst = !marked.has(lost.segment)
    marked.add(lost.segment)
    return lostEntryText(lost, no, isFirst ? digests : [])
  }
}

const entriesOf = (
  query: Query,
  segments: Segments,
  key: string,
  marksLost: boolean
): Reading<ReadonlyArray<BodyRow>> =>
  Effect.gen(function* () {
    const found: Array<EntryRow> = []
    const mark = marksLost ? marking() : undefined
    for (;;) {
      const page = query<EntryRow>(ENTRIES, [key, found.length, PAGE])
      const rows = yield* segments.whole(query, page, mark)
      found.push(...rows)
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

const headOf = (row: LifeRow): AssistantHead => {
  const { control, epoch, mail, reply, state, version } = row
  return {
    kind: "assistant",
    address: addressOf(row),
    epoch,
    version,
    // Lanes are counted from 1 without gap, so that cursors are counts.
    handled: { control, reply, mail },
    state: wholeState(valueOf(state)) as unknown as AssistantHead["state"]
  }
}

/** A life; undefined when there is no such assistant. */
export const lifeIn = (
  query: Query,
  segments: Segments,
  { assistant, tenant }: Address,
  marksLost = false
): Reading<Bundle | undefined> =>
  Effect.gen(function* () {
    const [row] = yield* query<LifeRow>(LIFE, [tenant, assistant])
    if (row === undefined) return undefined
    const markMail = marksLost ? (_: MailRow, lost: LostRow) => lostMailText(lost) : undefined
    const mail = yield* readableRows(yield* segments.whole(query, query<MailRow>(MAIL, [row.key]), markMail))
    const records = yield* query<BodyRow & { readonly kind: string; readonly key: string }>(RECORDS, [row.key])
    const deadLetters = yield* query<BodyRow & { readonly discarded: boolean }>(DEAD_LETTERS, [row.key])
    const own = (yield* blocksOf(query, tenant)).filter(({ owner }) => owner === assistant)
    // A text that cannot be read stops the bundle: a shorter one would pass for the whole.
    const entries = yield* readableRows(yield* entriesOf(query, segments, row.key, marksLost))
    const blobs = new Map<string, Uint8Array>()
    for (const digest of digestsOfTexts([...mail, ...entries])) {
      const bytes = yield* blobIn(query, tenant, digest)
      if (bytes !== undefined) blobs.set(digest, bytes)
    }
    return bundleOfParts(
      lifeParts({
        head: headOf(row),
        mail: mail.map((each) => ({ ...each, lane: laneAt(each.lane), id: readKeyText(each.id) })),
        entries,
        records: records.map((record) => ({ ...record, key: readKeyText(record.key) })),
        sends: yield* query<BodyRow>(SENDS, [tenant]),
        deadLetters: deadLetters.map(({ body, discarded }) => ({ body, isDiscarded: discarded })),
        blocks: yield* Effect.forEach(own, (block) => whole(query, block)),
        answers: yield* answersOf(query, tenant),
        blob: (digest) => blobs.get(digest)
      })
    )
  })

/** What a tenant has besides the assistants that live here. */
export const tenantIn = (query: Query, tenant: TenantId): Reading<Bundle> =>
  Effect.gen(function* () {
    const living = new Set((yield* query<{ readonly id: string }>(LIVING, [tenant])).map(({ id }) => id))
    const { others, owned } = byOwner(living, yield* blocksOf(query, tenant))
    return bundleOfParts(
      tenantParts({
        tenant,
        living,
        owned,
        blocks: yield* Effect.forEach(others, (block) => whole(query, block)),
        answers: yield* answersOf(query, tenant),
        prompts: yield* query<LineRow>(PROMPTS, [tenant]),
        limits: yield* limitsIn(query, tenant)
      })
    )
  })

export const tenantsIn = (query: Query): Reading<ReadonlyArray<TenantId>> =>
  Effect.map(query<{ readonly tenant: string }>(TENANTS), (rows) => rows.map(({ tenant }) => tenant as TenantId))
