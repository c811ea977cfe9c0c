// Segments: texts of older rows, many in one compressed piece, in a row of the store or apart from it.
// Owns how texts come back. Leaves how they get there to segment-writer.ts, which rows move to archive.ts, and the encoding to the
// ledger's room.
// S1  A row keeps its place, its numbers and whose it is; only its text moves. `text` gives the text of any row.
// S2  A segment never changes. Where one of its texts does, its rows move into a new one, and its number is given to no other.
// S3  What cannot be read is one sentence in the place of the text, which no reader takes for one; who writes on is stopped by it.
// S4  What lies apart is fetched while no transaction waits for it; a few megabytes of it stay in memory.

import type { DatabaseSync } from "node:sqlite"
import {
  type LostRow,
  type Moving,
  placeOfText,
  type PlacedSegment,
  type Pressed,
  readPlaced,
  rowsOfSegment,
  type SegmentLost,
  type SegmentPlace,
  type SegmentPlaceUnavailable,
  textAt,
  Unreadable,
  unreadReason
} from "@reverie/ledger"
import * as Effect from "effect/Effect"
import { type Query, query, sealedIn, type SqliteFailure, Unread, Wanted } from "../sql.ts"

/** Of what a segment is. */
export interface SegmentOf {
  readonly assistant: number
  /** The number of its last entry. */
  readonly upTo: number
  readonly deletedAt?: number
}

/** Opened ones. */
const OPEN_AT_ONCE = 4
/** Of what was fetched, compressed as it is. */
const FETCHED_BYTES = 8 * 1024 * 1024

interface SegmentRow extends Pressed {
  readonly assistant: number
  readonly upTo: number
  readonly deletedAt: number | null
  readonly placeKey: string | null
  readonly placeBytes: number
  readonly placeDigest: string
  readonly digests: string
}

interface Fetched {
  /** Or why there is nothing. */
  readonly found: Pressed | Unreadable
  /** How many looks need it. */
  uses: number
}

/** What is wrong with a place, as the store says it. */
export const placeFailure = (cause: SegmentPlaceUnavailable): SqliteFailure => ({
  kind: "passing",
  message: `the place of older segments cannot be reached: ${cause.message}`,
  cause
})

/** What the bytes of a segment are sealed for, beside its key. */
export const placeOfBytes = (key: string) => ["segments", "place", key] as const

