// Segments: texts of older rows, many in one compressed row.
// Owns what stands in the place of a text, how texts become one row, and how they come back. Leaves which rows move to archive.ts.
// S1  A row keeps its place, its numbers and whose it is; only its text moves. `whole` gives the text of any row.
// S2  A segment never changes. Where one of its texts does, its rows move into a new one, and its number is given to no other.
// S3  Texts move in the transaction of the caller: there is no moment at which they are nowhere.
// S4  What cannot be read is one sentence in the place of the text, which no reader takes for one.

import type { DatabaseSync } from "node:sqlite"
import * as zlib from "node:zlib"
import { digestsIn } from "@reverie/ledger"
import { defined, parseJson } from "@reverie/protocol"
import * as Result from "effect/Result"
import { change, type Query, query } from "../sql.ts"

/** The tables whose texts move. */
export type Kept = "ledger" | "envelopes"

/** A row whose text moves. */
export interface Moving {
  readonly table: Kept
  readonly seq: number
  readonly text: string
}

/** Of what a segment is. */
export interface SegmentOf {
  readonly assistant: number
  /** The number of its last entry. */
  readonly upTo: number
  readonly deletedAt?: number
}

// Codec: the one place where texts become bytes and bytes become texts.
// C1  A segment says how it was written: a Node that does not know that way says so.

interface Pressed {
  readonly codec: string
  readonly bytes: Uint8Array
}

const ZSTD_LEVEL = 9
const BROTLI_QUALITY = 5

/** Bytes of texts, with what their rows are and how long each is before them. An envelope's number is negative. */
const pressed = (rows: ReadonlyArray<Moving>): Pressed => {
  const index = rows.flatMap(({ seq, table, text }) => [table === "ledger" ? seq : -seq, text.length])
  const plain = Buffer.from(`${JSON.stringify(index)}\n${rows.map(({ text }) => text).join("")}`)
  const { BROTLI_PARAM_QUALITY, ZSTD_c_compressionLevel } = zlib.constants
  // Node 22 has zstd from 22.15 on.
  return typeof zlib.zstdCompressSync === "function"
    ? { codec: "zstd", bytes: zlib.zstdCompressSync(plain, { params: { [ZSTD_c_compressionLevel]: ZSTD_LEVEL } }) }
    : {
        codec: "brotli",
        bytes: zlib.brotliCompressSync(plain, { params: { [BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } })
      }
}

const unpressed = ({ bytes, codec }: Pressed): ReadonlyArray<Moving> => {
  if (codec === "zstd" && typeof zlib.zstdDecompressSync !== "function") {
    throw new Error("it was written with zstd, which this Node does not have; Node 22.15 and later do")
  }
  if (codec !== "zstd" && codec !== "brotli") throw new Error(`it was written with ${codec}, which is not known here`)
  const plain = (codec === "zstd" ? zlib.zstdDecompressSync(bytes) : zlib.brotliDecompressSync(bytes)).toString()
  const head = plain.indexOf("\n")
  const index = JSON.parse(plain.slice(0, head)) as ReadonlyArray<number>
  const rows: Array<Moving> = []
  let at = head + 1
  for (let each = 0; each < index.length; each += 2) {
    const [seq = 0, length = 0] = index.slice(each, each + 2)
    rows.push({ table: seq > 0 ? "ledger" : "envelopes", seq: Math.abs(seq), text: plain.slice(at, at + length) })
    at += length
  }
  return rows
}

/** What a text refers to. */
export const digestsOf = (text: string): ReadonlyArray<string> =>
  text.includes('"digest"') ? digestsIn(Result.getOrElse(parseJson(text), () => null)) : []

// What stands in a row: JSON begins with no such sign.

const REFERENCE = /^@(\d+):(\d+)$/

const referenceTo = (segment: number, line: number): string => `@${segment}:${line}`

/** The segment in which the text of a row is; undefined where it is in the row. */
export const segmentOf = (body: string): number | undefined => {
  const segment = body.startsWith("@") ? REFERENCE.exec(body)?.[1] : undefined
  return segment === undefined ? undefined : Number(segment)
}

const OPEN_AT_ONCE = 4

interface SegmentRow extends SegmentOf {
  readonly codec: string
  readonly bytes: Uint8Array
}

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
    if (!body.startsWith("@")) return body
    const [, segment, line] = REFERENCE.exec(body) ?? []
    if (segment === undefined) return body
    const rows = this.rowsOf(Number(segment))
    return typeof rows === "string" ? rows : (rows[Number(line)]?.text ?? `segment ${segment} does not have it`)
  }

  /** What a segment holds, or why it cannot be read. */
  rowsOf(segment: number): ReadonlyArray<Moving> | string {
    const open = this.#open.get(segment)
    if (open !== undefined) return open
    const found = this.statements.find.one(segment)
    if (found === undefined) return `segment ${segment} is missing`
    try {
      const rows = unpressed(found)
      const [oldest] = this.#open.keys()
      if (oldest !== undefined && this.#open.size >= OPEN_AT_ONCE) this.#open.delete(oldest)
      this.#open.set(segment, rows)
      return rows
    } catch (error) {
      return `segment ${segment} cannot be read: ${error instanceof Error ? error.message : String(error)}`
    }
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
    const digests = [...new Set(rows.flatMap(({ text }) => digestsOf(text)))].join(" ")
    const { lastSeq } = insert(assistant, upTo, deletedAt ?? null, codec, digests, bytes)
    for (const [line, { seq, table }] of rows.entries()) refer[table](referenceTo(lastSeq, line), seq, assistant)
  }

  /** Its rows as they stand now: those that have left it, and those that are no more, are not among them. */
  const standing = (segment: number, assistant: number, rows: ReadonlyArray<Moving>) =>
    rows.flatMap((row, line): ReadonlyArray<Moving & { readonly isAsBefore: boolean }> => {
      const body = segments.statements.bodies[row.table].one(row.seq, assistant)?.body
      if (body === undefined) return []
      if (segmentOf(body) === undefined) return [{ ...row, text: body, isAsBefore: false }]
      return body === referenceTo(segment, line) ? [{ ...row, isAsBefore: true }] : []
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
