// Segments: texts of older rows, many in one compressed row.
// Owns how texts become one row, and how they come back. Leaves which rows move to archive.ts, and the encoding to the ledger's room.
// S1  A row keeps its place, its numbers and whose it is; only its text moves. `whole` gives the text of any row.
// S2  A segment never changes. Where one of its texts does, its rows move into a new one, and its number is given to no other.
// S3  Texts move in the transaction of the caller: there is no moment at which they are nowhere.
// S4  What cannot be read is one sentence in the place of the text, which no reader takes for one.

import type { DatabaseSync } from "node:sqlite"
import {
  digestsOfRows,
  type Kept,
  type Moving,
  placeOfText,
  type Pressed,
  pressed,
  referenceTo,
  rowsOfSegment,
  textAt
} from "@reverie/ledger"
import { defined } from "@reverie/protocol"
import { change, type Query, query } from "../sql.ts"

/** Of what a segment is. */
export interface SegmentOf {
  readonly assistant: number
  /** The number of its last entry. */
  readonly upTo: number
  readonly deletedAt?: number
}

const OPEN_AT_ONCE = 4

type SegmentRow = SegmentOf & Pressed

/** What tells a row among those of its assistant. */
const names: Readonly<Record<Kept, string>> = { ledger: "no", envelopes: "id" }

interface Statements {
  readonly find: Query<Omit<SegmentRow, "deletedAt"> & { readonly deletedAt: number | null }>
  readonly bodies: Readonly<Record<Kept, Query<{ readonly body: string }>>>
}

const statementsOf = (database: DatabaseSync): Statements => {
  const bodyIn = (table: Kept) =>
    query<{ readonly body: string }>(
      database,
      `SELECT assistant, ${names[table]}, body FROM ${table} WHERE seq = ? AND assistant = ?`
    )
  return {
    find: query(
      database,
      "SELECT assistant, up_to AS upTo, deleted_at AS deletedAt, codec, body AS bytes FROM segments WHERE key = ?"
    ),
    bodies: { ledger: bodyIn("ledger"), envelopes: bodyIn("envelopes") }
  }
}

/** The segments of a database, for reading. */
class Segments {
  readonly #database: DatabaseSync
  readonly #open = new Map<number, ReadonlyArray<Moving>>()
  #statements: Statements | undefined

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** Most stores have no segment: what reads them is made with the first one. */
  get statements(): Statements {
    return (this.#statements ??= statementsOf(this.#database))
  }

  /** The text of a row, wherever it is. */
  whole(body: string): string {
    const place = placeOfText(body)
    return place === undefined ? body : textAt(place, this.rowsOf(place.segment))
  }

  /** What a segment holds, or why it cannot be read. */
  rowsOf(segment: number): ReadonlyArray<Moving> | string {
    const open = this.#open.get(segment)
    if (open !== undefined) return open
    const rows = rowsOfSegment(segment, this.statements.find.one(segment))
    if (typeof rows === "string") return rows
    const [oldest] = this.#open.keys()
    if (oldest !== undefined && this.#open.size >= OPEN_AT_ONCE) this.#open.delete(oldest)
    this.#open.set(segment, rows)
    return rows
  }
}

const byDatabase = new WeakMap<DatabaseSync, Segments>()

export const segmentsOf = (database: DatabaseSync): Segments => {
  const segments = byDatabase.get(database) ?? new Segments(database)
  byDatabase.set(database, segments)
  return segments
}

/** What moves texts into segments, and out of one that is to be no more. */
export const segmentWriter = (database: DatabaseSync) => {
  const segments = segmentsOf(database)
  const insert = change(
    database,
    "INSERT INTO segments (assistant, up_to, deleted_at, codec, digests, body) VALUES (?, ?, ?, ?, ?, ?)"
  )
  const remove = change(database, "DELETE FROM segments WHERE key = ?")
  const referIn = (table: Kept) => {
    const row = query<{ readonly name: string | number }>(
      database,
      `SELECT ${names[table]} AS name FROM ${table} WHERE seq = ?`
    )
    const put = change(database, `UPDATE ${table} SET body = ? WHERE seq = ? AND assistant = ? AND ${names[table]} = ?`)
    return (text: string, seq: number, assistant: number) => put(text, seq, assistant, row.one(seq)?.name ?? null)
  }
  const refer = { ledger: referIn("ledger"), envelopes: referIn("envelopes") }
  const ofAssistant = query<{ readonly key: number }>(database, "SELECT key FROM segments WHERE assistant = ?")

  const put = ({ assistant, deletedAt, upTo }: SegmentOf, rows: ReadonlyArray<Moving>): void => {
    if (rows.length === 0) return
    const { bytes, codec } = pressed(rows)
    const digests = digestsOfRows(rows).join(" ")
    const { lastSeq } = insert(assistant, upTo, deletedAt ?? null, codec, digests, bytes)
    for (const [line, { seq, table }] of rows.entries())
      refer[table](referenceTo({ segment: lastSeq, line }), seq, assistant)
  }

  /** Its rows as they stand now: those that have left it, and those that are no more, are not among them. */
  const standing = (segment: number, assistant: number, rows: ReadonlyArray<Moving>) =>
    rows.flatMap((row, line): ReadonlyArray<Moving & { readonly isAsBefore: boolean }> => {
      const body = segments.statements.bodies[row.table].one(row.seq, assistant)?.body
      if (body === undefined) return []
      if (placeOfText(body) === undefined) return [{ ...row, text: body, isAsBefore: false }]
      return body === referenceTo({ segment, line }) ? [{ ...row, isAsBefore: true }] : []
    })

  /** Puts a new segment in the place of one of which a text has changed, moved on or gone. */
  const renew = (segment: number): void => {
    const found = segments.statements.find.one(segment)
    const rows = segments.rowsOf(segment)
    if (found === undefined || typeof rows === "string") return
    const { assistant, deletedAt, upTo } = found
    const left = standing(segment, assistant, rows)
    if (left.length === rows.length && left.every(({ isAsBefore }) => isAsBefore)) return
    remove(segment)
    put({ assistant, upTo, ...defined({ deletedAt: deletedAt ?? undefined }) }, left)
  }

  return {
    put,
    renew,
    renewAll: (assistant: number): void => {
      for (const { key } of ofAssistant.all(assistant)) renew(key)
    }
  }
}