export class Segments {
  readonly #database: DatabaseSync
  readonly #open = new Map<number, ReadonlyArray<Moving>>()
  readonly #fetched = new Map<number, Fetched>()
  #find: Query<SegmentRow> | undefined
  /** Where segments lie that are not in a row. */
  place: SegmentPlace["Service"] | undefined

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** Most stores have no segment: what reads them is made with the first one. */
  find(segment: number): SegmentRow | undefined {
    this.#find ??= query(
      this.#database,
      `SELECT assistant, up_to AS upTo, deleted_at AS deletedAt, codec, digests, body AS bytes,
         place_key AS placeKey, place_bytes AS placeBytes, place_digest AS placeDigest FROM segments WHERE key = ?`
    )
    return this.#find.one(segment)
  }

  /** The text of a row, wherever it is, or what has to be fetched first. */
  text(body: string): string | Wanted {
    const place = placeOfText(body)
    if (place === undefined) return body
    const rows = this.rowsOf(place.segment)
    return rows instanceof Wanted ? rows : textAt(place, rows)
  }

  /** The same, for one who can wait. */
  *textLater(body: string): Generator<Wanted, string> {
    while (true) {
      const text = this.text(body)
      if (typeof text === "string") return text
      yield text
    }
  }

  /** The same, for one who begins again. */
  whole(body: string): string {
    const text = this.text(body)
    if (typeof text !== "string") throw text
    return text
  }

  /** The same, for one whose work must not go on without it. */
  readable(body: string): string {
    return readableText(this.whole(body))
  }

  /** The same, for one whose work must not go on without it; or with what `mark` makes of a row whose segment is lost. */
  *readableLater(
    body: string,
    mark?: (lost: LostRow, digests: ReadonlyArray<string>) => string
  ): Generator<Wanted, string> {
    const text = yield* this.textLater(body)
    const why = this.whyLost(body)
    if (mark === undefined || why === undefined || why instanceof Wanted) return readableText(text)
    const { segment = 0 } = placeOfText(body) ?? {}
    const row = this.find(segment)
    return mark(
      { segment: row?.placeKey ?? String(segment), why, reference: body },
      row?.digests.split(" ").filter(Boolean) ?? []
    )
  }

  /** Why the segment of a row is lost, or what has to be fetched first; undefined where it is not. */
  whyLost(body: string): "missing" | "damaged" | Wanted | undefined {
    const place = placeOfText(body)
    return place === undefined ? undefined : this.whyLostIs(place.segment)
  }

  /** The same of a segment. */
  whyLostIs(segment: number): "missing" | "damaged" | Wanted | undefined {
    const rows = this.rowsOf(segment)
    if (rows instanceof Wanted) return rows
    return rows instanceof Unreadable && rows.why !== "withheld" ? rows.why : undefined
  }

  /** What a segment holds, or why it cannot be read, or what has to be fetched first. */
  rowsOf(segment: number): ReadonlyArray<Moving> | Unreadable | Wanted {
    const open = this.#open.get(segment)
    if (open !== undefined) return open
    const row = this.find(segment)
    const found = row === undefined || row.placeKey === null ? row : this.#fetched.get(segment)?.found
    if (found === undefined && row !== undefined) return this.wanted([[segment, row]])
    const rows = found instanceof Unreadable ? found : rowsOfSegment(segment, found)
    if (rows instanceof Unreadable) return rows
    const [oldest] = this.#open.keys()
    if (oldest !== undefined && this.#open.size >= OPEN_AT_ONCE) this.#open.delete(oldest)
    this.#open.set(segment, rows)
    return rows
  }

  /** Fetches what of some segments is not in memory. */
  wanted(segments: ReadonlyArray<readonly [number, SegmentRow]>): Wanted {
    const fetch = Effect.forEach(segments, ([segment, row]) => this.#fetch(segment, row), { concurrency: 8 })
    return new Wanted(Effect.map(fetch, (releases) => () => releases.forEach((release) => release())))
  }

  #fetch(segment: number, row: SegmentRow): Effect.Effect<() => void, SqliteFailure> {
    const { codec, placeBytes: bytes, placeDigest: digest, placeKey: key } = row
    if (key === null) return Effect.succeed(() => undefined)
    const opened = (sealed: Uint8Array): Pressed | Unreadable => {
      const store = sealedIn(this.#database)
      const content = store === undefined ? sealed : store.sealing.open(placeOfBytes(key), sealed)?.content
      return content instanceof Uint8Array
        ? { codec, bytes: content }
        : new Unreadable("damaged", `segment ${segment} does not open: its key is gone`)
    }
    const fetch = readPlaced(this.place, { key, bytes, digest } satisfies PlacedSegment).pipe(
      Effect.map(opened),
      Effect.catchTag("SegmentLost", ({ message, why }: SegmentLost) => Effect.succeed(new Unreadable(why, message))),
      Effect.mapError(placeFailure),
      // One that is lost may have moved on meanwhile: then it is looked for where it is now.
      Effect.map((found) =>
        found instanceof Unreadable && this.find(segment)?.placeKey !== key
          ? () => undefined
          : this.#hold(segment, found)
      )
    )
    // Looked for and held at once: in between another one could let go of it.
    return Effect.suspend(() => (this.#fetched.has(segment) ? Effect.succeed(this.#hold(segment)) : fetch))
  }

  #hold(segment: number, found?: Pressed | Unreadable): () => void {
    const missing = () => new Unreadable("missing", `segment ${segment} is missing`)
    const held = this.#fetched.get(segment) ?? { found: found ?? missing(), uses: 0 }
    this.#fetched.delete(segment)
    this.#fetched.set(segment, held)
    held.uses++
    return () => {
      held.uses--
      // What is lost may be put back: the next one looks again.
      if (held.found instanceof Unreadable && held.uses === 0) this.#fetched.delete(segment)
      this.#trim()
    }
  }

  #trim(): void {
    const sizeOf = ({ found }: Fetched) => (found instanceof Unreadable ? 0 : found.bytes.length)
    let size = this.#fetched.values().reduce((sum, held) => sum + sizeOf(held), 0)
    for (const [segment, held] of this.#fetched) {
      if (size <= FETCHED_BYTES) return
      if (held.uses > 0) continue
      this.#fetched.delete(segment)
      size -= sizeOf(held)
    }
  }
}

/** Stops who would write on without what a text says. */
const readableText = (text: string): string => {
  const reason = unreadReason(text)
  if (reason !== undefined) throw new Unread(reason)
  return text
}

const byDatabase = new WeakMap<DatabaseSync, Segments>()

export const segmentsOf = (database: DatabaseSync): Segments => {
  const segments = byDatabase.get(database) ?? new Segments(database)
  byDatabase.set(database, segments)
  return segments
}
