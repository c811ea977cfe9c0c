// SegmentWriter: texts of rows become segments, and leave one that is to be no more.
// Owns the order between the store and a place apart from it. Leaves reading to segments.ts, which rows move to archive.ts.
// W1  Texts move in the transaction of the caller: there is no moment at which they are nowhere.
// W2  What goes to a place is there, durable, before the transaction that refers to it begins; it goes there sealed as the store is.
// W3  Each key that no segment refers to is noted before it is put, and when its segment goes: so whatever ends a process, what is left
//     in the place is known, and goes with the next sweep.

import { createHash, randomUUID } from "node:crypto"
import type { DatabaseSync } from "node:sqlite"
import {
  assertReached,
  digestsOfRows,
  type Kept,
  type LedgerUnavailable,
  type LeftOfLost,
  type Moving,
  placedAs,
  type PlacedSegment,
  placeOfText,
  type PlaceReport,
  type Pressed,
  pressed,
  referenceTo,
  removeDamaged,
  reportOfPlace,
  type SegmentPlace,
  Unreadable
} from "@reverie/ledger"
import { defined } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { change, query, reading, sealedIn, type SqliteFailure, Wanted } from "../sql.ts"
import type { Writer } from "../writer.ts"
import { ledgerUnavailable } from "./assistants.ts"
import { placeFailure, placeOfBytes, type SegmentOf, segmentsOf } from "./segments.ts"

/** What tells a row among those of its assistant. */
const names: Readonly<Record<Kept, string>> = { ledger: "no", envelopes: "id" }

interface Offer {
  readonly codec: string
  readonly placed: PlacedSegment
}

interface Lacking extends Pressed {
  readonly assistant: number
}

const NOT_YET: Offer = { codec: "", placed: { key: "", bytes: 0, digest: "" } }

const nameOf = (assistant: number, rows: ReadonlyArray<Moving>): string => {
  const hash = createHash("sha256").update(String(assistant))
  for (const { seq, table, text } of rows) hash.update(`\n${table} ${seq} ${text.length} `).update(text)
  return hash.digest("hex")
}

/** What of a database lies in a place, and what may lie there. */
class Placing {
  readonly #database: DatabaseSync
  readonly #writer: Writer
  readonly #offers = new Map<string, Offer>()
  readonly #lacking = new Map<string, Lacking>()
  /** Keys that were put for a transaction that is still to come. */
  readonly #underWay = new Set<string>()
  /** Keys that a place has not answered for yet: what it was given may be there later, although no one waits for it any more. */
  readonly #onTheWay = new Set<string>()

  constructor(database: DatabaseSync, writer: Writer) {
    this.#database = database
    this.#writer = writer
  }

  get #place() {
    return segmentsOf(this.#database).place
  }

