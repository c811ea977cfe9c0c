// BundleRows: what writing a life and rewriting one have in common, as rows of PostgreSQL.
// Owns the statements that insert, and what a part becomes as a row. Leaves which rows are written to bundle-writer.ts and
// bundle-rewriter.ts.
// P1  Text goes as JSON of JSON text, which has neither NUL nor half a character.

import { changeLimits, NO_TIME } from "../ports/allowance.ts"
import { type BundlePart, bytesOf, lostRowOf, textOf, limitChangesOf } from "@reverie/ledger"
import { type AssistantState, type Entry, keyText, type Lane, type TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { columnOf, receivesColumn } from "../ports/assistants.ts"
import { lackingIn, putBlobs } from "../ports/blobs.ts"
import type { PgFailure, Query } from "../database.ts"
import { AT_REST } from "../first/apply.ts"

export type Writing<A = void> = Effect.Effect<A, PgFailure>

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
export const insert = (
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

/** The wake of who stands like this, by the same rule as after a commit. */
export const WAKE = `
  WITH asked AS (
    SELECT a.key, a.tenant, wake_after(jsonb_populate_record(NULL::operation, $2::jsonb), a, coalesce($3::bigint, now_millis()))
      AS wake FROM assistants a WHERE a.key = $1::bigint
  ), kept AS (
    UPDATE assistants a SET wake = asked.wake, position = $4::bigint FROM asked WHERE a.key = asked.key
  )
  SELECT keep_wake(key, tenant, ${AT_REST}, wake) FROM asked`

/** What of a state decides when it wakes. */
export const askedBy = ({ jobs, receives, timers }: AssistantState): string => {
  const dues = timers.map(({ dueAt }) => Math.trunc(dueAt))
  const timer = dues.length === 0 ? {} : { timer: Math.min(...dues) }
  return JSON.stringify({ receives: receivesColumn(receives), jobs: jobs.length > 0, ...timer })
}

export const ofKind = <Kind extends BundlePart["kind"]>(parts: ReadonlyArray<BundlePart>, kind: Kind) =>
  parts.filter((part): part is Extract<BundlePart, { readonly kind: Kind }> => part.kind === kind)

export const mailRows = (parts: ReadonlyArray<BundlePart>) => {
  const last: Record<Lane, number> = { control: 0, reply: 0, mail: 0 }
  const rows = ofKind(parts, "envelope").map(({ acceptedAt, body, id, lane }) => ({
    lane: columnOf(lane),
    seq: ++last[lane],
    at: acceptedAt,
    id: keyText(id),
    // What is lost stays where it is.
    body: lostRowOf(body)?.reference ?? textOf(body)
  }))
  return { rows, last }
}

export const settledBy = ({ settled = [] }: Entry): number => settled.filter(({ outcome }) => outcome !== "dead").length

/** What an assistant keeps, and what it has sent and no one has delivered yet. */
export const putKept = (query: Query, key: string, tenant: TenantId, parts: ReadonlyArray<BundlePart>): Writing =>
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

const INSERT_BLOCK = `
  INSERT INTO blocks (tenant, id, owner, label, body) VALUES ($1, $2, $3, $4, $5) RETURNING key::text AS key`
const INSERT_SNAPSHOT =
  "INSERT INTO block_snapshots (block, tenant, bytes) VALUES ($1::bigint, $2, decode($3, 'base64'))"

const NOBODY = "0"

/** Puts down blobs, blocks, answers, prompts and limits. */
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
    // Some were here, and a transaction that deleted them could not see yet that they are referred to again.
    const lacking = new Set(
      yield* lackingIn(
        query,
        tenant,
        blobs.map(({ digest }) => digest)
      )
    )
    if (lacking.size > 0)
      yield* putBlobs(
        query,
        tenant,
        blobs.filter(({ digest }) => lacking.has(digest))
      )
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
    yield* changeLimits(query, tenant, limitChangesOf(parts), NO_TIME)
  })
