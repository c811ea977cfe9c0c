// Segment: texts of older rows as one compressed piece, the same in every store that has an archive.
// Owns the encoding, what stands in the place of a text, how large a segment gets, and what a deleted text leaves. Leaves rows and
// transactions to the stores.
// C1  A segment says how it was written: a Node that does not know that way says so.
// C2  What stands in the place of a text begins as no JSON does, and names one line of one segment; so does the sentence that says why
//     it cannot be read.
// C3  Why it cannot be read is one of three: it is not there, it is not what was written, or nothing speaks against it, and it is only
//     out of reach of who reads.

import { Buffer } from "node:buffer"
import * as zlib from "node:zlib"
import { type Entry, entryText, type EnvelopeId, parseJson, readEntry, type RecordChange } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Archived, deletedEntry, deletedText } from "./archive.ts"
import { digestsIn } from "./bundle-part.ts"
import { NO_PLACE } from "./segment-place.ts"

/** The tables whose texts move. */
export type Kept = "ledger" | "envelopes"

/** A row whose text moves. */
export interface Moving {
  readonly table: Kept
  /** What the row is known by among those of its table that are in the segment: an integer above 0. */
  readonly seq: number
  readonly text: string
}

/** Of one segment: enough for what repeats to be said once, and few enough to be opened for a single row. */
export const SEGMENT_ENTRIES = 512
export const SEGMENT_CHARS = 400_000
/** What is compressed by fewer is not worth a segment. */
export const LEAST_ENTRIES = 64

export interface Pressed {
  readonly codec: string
  readonly bytes: Uint8Array
}

const ZSTD_LEVEL = 9
const BROTLI_QUALITY = 5

/** Bytes of texts, with what their rows are and how long each is before them. An envelope's number is negative. */
export const pressed = (rows: ReadonlyArray<Moving>): Pressed => {
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

/** So the reason goes on where another Node reads it. */
const WRITTEN_WITH = "it was written with"

/** Another Node reads it. */
class CodecUnknown extends Error {}

/** The rows of a segment; throws with the reason where it can not be read. */
const unpressed = ({ bytes, codec }: Pressed): ReadonlyArray<Moving> => {
  if (codec === "zstd" && typeof zlib.zstdDecompressSync !== "function") {
    throw new CodecUnknown(`${WRITTEN_WITH} zstd, which this Node does not have; Node 22.15 and later do`)
  }
  if (codec !== "zstd" && codec !== "brotli") {
    throw new CodecUnknown(`${WRITTEN_WITH} ${codec}, which is not known here`)
  }
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

/** What the texts of some rows refer to. */
export const digestsOfRows = (rows: ReadonlyArray<Pick<Moving, "text">>): ReadonlyArray<string> => [
  ...new Set(
    rows.flatMap(({ text }) =>
      text.includes('"digest"') ? digestsIn(Result.getOrElse(parseJson(text), () => null)) : []
    )
  )
]

// What stands in the row. A store that measures texts by its rows has the length behind it.

const REFERENCE = /^@(\d+):(\d+)(?::\d+)?$/

/** Where a text is. */
interface TextPlace {
  readonly segment: number
  readonly line: number
}

export const referenceTo = ({ line, segment }: TextPlace): string => `@${segment}:${line}`

/** Where the text of a row is; undefined where it is in the row. */
export const placeOfText = (body: string): TextPlace | undefined => {
  const [, segment, line] = (body.startsWith("@") ? REFERENCE.exec(body) : null) ?? []
  return segment === undefined ? undefined : { segment: Number(segment), line: Number(line) }
}

/** Why a segment can not be read. */
export class Unreadable {
  /** `withheld`: it may well be whole. */
  readonly why: "missing" | "damaged" | "withheld"
  readonly message: string

  constructor(why: Unreadable["why"], message: string) {
    this.why = why
    this.message = message
  }
}

/** One text of a segment, or why there is none: one sentence in its place, which no reader takes for a text. */
export const textAt = ({ line, segment }: TextPlace, rows: ReadonlyArray<Moving> | Unreadable): string =>
  rows instanceof Unreadable ? rows.message : (rows[line]?.text ?? `segment ${segment} does not have it`)

/** What a segment holds, or why it can not be read. */
export const rowsOfSegment = (segment: number, found: Pressed | undefined): ReadonlyArray<Moving> | Unreadable => {
  if (found === undefined) return new Unreadable("missing", `segment ${segment} is missing`)
  try {
    return unpressed(found)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return new Unreadable(
      error instanceof CodecUnknown ? "withheld" : "damaged",
      `segment ${segment} cannot be read: ${reason}`
    )
  }
}

/** Why there is a sentence in the place of a text; undefined where it is a text. */
export const unreadReason = (text: string): string | undefined => (text.startsWith("segment ") ? text : undefined)

/** A segment that cannot be read and may well be whole: who passes it by for good loses what is there. */
export const isWithheld = (reason: string): boolean => reason.includes(NO_PLACE) || reason.includes(WRITTEN_WITH)

/** The mail that began an entry. */
export const mailOf = ({ cause }: Entry): EnvelopeId | undefined =>
  cause.kind === "envelope" || cause.kind === "dead-letter" ? cause.id : undefined

/** A text without its words; an entry that no one can read loses all of it. */
export const emptiedText = ({ table, text }: Moving, at: number, stands: (change: RecordChange) => boolean): string => {
  // No envelope any more: its id, which is in the row, is all that is asked for.
  if (table === "envelopes") return deletedText(at)
  const entry = readEntry(text)
  return Result.isSuccess(entry) ? entryText(deletedEntry(entry.success, at, stands)) : ""
}

export const NOTHING_ARCHIVED: Archived = { entries: 0, envelopes: 0 }

export const archivedTogether = (one: Archived, other: Archived): Archived => ({
  entries: one.entries + other.entries,
  envelopes: one.envelopes + other.envelopes
})

/** Moves part after part until nothing is left to move. */
export const inParts = Effect.fnUntraced(function* <E, R>(part: Effect.Effect<Archived, E, R>) {
  let all = NOTHING_ARCHIVED
  while (true) {
    const moved = yield* part
    if (moved.entries === 0) return all
    all = archivedTogether(all, moved)
  }
})
