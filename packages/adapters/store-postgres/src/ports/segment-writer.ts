// SegmentWriter on PostgreSQL: texts of rows become segments, and leave one that is to be no more.
// Owns what is written of the table `segments`. Leaves reading, and what lies apart, to segments.ts.
// W1  Texts move in the transaction of the caller: there is no moment at which they are nowhere.

import { Buffer } from "node:buffer"
import {
  digestsOfRows,
  type Moving,
  type PlacedSegment,
  placeOfText,
  pressed,
  referenceTo,
  SEGMENT_CHARS
} from "@reverie/ledger"
import { LANES, longWork } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type { PgFailure, Query } from "../database.ts"
import type { Segments, Whose } from "./segments.ts"

interface Bodied {
  readonly body: string
}

/** Of what a segment is. */
export interface SegmentOf extends Whose {
  /** The number of its last entry. */
  readonly upTo: number
  /** When what its entries say was deleted; null where it was not. */
  readonly deletedAt: number | null
}

// An envelope is known by its lane and its number in it; a segment knows it by both in one number.

export interface MailPlace {
  readonly lane: number
  readonly seq: number
}

export const mailNumber = ({ lane, seq }: MailPlace): number => seq * LANES.length + lane

const mailPlace = (number: number): MailPlace => ({
  lane: number % LANES.length,
  seq: Math.floor(number / LANES.length)
})

const INSERT = `
  INSERT INTO segments (assistant, tenant, up_to, deleted_at, codec, digests, body, place_key, place_bytes, place_digest)
  VALUES ($1::bigint, $2, $3::bigint, $4::bigint, $5, $6, $7::bytea, $8, $9::bigint, $10) RETURNING key::float8 AS key`

/** Files texts as a segment; answers what is to stand in the place of each. */
export const putSegment = (
  query: Query,
  segments: Segments,
  { assistant, deletedAt, tenant, upTo }: SegmentOf,
  rows: ReadonlyArray<Moving>
): Effect.Effect<ReadonlyArray<string>, PgFailure> =>
  Effect.gen(function* () {
    if (rows.length === 0) return []
    yield* longWork.begin(SEGMENT_CHARS)
    const { bytes, codec } = pressed(rows)
    const digests = digestsOfRows(rows).join(" ")
    const placed = yield* segments.put({ assistant, tenant }, bytes)
    const body = placed === undefined ? bytes : new Uint8Array()
    const at = [placed?.key ?? null, placed?.bytes ?? null, placed?.digest ?? null]
    const values = [assistant, tenant, upTo, deletedAt, codec, digests, body, ...at]
    const [put] = yield* query<{ readonly key: number }>(INSERT, values)
    const segment = put?.key ?? 0
    return rows.map(({ text }, line) => `${referenceTo({ segment, line })}:${Buffer.byteLength(text)}`)
  })

const REFER = {
  ledger: `UPDATE ledger l SET body = r.body FROM jsonb_to_recordset($2::jsonb) AS r (no bigint, body text)
    WHERE l.assistant = $1::bigint AND l.no = r.no`,
  envelopes: `UPDATE envelopes e SET body = r.body FROM jsonb_to_recordset($2::jsonb) AS r (lane smallint, seq bigint, body text)
    WHERE e.assistant = $1::bigint AND e.lane = r.lane AND e.seq = r.seq`
} as const

/** Moves the texts of rows that stand in the tables into a segment. */
export const moveInto = (
  query: Query,
  segments: Segments,
  segment: SegmentOf,
  rows: ReadonlyArray<Moving>
): Effect.Effect<void, PgFailure> =>
  Effect.gen(function* () {
    const references = yield* putSegment(query, segments, segment, rows)
    const placed = rows.map(({ seq, table }, line) => ({ table, seq, body: references[line] }))
    const entries = placed.filter(({ table }) => table === "ledger").map(({ body, seq }) => ({ no: seq, body }))
    const mail = placed.filter(({ table }) => table === "envelopes")
    yield* query(REFER.ledger, [segment.assistant, JSON.stringify(entries)])
    const letters = mail.map(({ body, seq }) => ({ ...mailPlace(seq), body }))
    if (letters.length > 0) yield* query(REFER.envelopes, [segment.assistant, JSON.stringify(letters)])
  })

