// BundleWriter: bundles, written as rows of PostgreSQL.
// Owns the writing. `bundles.ts` judges first whether there is room.
// P1  Text goes as JSON of JSON text, which has neither NUL nor half a character.
// P2  A life of more entries than a transaction has positions raises what is added to a transaction's id. While it does,
//     no other transaction has read the old number and not yet written: all wait for the lock on the table `store`.

import { type AssistantHead, type BundlePart, bytesOf, textOf } from "@reverie/ledger"
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
    const records = ofKind(parts, "record").map(({ key: name, of, value }) => ({
      kind: of,
      key: keyText(name),
      body: JSON.stringify(value)
    }))
    yield* insert(query, "records", key, tenant, records)
    const sends = ofKind(parts, "send").map(({ envelope }) => ({ body: JSON.stringify(envelope) }))
    yield* insert(query, "sends", key, tenant, sends)
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
    const dues = state.timers.map(({ dueAt }) => Math.trunc(dueAt))
    const timer = dues.length === 0 ? {} : { timer: Math.min(...dues) }
    const asked = { receives: receivesColumn(state.receives), jobs: state.jobs.length > 0, ...timer }
    yield* query(WAKE, [key, JSON.stringify(asked), now ?? null, String(first + BigInt(entries.length - 1))])
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
