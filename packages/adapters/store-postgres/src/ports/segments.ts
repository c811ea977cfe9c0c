// Segments on PostgreSQL: texts of older rows, many in one compressed row.
// Owns the table `segments`: how texts become one row, and how they come back. Leaves which rows move to archive.ts, and the encoding
// to the ledger's room.
// S1  A row keeps its place, its numbers and whose it is; only its text moves. `whole` gives the texts of any rows.
// S2  A segment never changes. Where one of its texts does, its rows move into a new one, and its number is given to no other:
//     so what was read of a number is true for as long as a row refers to it, and a row whose segment is gone has moved, and is
//     read again.
// S3  Texts move in the transaction of the caller: there is no moment at which they are nowhere.
// S4  What cannot be read is one sentence in the place of the text, which no reader takes for one.
// S5  A reference says how many bytes its text has, so that a page of rows is measured by what it brings (`text_bytes`).

import { Buffer } from "node:buffer"
import {
  digestsOfRows,
  type Moving,
  placeOfText,
  pressed,
  type Pressed,
  referenceTo,
  rowsOfSegment,
  SEGMENT_CHARS,
  textAt
} from "@reverie/ledger"
import { LANES, longWork, type TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type { PgFailure, Query } from "../database.ts"

interface Bodied {
  readonly body: string
}

const OPEN_AT_ONCE = 4

const FIND = "SELECT key::float8 AS key, codec, body AS bytes FROM segments WHERE key = ANY ($1::bigint[])"

/** Without the text it was cut out of, which would otherwise stay in memory with it. */
const apart = (text: string): string => Buffer.from(text).toString()

/** The segments of a store, for reading. */
export class Segments {
  readonly #open = new Map<number, ReadonlyArray<Moving>>()

  /** Rows as they are found, each with its text. */
  readonly whole = <Row extends Bodied, E>(
    query: Query,
    find: Effect.Effect<ReadonlyArray<Row>, E>
  ): Effect.Effect<ReadonlyArray<Row>, E | PgFailure> =>
    Effect.gen({ self: this }, function* () {
      let missedBefore = ""
      while (true) {
        const rows = yield* find
        const { missed, texts } = yield* this.textsOf(query, rows)
        // One that was gone the time before, and still is referred to, is lost.
        if (missed === missedBefore) {
          return texts.size === 0 ? rows : rows.map((row) => ({ ...row, body: texts.get(row.body) ?? row.body }))
        }
        missedBefore = missed
      }
    })

  /** By what refers to them the texts of some rows; and which segments are not there. */
  readonly textsOf = (
    query: Query,
    rows: ReadonlyArray<Bodied>
  ): Effect.Effect<{ readonly texts: ReadonlyMap<string, string>; readonly missed: string }, PgFailure> =>
    Effect.gen({ self: this }, function* () {
      const texts = new Map<string, string>()
      const missed: Array<number> = []
      const wanted = Map.groupBy(rows, ({ body }) => placeOfText(body)?.segment)
      const segments = [...wanted.keys()].filter((segment) => segment !== undefined)
      for (let from = 0; from < segments.length; from += OPEN_AT_ONCE) {
        const some = segments.slice(from, from + OPEN_AT_ONCE)
        const opened = yield* this.#opened(query, some)
        for (const segment of some) {
          const held = opened.get(segment)
          if (held === undefined) missed.push(segment)
          for (const { body } of wanted.get(segment) ?? []) {
            const place = placeOfText(body)
            if (place !== undefined) texts.set(body, apart(textAt(place, held ?? rowsOfSegment(segment, undefined))))
          }
        }
      }
      return { texts, missed: missed.join() }
    })

  /** What some segments hold, or why one can not be read; one that is not there is left out. */
  #opened(query: Query, segments: ReadonlyArray<number>) {
    return Effect.gen({ self: this }, function* () {
      const opened = new Map<number, ReadonlyArray<Moving> | string>()
      for (const segment of segments) {
        const open = this.#open.get(segment)
        if (open !== undefined) opened.set(segment, open)
      }
      const closed = segments.filter((segment) => !opened.has(segment))
      if (closed.length === 0) return opened
      for (const { key, ...found } of yield* query<Pressed & { readonly key: number }>(FIND, [closed])) {
        yield* longWork.begin(SEGMENT_CHARS)
        const rows = rowsOfSegment(key, found)
        opened.set(key, rows)
        if (typeof rows === "string") continue
        const [oldest] = this.#open.keys()
        if (oldest !== undefined && this.#open.size >= OPEN_AT_ONCE) this.#open.delete(oldest)
        this.#open.set(key, rows)
      }
      return opened
    })
  }
}

/** Of what a segment is. */
export interface SegmentOf {
  /** The key of the assistant. */
  readonly assistant: string
  readonly tenant: TenantId
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
  INSERT INTO segments (assistant, tenant, up_to, deleted_at, codec, digests, body)
  VALUES ($1::bigint, $2, $3::bigint, $4::bigint, $5, $6, $7::bytea) RETURNING key::float8 AS key`

/** Files texts as a segment; answers what is to stand in the place of each. */
export const putSegment = (
  query: Query,
  { assistant, deletedAt, tenant, upTo }: SegmentOf,
  rows: ReadonlyArray<Moving>
): Effect.Effect<ReadonlyArray<string>, PgFailure> =>
  Effect.gen(function* () {
    if (rows.length === 0) return []
    yield* longWork.begin(SEGMENT_CHARS)
    const { bytes, codec } = pressed(rows)
    const digests = digestsOfRows(rows).join(" ")
    const values = [assistant, tenant, upTo, deletedAt, codec, digests, bytes]
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
  segment: SegmentOf,
  rows: ReadonlyArray<Moving>
): Effect.Effect<void, PgFailure> =>
  Effect.gen(function* () {
    const references = yield* putSegment(query, segment, rows)
    const placed = rows.map(({ seq, table }, line) => ({ table, seq, body: references[line] }))
    const entries = placed.filter(({ table }) => table === "ledger").map(({ body, seq }) => ({ no: seq, body }))
    const mail = placed.filter(({ table }) => table === "envelopes")
    yield* query(REFER.ledger, [segment.assistant, JSON.stringify(entries)])
    const letters = mail.map(({ body, seq }) => ({ ...mailPlace(seq), body }))
    if (letters.length > 0) yield* query(REFER.envelopes, [segment.assistant, JSON.stringify(letters)])
  })

const OF = `
  SELECT up_to::float8 AS "upTo", deleted_at::float8 AS "deletedAt", codec, body AS bytes FROM segments WHERE key = $1::bigint`
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
  { assistant, tenant }: Pick<SegmentOf, "assistant" | "tenant">,
  segment: number
): Effect.Effect<void, PgFailure> =>
  Effect.gen(function* () {
    const [found] = yield* query<Pressed & Pick<SegmentOf, "upTo" | "deletedAt">>(OF, [segment])
    const rows = rowsOfSegment(segment, found)
    if (found === undefined || typeof rows === "string") return
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
    yield* moveInto(query, { assistant, tenant, upTo, deletedAt }, left)
  })