  /** Runs what moves texts: once to learn what has to be put, and again when all of it is there. */
  moving<A>(move: () => A): A {
    this.#lacking.clear()
    const moved = move()
    if (this.#lacking.size === 0) return moved
    throw new Wanted(this.#putting([...this.#lacking]))
  }

  /** Where rows lie that move; undefined where they stay beside. */
  offer(assistant: number, rows: ReadonlyArray<Moving>): Offer | undefined {
    if (this.#place === undefined) return undefined
    const name = nameOf(assistant, rows)
    const offer = this.#offers.get(name)
    if (offer === undefined) this.#lacking.set(name, { assistant, ...pressed(rows) })
    return offer ?? NOT_YET
  }

  #putting(lacking: ReadonlyArray<readonly [string, Lacking]>): Effect.Effect<() => void, SqliteFailure> {
    const place = this.#place
    if (place === undefined) return Effect.succeed(() => undefined)
    return Effect.suspend(() => {
      const beginning = String(this.#database.prepare("SELECT prefix FROM segment_prefix").get()?.["prefix"])
      const put = lacking.map(([name, each]) => ({ ...each, name, key: `${beginning}/${randomUUID()}` }))
      const release = () => {
        for (const { key, name } of put) {
          this.#underWay.delete(key)
          this.#offers.delete(name)
        }
      }
      for (const { key } of put) this.#underWay.add(key)
      return this.#reached(place).pipe(
        Effect.andThen(this.#note(put.map(({ key }) => key))),
        Effect.andThen(
          Effect.forEach(
            put,
            ({ assistant, bytes, codec, key, name }) => {
              const sealed = this.#sealed(assistant, key, bytes)
              return Effect.map(this.#sent(place, key, sealed), () =>
                this.#offers.set(name, { codec, placed: placedAs(key, sealed) })
              )
            },
            { discard: true, concurrency: 4 }
          )
        ),
        Effect.as(release),
        Effect.onError(() => Effect.sync(release))
      )
    })
  }

  /** Fails where a place has nothing of what this store refers to there. */
  #reached(place: SegmentPlace["Service"]): Effect.Effect<void, SqliteFailure> {
    return Effect.suspend(() => {
      const newest =
        "SELECT place_key AS key FROM segments WHERE place_key IS NOT NULL ORDER BY segments.key DESC LIMIT 1"
      const known = query<{ readonly key: string }>(this.#database, newest).one()
      return Effect.mapError(assertReached(place, known?.key), placeFailure)
    })
  }

  /** Waits for what no one can call back once it is sent. */
  #sent(place: SegmentPlace["Service"], key: string, bytes: Uint8Array): Effect.Effect<void, SqliteFailure> {
    const put = Effect.suspend(() => {
      this.#onTheWay.add(key)
      return Effect.ensuring(
        Effect.mapError(place.put(key, bytes), placeFailure),
        Effect.sync(() => this.#onTheWay.delete(key))
      )
    })
    return Effect.flatMap(Effect.forkDetach(put, { startImmediately: true }), Fiber.join)
  }

  #sealed(assistant: number, key: string, bytes: Uint8Array): Uint8Array {
    const store = sealedIn(this.#database)
    const subject = store?.assistant(assistant)
    if (store === undefined) return bytes
    if (subject === undefined) throw new Error(`no assistant has the number ${assistant}`)
    return store.sealing.seal(subject, placeOfBytes(key), bytes)
  }

  #note(keys: ReadonlyArray<string>): Effect.Effect<void, SqliteFailure> {
    const note = change(this.#database, "INSERT INTO segment_keys (key) VALUES (?) ON CONFLICT DO NOTHING")
    return this.#writer.write(
      (failure: SqliteFailure) => failure,
      () => {
        for (const key of keys) note(key)
        return Result.void
      }
    )
  }

  /** Takes from the place what no segment refers to. Answers how many. */
  readonly sweep: Effect.Effect<number, LedgerUnavailable> = Effect.suspend(() => {
    const place = this.#place
    if (place === undefined) return Effect.succeed(0)
    const unavailable = ledgerUnavailable("sweep")
    return Effect.gen({ self: this }, function* () {
      const noted = yield* reading(unavailable, () => Result.succeed(this.#noted()))
      const keys = noted.filter((key) => !this.#underWay.has(key) && !this.#onTheWay.has(key))
      if (keys.length === 0) return 0
      // What is removed where nothing is would be forgotten, and stay where it lies.
      yield* Effect.mapError(this.#reached(place), unavailable)
      yield* Effect.mapError(place.remove(keys), (failure) => unavailable(placeFailure(failure)))
      const forget = change(this.#database, "DELETE FROM segment_keys WHERE key = ?")
      yield* this.#writer.write(unavailable, () => {
        for (const key of keys) forget(key)
        return Result.void
      })
      return keys.length
    })
  })

  #noted(): ReadonlyArray<string> {
    return query<{ readonly key: string }>(this.#database, "SELECT key FROM segment_keys")
      .all()
      .map(({ key }) => key)
  }

  /** Takes from the place what was found damaged there. */
  leave(damaged: ReadonlyArray<PlacedSegment>): Effect.Effect<void, LedgerUnavailable> {
    const place = this.#place
    if (place === undefined || damaged.length === 0) return Effect.void
    return Effect.mapError(removeDamaged(place, damaged), (failure) =>
      ledgerUnavailable("rewrite")(placeFailure(failure))
    )
  }

  /** What lies in the place and what lacks there; sweeps it, unless it is a trial. */
  report(isTrial: boolean): Effect.Effect<PlaceReport | undefined, LedgerUnavailable> {
    const place = this.#place
    const unavailable = ledgerUnavailable("place")
    return Effect.gen({ self: this }, function* () {
      const known = yield* reading(unavailable, () =>
        Result.succeed(
          query<{ readonly key: string; readonly bytes: number }>(
            this.#database,
            "SELECT place_key AS key, place_bytes AS bytes FROM segments WHERE place_key IS NOT NULL"
          ).all()
        )
      )
      if (place === undefined && known.length === 0) return undefined
      const removed = isTrial ? 0 : yield* this.sweep
      const noted = yield* reading(unavailable, () => Result.succeed(this.#noted()))
      const beginning = String(this.#database.prepare("SELECT prefix FROM segment_prefix").get()?.["prefix"])
      return yield* Effect.mapError(reportOfPlace(place, { beginning, known, noted, removed }), (failure) =>
        unavailable(placeFailure(failure))
      )
    })
  }
}

const byDatabase = new WeakMap<DatabaseSync, Placing>()

/** Of a database that is written. */
export const placingIn = (database: DatabaseSync, writer: Writer): Placing => {
  const placing = byDatabase.get(database) ?? new Placing(database, writer)
  byDatabase.set(database, placing)
  return placing
}

/** Of rows that leave a segment: those that have it still, as they stand. */
const standingIn = (database: DatabaseSync) => {
  const bodyIn = (table: Kept) =>
    query<{ readonly body: string }>(
      database,
      `SELECT assistant, ${names[table]}, body FROM ${table} WHERE seq = ? AND assistant = ?`
    )
  const bodies = { ledger: bodyIn("ledger"), envelopes: bodyIn("envelopes") }
  return (segment: number, assistant: number, rows: ReadonlyArray<Moving>) =>
    rows.flatMap((row, line): ReadonlyArray<Moving & { readonly isAsBefore: boolean }> => {
      const body = bodies[row.table].one(row.seq, assistant)?.body
      if (body === undefined) return []
      if (placeOfText(body) === undefined) return [{ ...row, text: body, isAsBefore: false }]
      return body === referenceTo({ segment, line }) ? [{ ...row, isAsBefore: true }] : []
    })
}

/** What puts a segment down, and what takes one away. */
const keepingIn = (database: DatabaseSync) => {
  const insert = change(
    database,
    `INSERT INTO segments (assistant, up_to, deleted_at, codec, digests, body, place_key, place_bytes, place_digest)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
  )
  const remove = change(database, "DELETE FROM segments WHERE key = ?")
  const note = change(database, "INSERT INTO segment_keys (key) VALUES (?) ON CONFLICT DO NOTHING")
  const forget = change(database, "DELETE FROM segment_keys WHERE key = ?")
  return {
    put: ({ assistant, deletedAt, upTo }: SegmentOf, rows: ReadonlyArray<Moving>): number => {
      const offer = byDatabase.get(database)?.offer(assistant, rows)
      const { codec, bytes } = offer === undefined ? pressed(rows) : { codec: offer.codec, bytes: new Uint8Array() }
      const { placed } = offer ?? { placed: undefined }
      if (placed !== undefined) forget(placed.key)
      const at = [placed?.key ?? null, placed?.bytes ?? null, placed?.digest ?? null]
      return insert(assistant, upTo, deletedAt ?? null, codec, digestsOfRows(rows).join(" "), bytes, ...at).lastSeq
    },
    remove: (segment: number, placeKey: string | null): void => {
      remove(segment)
      if (placeKey !== null) note(placeKey)
    }
  }
}

/** What is done to the lost segments of a life that is rewritten. */
const leavingLost = (database: DatabaseSync, remove: (segment: number, placeKey: string | null) => void) => {
  const segments = segmentsOf(database)
  const refer = change(database, "UPDATE segments SET digests = ? WHERE key = ?")
  const empty = change(database, "UPDATE segments SET body = ? WHERE key = ? AND assistant = ? AND up_to = ?")
  /** What is damaged goes: from the store at once, from its place afterwards. */
  const take = (segment: number): ReadonlyArray<PlacedSegment> => {
    const found = segments.find(segment)
    if (found === undefined) return []
    const { assistant, placeBytes: bytes, placeDigest: digest, placeKey: key, upTo } = found
    if (key === null) empty(new Uint8Array(), segment, assistant, upTo)
    return key === null ? [] : [{ key, bytes, digest }]
  }
  return {
    /** Those that are referred to no more go, and of others what is to go. Answers what lies apart and is to go there. */
    lost: (before: LeftOfLost, { digests, segments: left, taken }: LeftOfLost): ReadonlyArray<PlacedSegment> =>
      [...before.segments].flatMap((segment) => {
        const found = segments.find(segment)
        if (found === undefined) return []
        if (left.has(segment)) refer([...(digests.get(segment) ?? [])].join(" "), segment)
        else remove(segment, found.placeKey)
        return taken.has(segment) ? take(segment) : []
      }),
    /** The same of lost ones of which all is to go, where they are damaged and end there. */
    damaged: (lost: ReadonlySet<number>, upTo: number): ReadonlyArray<PlacedSegment> =>
      [...lost].flatMap((segment) => {
        const isDue = (segments.find(segment)?.upTo ?? Infinity) <= upTo
        return isDue && segments.whyLostIs(segment) === "damaged" ? take(segment) : []
      })
  }
}

/** What moves texts into segments, and out of one that is to be no more. */
export const segmentWriter = (database: DatabaseSync) => {
  const segments = segmentsOf(database)
  const keeping = keepingIn(database)
  const standing = standingIn(database)
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

  const put = (of: SegmentOf, rows: ReadonlyArray<Moving>): void => {
    if (rows.length === 0) return
    const segment = keeping.put(of, rows)
    for (const [line, { seq, table }] of rows.entries()) refer[table](referenceTo({ segment, line }), seq, of.assistant)
  }

  /** Puts a new segment in the place of one of which a text has changed, moved on or gone; or of any that lies apart. */
  const renew = (segment: number, alsoApart = false): void => {
    const found = segments.find(segment)
    const rows = segments.rowsOf(segment)
    if (rows instanceof Wanted) throw rows
    if (found === undefined || rows instanceof Unreadable) return
    const { assistant, deletedAt, placeKey, upTo } = found
    const left = standing(segment, assistant, rows)
    const isAsBefore = left.length === rows.length && left.every((each) => each.isAsBefore)
    if (isAsBefore && !(alsoApart && placeKey !== null)) return
    keeping.remove(segment, placeKey)
    put({ assistant, upTo, ...defined({ deletedAt: deletedAt ?? undefined }) }, left)
  }

  const leaving = leavingLost(database, keeping.remove)
  const numbersOf = (assistant: number) => ofAssistant.all(assistant).map(({ key }) => key)

  return {
    put,
    renew,
    leaveLost: leaving.lost,
    leaveDamaged: leaving.damaged,
    /** All of an assistant, whatever they hold. */
    dropAll: (assistant: number): void => {
      for (const segment of numbersOf(assistant)) keeping.remove(segment, segments.find(segment)?.placeKey ?? null)
    },
    /** All of an assistant; with those that lie apart, though nothing of them has changed, where the key of what is sealed has. */
    renewAll: (assistant: number, alsoApart = false): void => {
      for (const segment of numbersOf(assistant)) renew(segment, alsoApart)
    },
    /** Throws what has to be fetched of an assistant: all at once, for one who needs all. */
    fetchAll: (assistant: number): void => {
      const apart = numbersOf(assistant).flatMap((segment) => {
        const row = segments.find(segment)
        return row !== undefined && row.placeKey !== null && segments.rowsOf(segment) instanceof Wanted
          ? [[segment, row] as const]
          : []
      })
      if (apart.length > 0) throw segments.wanted(apart)
    }
  }
}
