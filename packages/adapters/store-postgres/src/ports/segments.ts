// Segments on PostgreSQL: texts of older rows, many in one compressed row.
// Owns the table `segments`: how texts come back, and what lies apart. Leaves how they get there to segment-writer.ts, which rows move
// to archive.ts, and the encoding to the ledger's room.
// S1  A row keeps its place, its numbers and whose it is; only its text moves. `whole` gives the texts of any rows.
// S2  A segment never changes. Where one of its texts does, its rows move into a new one, and its number is given to no other:
//     so what was read of a number is true for as long as a row refers to it, and a row whose segment is gone has moved, and is
//     read again.
// S3  Texts move in the transaction of the caller: there is no moment at which they are nowhere.
// S4  What cannot be read is one sentence in the place of the text, which no reader takes for one; who writes on is stopped by it.
// S6  What lies apart is there, durable, before the transaction that refers to it commits, and is taken away after the one that
//     refers to it no more. No look waits for it within a transaction.
// S7  What is noted and swept before it came to the place, because its transaction is given up, goes from there when it comes.
// S5  A reference says how many bytes its text has, so that a page of rows is measured by what it brings (`text_bytes`).

import { Buffer } from "node:buffer"
import { randomUUID } from "node:crypto"
import {
  assertReached,
  type LostRow,
  type Moving,
  placedAs,
  type PlacedSegment,
  placeOfText,
  type PlaceReport,
  type Pressed,
  readPlaced,
  removeDamaged,
  reportOfPlace,
  rowsOfSegment,
  SEGMENT_CHARS,
  type SegmentPlace,
  type SegmentPlaceUnavailable,
  textAt,
  Unreadable,
  unreadReason
} from "@reverie/ledger"
import { type Address, longWork, type TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Semaphore from "effect/Semaphore"
import { PgFailure, type Query } from "../database.ts"

interface Bodied {
  readonly body: string
}

const OPEN_AT_ONCE = 4

/** Of what was fetched, compressed as it is. */
const FETCHED_BYTES = 8 * 1024 * 1024

const COLUMNS = `
  codec, digests, body AS bytes, place_key AS "placeKey", place_bytes::float8 AS "placeBytes", place_digest AS "placeDigest"`
const FIND = `SELECT key::float8 AS key, ${COLUMNS} FROM segments WHERE key = ANY ($1::bigint[])`
const APART_OF_LIFE = `
  SELECT s.key::float8 AS key, ${COLUMNS} FROM segments s JOIN assistants a ON a.key = s.assistant
  WHERE a.tenant = $1 AND a.id = $2 AND place_key IS NOT NULL`
const KNOWN = `
  SELECT place_key AS key, place_bytes::float8 AS bytes FROM segments WHERE place_key IS NOT NULL`
const NEWEST = `
  SELECT place_key AS key FROM segments WHERE place_key IS NOT NULL ORDER BY segments.key DESC LIMIT 1`
const PREFIX = "SELECT segment_prefix AS prefix FROM store"
const NOTE = `
  INSERT INTO segment_keys (key, tenant, assistant, is_left, noted_at) VALUES ($1, $2, $3::bigint, false, now_millis())`
/** No transaction lasts so long. */
const KEY_MILLIS = 7_200_000
const LEFT = `
  SELECT key FROM segment_keys WHERE is_left OR noted_at < now_millis() - ${KEY_MILLIS} LIMIT 1000`
const NOTED = "SELECT key FROM segment_keys"
const STILL_NOTED = "SELECT 1 AS one FROM segment_keys WHERE key = $1"
const GONE = "DELETE FROM segment_keys WHERE key = ANY ($1::text[])"
/** Of a life that is held: who noted them before has ended. */
const LEAVE_NOTED = `
  UPDATE segment_keys SET is_left = true
  WHERE assistant = (SELECT key FROM assistants WHERE tenant = $1 AND id = $2) AND NOT is_left`

interface FoundRow extends Pressed {
  readonly key: number
  readonly placeKey: string | null
  readonly placeBytes: number
  readonly placeDigest: string
  readonly digests: string
}

/** What stands in a row whose segment is lost, and what bytes that segment refers to. */
interface Lost {
  readonly row: LostRow
  readonly digests: ReadonlyArray<string>
}

/** What is to stand for a row that is lost. */
type Mark<Row> = (row: Row, lost: LostRow, digests: ReadonlyArray<string>) => string

const lostFrom = ({ digests, key, placeKey }: FoundRow, why: Unreadable["why"], reference: string): Lost | undefined =>
  why === "withheld"
    ? undefined
    : { row: { segment: placeKey ?? String(key), why, reference }, digests: digests.split(" ").filter(Boolean) }

const placeFailure = (cause: SegmentPlaceUnavailable): PgFailure =>
  new PgFailure("passing", `the place of older segments cannot be reached: ${cause.message}`, cause)

const CAME_LATE = new PgFailure("retry", "a segment came to its place when its transaction was given up already")

const MOVED_ON = new PgFailure("retry", "older entries moved on meanwhile")

/** Of whom a segment is. */
export interface Whose {
  /** The key of the assistant. */
  readonly assistant: string
  readonly tenant: TenantId
}

/** Where segments lie apart from the database, and who asks that outside of a transaction. */
interface Apart {
  readonly place: SegmentPlace["Service"]
  readonly query: Query
  /** There is one connection, and no one may ask while it is in a transaction. */
  readonly isAlone: boolean
}

const ALONE = new PgFailure("other", "segments are put apart over two connections at least; raise `connections`")

/** Without the text it was cut out of, which would otherwise stay in memory with it. */
const apart = (text: string): string => Buffer.from(text).toString()

/** The segments of a store, for reading. */
export class Segments {
  readonly #open = new Map<number, ReadonlyArray<Moving>>()
  readonly #fetched: Map<number, Pressed | Unreadable>
  readonly #apart: Apart | undefined
  /** What else is not at hand is not waited for. */
  readonly #isAtHand: boolean
  #beginning: string | undefined
  readonly #turns = Semaphore.makeUnsafe(1)

  constructor(apart?: Apart, atHand?: Map<number, Pressed | Unreadable>) {
    this.#apart = apart
    this.#fetched = atHand ?? new Map()
    this.#isAtHand = atHand !== undefined
  }

  /** Runs a look within a transaction with all that lies apart of a life at hand; once more where some of it moved on meanwhile. */
  readonly atHand = <A, E>(
    query: Query,
    { assistant, tenant }: Address,
    look: (segments: Segments) => Effect.Effect<A, E>
  ): Effect.Effect<A, E | PgFailure> =>
    Effect.gen({ self: this }, function* () {
      const found = new Map<number, Pressed | Unreadable>()
      const rows = yield* query<FoundRow>(APART_OF_LIFE, [tenant, assistant])
      yield* Effect.forEach(rows, (row) => Effect.map(this.#fetch(row), (pressed) => found.set(row.key, pressed)), {
        concurrency: 8,
        discard: true
      })
      return yield* look(new Segments(this.#apart, found))
    }).pipe(Effect.retry({ times: 5, while: (error) => error === MOVED_ON }))

  /** Rows as they are found, each with its text; or with what `mark` makes of one that is lost. */
  readonly whole = <Row extends Bodied, E>(
    query: Query,
    find: Effect.Effect<ReadonlyArray<Row>, E>,
    mark?: Mark<Row>
  ): Effect.Effect<ReadonlyArray<Row>, E | PgFailure> =>
    Effect.gen({ self: this }, function* () {
      let missedBefore = ""
      while (true) {
        const rows = yield* find
        const { lost, missed, texts } = yield* this.textsOf(query, rows)
        // One that was gone the time before, and still is referred to, is lost.
        if (missed === missedBefore) {
          if (texts.size === 0) return rows
          return rows.map((row) => {
            const found = mark === undefined ? undefined : lost.get(row.body)
            const marked = found === undefined ? undefined : mark?.(row, found.row, found.digests)
            return { ...row, body: marked ?? texts.get(row.body) ?? row.body }
          })
        }
        missedBefore = missed
      }
    })

  /** By what refers to them the texts of some rows, and which of these are lost; and which segments are not there. */
  readonly textsOf = (
    query: Query,
    rows: ReadonlyArray<Bodied>
  ): Effect.Effect<
    {
      readonly texts: ReadonlyMap<string, string>
      readonly lost: ReadonlyMap<string, Lost>
      readonly missed: string
    },
    PgFailure
  > =>
    Effect.gen({ self: this }, function* () {
      const texts = new Map<string, string>()
      const gone = new Map<string, Lost>()
      const missed: Array<number> = []
      const wanted = Map.groupBy(rows, ({ body }) => placeOfText(body)?.segment)
      const segments = [...wanted.keys()].filter((segment) => segment !== undefined)
      for (let from = 0; from < segments.length; from += OPEN_AT_ONCE) {
        const some = segments.slice(from, from + OPEN_AT_ONCE)
        const lost = new Map<number, { readonly found: FoundRow; readonly why: Unreadable }>()
        const opened = yield* this.#opened(query, some, lost)
        for (const segment of some) {
          const held = opened.get(segment)
          const away = lost.get(segment)
          if (held === undefined) missed.push(segment)
          for (const { body } of wanted.get(segment) ?? []) {
            const place = placeOfText(body)
            const rows = held ?? away?.why ?? rowsOfSegment(segment, undefined)
            if (place !== undefined) texts.set(body, apart(textAt(place, rows)))
            const row = away === undefined ? undefined : lostFrom(away.found, away.why.why, body)
            if (row !== undefined) gone.set(body, row)
          }
        }
      }
      return { texts, lost: gone, missed: missed.join() }
    })

  /** What a segment holds; undefined where it cannot be read. */
  rowsOf(query: Query, segment: number): Effect.Effect<ReadonlyArray<Moving> | undefined, PgFailure> {
    return Effect.map(this.#opened(query, [segment], new Map()), (opened) => opened.get(segment))
  }

  /** What some segments hold; one that is not there is left out, and why one can not be read is noted. */
  #opened(
    query: Query,
    segments: ReadonlyArray<number>,
    lost: Map<number, { readonly found: FoundRow; readonly why: Unreadable }>
  ) {
    return Effect.gen({ self: this }, function* () {
      const opened = new Map<number, ReadonlyArray<Moving>>()
      for (const segment of segments) {
        const open = this.#open.get(segment)
        if (open !== undefined) opened.set(segment, open)
      }
      const closed = segments.filter((segment) => !opened.has(segment))
      if (closed.length === 0) return opened
      for (const row of yield* query<FoundRow>(FIND, [closed])) {
        const { key } = row
        const found = yield* this.#pressed(row)
        if (!(found instanceof Unreadable)) yield* longWork.begin(SEGMENT_CHARS)
        const rows = found instanceof Unreadable ? found : rowsOfSegment(key, found)
        if (rows instanceof Unreadable) {
          lost.set(key, { found: row, why: rows })
          continue
        }
        opened.set(key, rows)
        const [oldest] = this.#open.keys()
        if (oldest !== undefined && this.#open.size >= OPEN_AT_ONCE) this.#open.delete(oldest)
        this.#open.set(key, rows)
      }
      return opened
    })
  }

  /** The bytes of a segment, wherever they lie, or why there are none. */
  #pressed(row: FoundRow): Effect.Effect<Pressed | Unreadable, PgFailure> {
    if (row.placeKey === null) return Effect.succeed(row)
    const held = this.#fetched.get(row.key)
    if (held !== undefined) return Effect.succeed(held)
    if (this.#isAtHand) return Effect.fail(MOVED_ON)
    return Effect.map(this.#fetch(row), (found) => {
      if (!(found instanceof Unreadable)) this.#keep(row.key, found)
      return found
    })
  }

  #fetch({
    codec,
    placeBytes: bytes,
    placeDigest: digest,
    placeKey
  }: FoundRow): Effect.Effect<Pressed | Unreadable, PgFailure> {
    return readPlaced(this.#apart?.place, { key: placeKey ?? "", bytes, digest } satisfies PlacedSegment).pipe(
      Effect.map((found): Pressed | Unreadable => ({ codec, bytes: found })),
      Effect.catchTag("SegmentLost", ({ message, why }) => Effect.succeed(new Unreadable(why, message))),
      Effect.mapError(placeFailure)
    )
  }

  #keep(segment: number, found: Pressed): void {
    this.#fetched.set(segment, found)
    const sizeOf = (each: Pressed | Unreadable) => (each instanceof Unreadable ? 0 : each.bytes.length)
    let size = this.#fetched.values().reduce((sum, each) => sum + sizeOf(each), 0)
    for (const [key, each] of this.#fetched) {
      if (size <= FETCHED_BYTES) return
      this.#fetched.delete(key)
      size -= sizeOf(each)
    }
  }

  /** One transaction that puts segments apart after the other: each holds a connection, and asks for another one. */
  inTurn<A, E>(transaction: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return this.#apart === undefined ? transaction : this.#turns.withPermits(1)(transaction)
  }

  /** Puts a segment where segments lie, within the transaction that is to refer to it; undefined where they stay in the database. */
  put(of: Whose, bytes: Uint8Array): Effect.Effect<PlacedSegment | undefined, PgFailure> {
    const apart = this.#apart
    if (apart === undefined) return Effect.undefined
    if (apart.isAlone) return Effect.fail(ALONE)
    return Effect.gen({ self: this }, function* () {
      yield* this.#reached(apart)
      const key = `${yield* this.#prefix(apart)}/${randomUUID()}`
      yield* apart.query(NOTE, [key, of.tenant, of.assistant])
      // Who stops waiting for it calls nothing back.
      yield* Effect.flatMap(Effect.forkDetach(this.#sent(apart, key, bytes), { startImmediately: true }), Fiber.join)
      return placedAs(key, bytes)
    })
  }

  /** Fails where the place has nothing of what the store refers to there. */
  #reached({ place, query }: Apart): Effect.Effect<void, PgFailure> {
    return Effect.gen(function* () {
      const [known] = yield* query<{ readonly key: string }>(NEWEST)
      yield* Effect.mapError(assertReached(place, known?.key), placeFailure)
    })
  }

  #sent({ place, query }: Apart, key: string, bytes: Uint8Array): Effect.Effect<void, PgFailure> {
    return Effect.gen(function* () {
      yield* Effect.mapError(place.put(key, bytes), placeFailure)
      const [noted] = yield* query<{ readonly one: number }>(STILL_NOTED, [key])
      if (noted !== undefined) return
      yield* Effect.mapError(place.remove([key]), placeFailure)
      return yield* Effect.fail(CAME_LATE)
    })
  }

  #prefix({ query }: Apart): Effect.Effect<string, PgFailure> {
    return this.#beginning === undefined
      ? Effect.map(query<{ readonly prefix: string }>(PREFIX), ([row]) => (this.#beginning = row?.prefix ?? "none"))
      : Effect.succeed(this.#beginning)
  }

  /** Takes from the place what no segment refers to any more. Answers how many. */
  get sweep(): Effect.Effect<number, PgFailure> {
    const apart = this.#apart
    if (apart === undefined) return Effect.succeed(0)
    return Effect.gen({ self: this }, function* () {
      let count = 0
      while (true) {
        const keys = (yield* apart.query<{ readonly key: string }>(LEFT)).map(({ key }) => key)
        if (keys.length === 0) return count
        // What is removed where nothing is would be forgotten, and stay where it lies.
        yield* this.#reached(apart)
        yield* Effect.mapError(apart.place.remove(keys), placeFailure)
        yield* apart.query(GONE, [`{${keys.join()}}`])
        // One that came between the two has been found noted by who put it.
        yield* Effect.mapError(apart.place.remove(keys), placeFailure)
        count += keys.length
      }
    })
  }

  /** Takes from the place what was found damaged there. */
  leave(damaged: ReadonlyArray<PlacedSegment>): Effect.Effect<void, PgFailure> {
    return this.#apart === undefined
      ? Effect.void
      : Effect.mapError(removeDamaged(this.#apart.place, damaged), placeFailure)
  }

  /** What lies in the place and what lacks there; sweeps it, unless it is a trial. */
  report(query: Query, isTrial: boolean): Effect.Effect<PlaceReport | undefined, PgFailure> {
    const apart = this.#apart
    return Effect.gen({ self: this }, function* () {
      const known = yield* query<{ readonly key: string; readonly bytes: number }>(KNOWN)
      if (apart === undefined && known.length === 0) return undefined
      const removed = isTrial ? 0 : yield* this.sweep
      const noted = (yield* query<{ readonly key: string }>(NOTED)).map(({ key }) => key)
      const beginning = yield* this.#prefix({ query } as Apart)
      return yield* Effect.mapError(reportOfPlace(apart?.place, { beginning, known, noted, removed }), placeFailure)
    })
  }
}

/** Of a life that is held, so that no one puts anything: what was put for it and came to nothing goes with the next sweep. */
export const leaveNoted = (query: Query, { assistant, tenant }: Address): Effect.Effect<void, PgFailure> =>
  Effect.asVoid(query(LEAVE_NOTED, [tenant, assistant]))

/** Stops who would write on without what these rows say. */
export const readableRows = <Row extends Bodied>(
  rows: ReadonlyArray<Row>
): Effect.Effect<ReadonlyArray<Row>, PgFailure> => {
  const reason = rows.map(({ body }) => unreadReason(body)).find((each) => each !== undefined)
  return reason === undefined ? Effect.succeed(rows) : Effect.fail(new PgFailure("damaged", reason))
}