const OF = `
  SELECT up_to::float8 AS "upTo", deleted_at::float8 AS "deletedAt" FROM segments WHERE key = $1::bigint`
const REMOVE = "DELETE FROM segments WHERE key = $1::bigint"
const STANDING = {
  ledger: "SELECT no::float8 AS seq, body FROM ledger WHERE assistant = $1::bigint AND no = ANY ($2::bigint[])",
  envelopes: `
    SELECT e.seq::float8 AS seq, e.lane, e.body FROM jsonb_to_recordset($2::jsonb) AS r (lane smallint, seq bigint)
    JOIN envelopes e ON e.assistant = $1::bigint AND e.lane = r.lane AND e.seq = r.seq`
} as const

/** Puts a new segment in the place of one of which rows have moved on. */
export const renewSegment = (
  query: Query,
  segments: Segments,
  { assistant, tenant }: Whose,
  segment: number
): Effect.Effect<void, PgFailure> =>
  Effect.gen(function* () {
    const [found] = yield* query<Pick<SegmentOf, "upTo" | "deletedAt">>(OF, [segment])
    const rows = yield* segments.rowsOf(query, segment)
    if (found === undefined || rows === undefined) return
    const of = (wanted: Moving["table"]) => rows.filter(({ table }) => table === wanted)
    const entries = of("ledger").map(({ seq }) => seq)
    const letters = JSON.stringify(of("envelopes").map(({ seq }) => mailPlace(seq)))
    const inLedger = yield* query<Bodied & { readonly seq: number }>(STANDING.ledger, [assistant, entries])
    const inMail = yield* query<Bodied & MailPlace>(STANDING.envelopes, [assistant, letters])
    const standing = new Set(
      [
        ...inLedger.map(({ body, seq }) => ({ body, name: `ledger ${seq}` })),
        ...inMail.map((row) => ({ body: row.body, name: `envelopes ${mailNumber(row)}` }))
      ].flatMap(({ body, name }) => (placeOfText(body)?.segment === segment ? [name] : []))
    )
    const left = rows.filter(({ seq, table }) => standing.has(`${table} ${seq}`))
    if (left.length === rows.length) return
    const { deletedAt, upTo } = found
    yield* query(REMOVE, [segment])
    yield* moveInto(query, segments, { assistant, tenant, upTo, deletedAt }, left)
  })

const LOST = `
  SELECT key::float8 AS segment, place_key AS key, place_bytes::float8 AS bytes, place_digest AS digest
  FROM segments WHERE assistant = $1::bigint AND key = ANY ($2::bigint[]) AND up_to <= $3::float8`
const EMPTY = "UPDATE segments SET body = '' WHERE key = $1::bigint"

/** What damaged segments hold that end up to a number goes: from the database at once. Answers what is to go out of its place. */
export const takeDamaged = (
  query: Query,
  assistant: string,
  damaged: ReadonlyArray<number>,
  upTo = Number.MAX_SAFE_INTEGER
): Effect.Effect<ReadonlyArray<PlacedSegment>, PgFailure> =>
  Effect.gen(function* () {
    if (damaged.length === 0) return []
    const found = yield* query<PlacedSegment & { readonly key: string | null; readonly segment: number }>(LOST, [
      assistant,
      `{${damaged.join()}}`,
      upTo
    ])
    for (const { key, segment } of found) if (key === null) yield* query(EMPTY, [segment])
    return found.flatMap(({ bytes, digest, key }) => (key === null ? [] : [{ key, bytes, digest }]))
  })
