// BundleWriter: bundles, written as rows of PostgreSQL.
// Owns the writing. `bundles.ts` judges first whether there is room.
// P1  Text goes as JSON of JSON text, which has neither NUL nor half a character.
// P2  A life of more entries than a transaction has positions raises what is added to a transaction's id. While it does,
//     no other transaction has read the old number and not yet written: all wait for the lock on the table `store`.

import {
  type AssistantHead,
  type Bundle,
  type BundlePart,
  type BundlePlace,
  bytesOf,
  droppedDigests,
  tenantOf,
  textOf
} from "@reverie/ledger"
import { entryText, type AssistantState, type Entry, keyText, type Lane, LANES, type TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { usageRows } from "../ports/allowance.ts"
import { columnOf, receivesColumn } from "../ports/assistants.ts"
import { putBlobs } from "../ports/blobs.ts"
import type { PgFailure, Query } from "../database.ts"
import { AT_REST } from "../first/apply.ts"

type Writing<A = void> = Effect.Effect<A, PgFailure>

export const MOVER = "bundle"
/** Long after every clock, and far from where numbers stop being exact. */
export const FOR_EVER = AT_REST - 1

const POSITIONS = 4_096
const EVERYBODY = "*"
const PAGE_ROWS = 1_000
const PAGE_CHARS = 4 * 1024 * 1024

const INSERTS = {
  envelopes: `INSERT INTO envelopes (assistant, lane, seq, accepted_at, tenant, id, body)
    SELECT $1::bigint, r.lane, r.seq, r.at, $2, r.id, r.body
    FROM jsonb_to_recordset($3::jsonb) AS r (lane smallint, seq bigint, at bigint, id text, body text)`,
  ledger: `INSERT INTO ledger (assistant, tenant, position, no, body)
    SELECT $1::bigint, $2, r.position, r.no, r.body
    FROM jsonb_to_recordset($3::jsonb) AS r (position bigint, no bigint, body text)`,
  records: `INSERT INTO records (assistant, tenant, kind, key, body)
    SELECT $1::bigint, $2, r.kind, r.key, r.body
    FROM jsonb_to_recordset($3::jsonb) AS r (kind text, key text, body text)`,
  sends: `INSERT INTO sends (tenant, body)
    SELECT $2, r.body FROM jsonb_array_elements($3::jsonb) WITH ORDINALITY AS e (v, n),
      LATERAL (SELECT e.v ->> 'body' AS body) r WHERE $1::bigint IS NOT NULL ORDER BY e.n`,
  letters: `INSERT INTO dead_letters (assistant, tenant, body, discarded)
    SELECT $1::bigint, $2, e.v ->> 'body', (e.v ->> 'discarded')::boolean FROM jsonb_array_elements($3::jsonb) WITH ORDINALITY AS e (v, n) ORDER BY e.n`,
  usage: "SELECT add_usage($1::bigint, $2, $3::jsonb)",
  versions: `INSERT INTO block_versions (block, tenant, version, body, patch)
    SELECT $1::bigint, $2, r.version, r.body, decode(r.patch, 'base64')
    FROM jsonb_to_recordset($3::jsonb) AS r (version bigint, body text, patch text)`,
  readers: `INSERT INTO block_readers (block, tenant, reader)
    SELECT $1::bigint, $2, r.reader FROM jsonb_to_recordset($3::jsonb) AS r (reader text)`,
  answers: `INSERT INTO block_answers (tenant, key, answer)
    SELECT $2, r.key, r.answer FROM jsonb_to_recordset($3::jsonb) AS r (key text, answer text)
    WHERE $1::bigint IS NOT NULL ON CONFLICT DO NOTHING`,
  prompts: `INSERT INTO prompts (tenant, kind, key, version, at, restores, body)
    SELECT $2, r.kind, r.key, r.version, r.at, r.restores, r.body
    FROM jsonb_to_recordset($3::jsonb)
      AS r (kind text, key text, version bigint, at bigint, restores bigint, body text)
    WHERE $1::bigint IS NOT NULL`
} as const

/** Rows in pages, each one statement. */
const insert = (
  query: Query,
  into: keyof typeof INSERTS,
  key: string,
  tenant: string,
  rows: ReadonlyArray<object>
): Writing =>
  Effect.gen(function* () {
    let page: Array<string> = []
    let chars = 0
    const flush = Effect.suspend(() => {
      const values = `[${page.join(",")}]`
      page = []
      chars = 0
      return Effect.asVoid(query(INSERTS[into], [key, tenant, values]))
    })
    for (const row of rows) {
      const text = JSON.stringify(row)
      page.push(text)
      chars += text.length
      if (page.length >= PAGE_ROWS || chars >= PAGE_CHARS) yield* flush
    }
    if (page.length > 0) yield* flush
  })

const PLACE = `
  SELECT ((pg_current_xact_id()::text::bigint + raised) * ${POSITIONS})::text AS first FROM store`
const LOCK = "LOCK TABLE store IN ACCESS EXCLUSIVE MODE"
const FAR_PLACE = `
  UPDATE store SET raised = raised + pg_snapshot_xmax(pg_current_snapshot())::text::bigint
    - pg_current_xact_id()::text::bigint + $1::bigint
  RETURNING ((pg_current_xact_id()::text::bigint + raised - $1::bigint) * ${POSITIONS})::text AS first`

/** The first of as many positions as there are entries. */
const positionsFor = (query: Query, entries: number): Writing<bigint> =>
  Effect.gen(function* () {
    if (entries > POSITIONS) yield* query(LOCK)
    const rows =
      entries > POSITIONS
        ? yield* query<{ readonly first: string }>(FAR_PLACE, [Math.ceil(entries / POSITIONS)])
        : yield* query<{ readonly first: string }>(PLACE)
    return BigInt(rows[0]?.first ?? "0")
  })

const INSERT_ASSISTANT = `
  INSERT INTO assistants (wake, lease_until, worker, epoch, version, settled, control, reply, mail,
    last_control, last_reply, last_mail, receives, retired, tenant, id)
  VALUES (${AT_REST}, ${FOR_EVER}, '${MOVER}', $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
  RETURNING key::text AS key`
const INSERT_STATE = "INSERT INTO states (assistant, tenant, body) VALUES ($1::bigint, $2, $3)"

/** The wake of who stands like this, by the same rule as after a commit. */
const WAKE = `
  WITH asked AS (
    SELECT a.key, a.tenant, wake_after(jsonb_populate_record(NULL::operation, $2::jsonb), a, coalesce($3::bigint, now_millis()))
      AS wake FROM assistants a WHERE a.key = $1::bigint
  ), kept AS (
    UPDATE assistants a SET wake = asked.wake, position = $4::bigint FROM asked WHERE a.key = asked.key
  )
  SELECT keep_wake(key, tenant, ${AT_REST}, wake) FROM asked`

/** What of a state decides when it wakes. */
const askedBy = ({ jobs, receives, timers }: AssistantState): string => {
  const dues = timers.map(({ dueAt }) => Math.trunc(dueAt))
  const timer = dues.length === 0 ? {} : { timer: Math.min(...dues) }
  return JSON.stringify({ receives: receivesColumn(receives), jobs: jobs.length > 0, ...timer })
}

const ofKind = <Kind extends BundlePart["kind"]>(parts: ReadonlyArray<BundlePart>, kind: Kind) =>
  parts.filter((part): part is Extract<BundlePart, { readonly kind: Kind }> => part.kind === kind)

const mailRows = (parts: ReadonlyArray<BundlePart>) => {
  const last: Record<Lane, number> = { control: 0, reply: 0, mail: 0 }
  const rows = ofKind(parts, "envelope").map(({ acceptedAt, body, id, lane }) => ({
    lane: columnOf(lane),
    seq: ++last[lane],
    at: acceptedAt,
    id: keyText(id),
    body: textOf(body)
  }))
  return { rows, last }
}

const settledBy = ({ settled = [] }: Entry): number => settled.filter(({ outcome }) => outcome !== "dead").length

/** What an assistant keeps, and what it has sent and no one has delivered yet. */
const putKept = (query: Query, key: string, tenant: TenantId, parts: ReadonlyArray<BundlePart>): Writing =>
  Effect.gen(function* () {
    const records = ofKind(parts, "record").map(({ key: name, of, value }) => ({
      kind: of,
      key: keyText(name),
      body: JSON.stringify(value)
    }))
    yield* insert(query, "records", key, tenant, records)
    const sends = ofKind(parts, "send").map(({ envelope }) => ({ body: JSON.stringify(envelope) }))
    yield* insert(query, "sends", key, tenant, sends)
  })

/** Puts a life down. `now` is the caller's time, where that counts. */
export const putLife = (
  query: Query,
  head: AssistantHead,
  parts: ReadonlyArray<BundlePart>,
  now: number | undefined
): Writing =>
  Effect.gen(function* () {
    const { address, epoch, handled, version } = head
    const { assistant, tenant } = address
    const state = head.state as unknown as AssistantState
    const entries = ofKind(parts, "entry").map(({ entry }) => entry as unknown as Entry)
    const { last, rows: mail } = mailRows(parts)
    const settled = entries.reduce((sum, entry) => sum + settledBy(entry), 0)
    const [row] = yield* query<{ readonly key: string }>(INSERT_ASSISTANT, [
      // Higher than any that was granted: no claim of the old data store can write here.
      epoch + 1,
      version,
      settled,
      ...LANES.map((lane) => handled[lane]),
      ...LANES.map((lane) => last[lane]),
      receivesColumn(state.receives),
      state.status === "retired",
      tenant,
      assistant
    ])
    const key = row?.key ?? "0"
    yield* query(INSERT_STATE, [key, tenant, JSON.stringify(state)])
    yield* insert(query, "envelopes", key, tenant, mail)
    yield* putKept(query, key, tenant, parts)
    const letters = ofKind(parts, "dead-letter").map(({ discarded = false, at, envelope, reason }) => ({
      body: JSON.stringify({ envelope, reason, at }),
      discarded
    }))
    yield* insert(query, "letters", key, tenant, letters)
    yield* insert(query, "usage", key, tenant, entries.flatMap(usageRows))
    // Last, because others may wait for it.
    const first = yield* positionsFor(query, entries.length)
    const positioned = entries.map((entry, index) => ({
      position: String(first + BigInt(index)),
      no: entry.no,
      body: entryText(entry)
    }))
    yield* insert(query, "ledger", key, tenant, positioned)
    yield* query(WAKE, [key, askedBy(state), now ?? null, String(first + BigInt(entries.length - 1))])
  })

const INSERT_BLOCK = `
  INSERT INTO blocks (tenant, id, owner, label, body) VALUES ($1, $2, $3, $4, $5) RETURNING key::text AS key`
const INSERT_SNAPSHOT =
  "INSERT INTO block_snapshots (block, tenant, bytes) VALUES ($1::bigint, $2, decode($3, 'base64'))"

const NOBODY = "0"

/** Puts down blobs, blocks, answers and prompts. */
export const putEntryRows = (query: Query, tenant: TenantId, parts: ReadonlyArray<BundlePart>): Writing =>
  Effect.gen(function* () {
    for (const { body, id, label, owner, readers } of ofKind(parts, "block")) {
      const texts = [tenant, keyText(id), keyText(owner), keyText(label), JSON.stringify(body)]
      const [row] = yield* query<{ readonly key: string }>(INSERT_BLOCK, texts)
      const key = row?.key ?? NOBODY
      const names = readers.map((reader) => ({ reader: reader === EVERYBODY ? EVERYBODY : keyText(reader) }))
      yield* insert(query, "readers", key, tenant, names)
      const versions = ofKind(parts, "block-version").filter(({ block }) => block === id)
      const rows = versions.map(({ body: text, patch, version }) => ({ version, body: JSON.stringify(text), patch }))
      yield* insert(query, "versions", key, tenant, rows)
      const snapshot = ofKind(parts, "block-snapshot").find(({ block }) => block === id)
      if (snapshot !== undefined) yield* query(INSERT_SNAPSHOT, [key, tenant, snapshot.bytes])
    }
    const blobs = ofKind(parts, "blob").map(({ bytes, digest }) => ({ digest, bytes: bytesOf(bytes) }))
    yield* putBlobs(query, tenant, blobs)
    const answers = ofKind(parts, "block-answer").map(({ answer, key }) => ({
      key: keyText(key),
      answer: JSON.stringify(answer)
    }))
    yield* insert(query, "answers", NOBODY, tenant, answers)
    const prompts = ofKind(parts, "prompt").map(({ at, body, key, of, restores = null, version }) => ({
      kind: of,
      key,
      version,
      at,
      restores,
      body: body === null ? null : JSON.stringify(body)
    }))
    yield* insert(query, "prompts", NOBODY, tenant, prompts)
  })

const TENANT_BLOCKS = "SELECT 1 AS one FROM blocks WHERE tenant = $1 FOR UPDATE"
const LIVING_ROW = `
  SELECT key::text AS key, position::text AS position FROM assistants WHERE tenant = $1 AND id = $2 FOR UPDATE`

/** Until the transaction ends no one commits, accepts or changes a block there. */
export const holdPlace = (query: Query, { assistant, tenant }: BundlePlace): Writing =>
  Effect.gen(function* () {
    if (assistant !== undefined) yield* query(LIVING_ROW, [tenant, assistant])
    yield* query(TENANT_BLOCKS, [tenant])
  })

const TAKE_UP = {
  ofBlock: ["block_versions", "block_snapshots", "block_readers"].map(
    (table) => `DELETE FROM ${table} WHERE block = (SELECT key FROM blocks WHERE tenant = $1 AND id = $2)`
  ),
  block: "DELETE FROM blocks WHERE tenant = $1 AND id = $2",
  answer: "DELETE FROM block_answers WHERE tenant = $1 AND key = $2",
  prompt: "DELETE FROM prompts WHERE tenant = $1 AND kind = $2 AND key = $3 AND version = $4"
} as const

/** Blocks, answers and prompts of a bundle leave the store. */
const takeUp = (query: Query, { head, parts }: Bundle): Writing =>
  Effect.gen(function* () {
    const tenant = tenantOf(head)
    for (const { id } of ofKind(parts, "block")) {
      for (const sql of [...TAKE_UP.ofBlock, TAKE_UP.block]) yield* query(sql, [tenant, keyText(id)])
    }
    for (const { key } of ofKind(parts, "block-answer")) yield* query(TAKE_UP.answer, [tenant, keyText(key)])
    for (const { key, of, version } of ofKind(parts, "prompt")) {
      yield* query(TAKE_UP.prompt, [tenant, of, key, version])
    }
  })

const SENDS_OF_TENANT = "SELECT seq::text AS seq, body FROM sends WHERE tenant = $1"
const REMOVE_SEND = "DELETE FROM sends WHERE seq = $1::bigint"

const takeBackSends = (query: Query, tenant: TenantId, parts: ReadonlyArray<BundlePart>): Writing =>
  Effect.gen(function* () {
    const open = new Set(ofKind(parts, "send").map(({ envelope }) => JSON.stringify(envelope)))
    if (open.size === 0) return
    const rows = yield* query<{ readonly seq: string; readonly body: string }>(SENDS_OF_TENANT, [tenant])
    for (const { body, seq } of rows) if (open.has(body)) yield* query(REMOVE_SEND, [seq])
  })

const PLACES = "SELECT no::float8 AS no, position::text AS position FROM ledger WHERE assistant = $1::bigint"
const REMOVE_ENTRIES = "DELETE FROM ledger WHERE assistant = $1::bigint"

/** Entries in their old places of the outbox. */
const rewriteEntries = (query: Query, key: string, tenant: TenantId, entries: ReadonlyArray<Entry>): Writing =>
  Effect.gen(function* () {
    const rows = yield* query<{ readonly no: number; readonly position: string }>(PLACES, [key])
    const places = new Map(rows.map(({ no, position }) => [no, position]))
    yield* query(REMOVE_ENTRIES, [key])
    const placed = entries.map((entry) => ({ position: places.get(entry.no), no: entry.no, body: entryText(entry) }))
    yield* insert(query, "ledger", key, tenant, placed)
  })

const LETTERS = "SELECT seq::text AS seq FROM dead_letters WHERE assistant = $1::bigint ORDER BY seq"
const PUT_LETTER = "UPDATE dead_letters SET body = $2 WHERE seq = $1::bigint"
const REMOVE_LETTER = "DELETE FROM dead_letters WHERE seq = $1::bigint"

const rewriteLetters = (query: Query, key: string, parts: ReadonlyArray<BundlePart>): Writing =>
  Effect.gen(function* () {
    const letters = ofKind(parts, "dead-letter")
    const rows = yield* query<{ readonly seq: string }>(LETTERS, [key])
    for (const [index, { seq }] of rows.entries()) {
      const letter = letters[index]
      if (letter === undefined) yield* query(REMOVE_LETTER, [seq])
      else {
        const { at, envelope, reason } = letter
        yield* query(PUT_LETTER, [seq, JSON.stringify({ envelope, reason, at })])
      }
    }
  })

const REMOVE_MAIL = "DELETE FROM envelopes WHERE assistant = $1::bigint"
const REMOVE_RECORDS = "DELETE FROM records WHERE assistant = $1::bigint"
const REMOVE_WAKE = "DELETE FROM wakes WHERE assistant = $1::bigint"
const PUT_STATE = "UPDATE states SET body = $2 WHERE assistant = $1::bigint"
const STAND = `
  UPDATE assistants SET epoch = epoch + 1, lease_until = 0, worker = '', attempts = 0, note = NULL, wake = ${AT_REST},
    version = $2, settled = $3, control = $4, reply = $5, mail = $6, last_control = $7, last_reply = $8, last_mail = $9,
    receives = $10, retired = $11
  WHERE key = $1::bigint`
const REMOVE_BYTES = `
  DELETE FROM blobs WHERE tenant = $1 AND digest = $2
    AND NOT EXISTS (SELECT 1 FROM envelopes WHERE tenant = $1 AND strpos(body, $2) > 0)
    AND NOT EXISTS (SELECT 1 FROM ledger WHERE tenant = $1 AND strpos(body, $2) > 0)`

/** Puts one bundle in the place of the one that stands there, which is held (`holdPlace`). */
export const putInPlace = (query: Query, there: Bundle, made: Bundle, now: number | undefined): Writing =>
  Effect.gen(function* () {
    const { head, parts } = made
    yield* takeUp(query, there)
    if (head.kind === "tenant") return yield* putEntryRows(query, head.tenant, parts)
    const { assistant, tenant } = head.address
    const [row] = yield* query<{ readonly key: string; readonly position: string }>(LIVING_ROW, [tenant, assistant])
    if (row === undefined) return undefined
    const { key, position } = row
    const state = head.state as unknown as AssistantState
    const entries = ofKind(parts, "entry").map(({ entry }) => entry as unknown as Entry)
    const { last, rows } = mailRows(parts)
    for (const sql of [REMOVE_MAIL, REMOVE_RECORDS, REMOVE_WAKE]) yield* query(sql, [key])
    yield* takeBackSends(query, tenant, there.parts)
    yield* insert(query, "envelopes", key, tenant, rows)
    yield* putKept(query, key, tenant, parts)
    yield* rewriteLetters(query, key, parts)
    yield* rewriteEntries(query, key, tenant, entries)
    yield* putEntryRows(query, tenant, parts)
    yield* query(PUT_STATE, [key, JSON.stringify(state)])
    yield* query(STAND, [
      key,
      head.version,
      entries.reduce((sum, entry) => sum + settledBy(entry), 0),
      ...LANES.map((lane) => head.handled[lane]),
      ...LANES.map((lane) => last[lane]),
      receivesColumn(state.receives),
      state.status === "retired"
    ])
    yield* query(WAKE, [key, askedBy(state), now ?? null, position])
    for (const digest of droppedDigests(there, made)) yield* query(REMOVE_BYTES, [tenant, digest])
    return undefined
  })

const TAKEN_BLOCK = "SELECT 1 AS one FROM blocks WHERE tenant = $1 AND id = $2"
const TAKEN_LABEL = "SELECT 1 AS one FROM blocks WHERE tenant = $1 AND owner = $2 AND label = $3"
const TAKEN_KEY = "SELECT answer FROM block_answers WHERE tenant = $1 AND key = $2"

/** What is in the way of blocks and answers, no matter whom it belongs to. */
export const obstacleIn = (
  query: Query,
  tenant: TenantId,
  parts: ReadonlyArray<BundlePart>
): Writing<string | undefined> =>
  Effect.gen(function* () {
    for (const { id, label, owner } of ofKind(parts, "block")) {
      if ((yield* query(TAKEN_BLOCK, [tenant, keyText(id)])).length > 0) return `block ${id}`
      const named = yield* query(TAKEN_LABEL, [tenant, keyText(owner), keyText(label)])
      if (named.length > 0) return `a block ${label} of ${owner}`
    }
    for (const { answer, key } of ofKind(parts, "block-answer")) {
      const [before] = yield* query<{ readonly answer: string }>(TAKEN_KEY, [tenant, keyText(key)])
      if (before !== undefined && before.answer !== JSON.stringify(answer)) return `an answer under ${key}`
    }
    return undefined
  })
