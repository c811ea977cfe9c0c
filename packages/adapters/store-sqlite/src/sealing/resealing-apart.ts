// ResealingApart: segments that lie apart from a store, sealed anew with it.
// Owns what is put before the store refers to it, and what is removed once it does. Leaves the rows to resealing.ts.
// A1  A segment sealed anew lies in the place, durable and noted, before the transaction that refers to it. The old one is noted in that
//     transaction and removed after it. So at no moment does a segment lack, and what a crash leaves goes with the next sweep.
// A2  What does not read as it was written stops it before a row has changed, unless it is to go on without what is lost. Then a lost
//     segment is referred to as before, one that is damaged goes out of the place, and one that is put back does not open any more.

import { randomUUID } from "node:crypto"
import type { DatabaseSync } from "node:sqlite"
import {
  assertReached,
  placedAs,
  type PlacedSegment,
  readPlaced,
  removeDamaged,
  type SegmentPlace
} from "@reverie/ledger"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { StoreSealed } from "../errors.ts"
import { placeOfBytes } from "../ledger/segments.ts"
import type { SealedStore } from "./sealed-store.ts"

type Place = SegmentPlace["Service"]

interface Row extends PlacedSegment {
  readonly segment: number
  readonly assistant: number
}

interface Resealed {
  readonly row: Row
  readonly placed: PlacedSegment
}

const ROWS = `
  SELECT key AS segment, assistant, place_key AS key, place_bytes AS bytes, place_digest AS digest
  FROM segments WHERE place_key IS NOT NULL ORDER BY segment`

/** By which a place is known: where it is not, what is removed there stays where it lies. */
const newestIn = (database: DatabaseSync): string | undefined => {
  const row = database
    .prepare("SELECT place_key AS key FROM segments WHERE place_key IS NOT NULL ORDER BY key DESC LIMIT 1")
    .get()
  return row === undefined ? undefined : String(row["key"])
}

const NO_PLACE = "older segments of it lie in a place apart; name that, with REVERIE_SEGMENTS or `segments`"

export interface SegmentsResealed {
  /** Keys of those that are missing or damaged in their place. */
  readonly lost: ReadonlyArray<string>
  /** Within the transaction: refers to the new ones. */
  readonly refer: () => void
  /** After it: removes those of before. */
  readonly leave: Effect.Effect<void, StoreSealed>
}

const NOTHING_APART: SegmentsResealed = { lost: [], refer: () => undefined, leave: Effect.void }

interface Apart {
  /** They lie there as they are. */
  readonly isClear: boolean
  /** Goes on without those that are missing or damaged. */
  readonly withoutLost: boolean
}

/** Removes what a resealing that was broken off has noted and no row refers to: segments of before, and new ones in vain. */
export const formerSegmentsLeft = (
  directory: string,
  database: DatabaseSync,
  place: Place | undefined
): Effect.Effect<void, StoreSealed> =>
  Effect.gen(function* () {
    const keys = database
      .prepare("SELECT key FROM segment_keys")
      .all()
      .map(({ key }) => String(key))
    if (keys.length === 0) return
    const refused = (reason: string) => new StoreSealed({ directory, reason })
    if (place === undefined) return yield* refused(NO_PLACE)
    yield* Effect.mapError(
      Effect.andThen(assertReached(place, newestIn(database)), place.remove(keys)),
      ({ message }) => refused(`its former segments are not removed yet (${message}); run this again`)
    )
    const forget = database.prepare("DELETE FROM segment_keys WHERE key = ?")
    for (const key of keys) forget.run(key)
  })

/** Puts all of them sealed with the present keys. Who fails has changed nothing that is referred to. */
export const segmentsResealed = (
  directory: string,
  database: DatabaseSync,
  store: SealedStore,
  place: Place | undefined,
  { isClear, withoutLost }: Apart
): Effect.Effect<SegmentsResealed, StoreSealed> =>
  Effect.gen(function* () {
    const refused = (reason: string) => new StoreSealed({ directory, reason })
    const rows = database.prepare(ROWS).all() as unknown as ReadonlyArray<Row>
    if (rows.length === 0) return NOTHING_APART
    if (place === undefined) return yield* refused(NO_PLACE)
    const note = database.prepare("INSERT INTO segment_keys (key) VALUES (?) ON CONFLICT DO NOTHING")
    const forget = database.prepare("DELETE FROM segment_keys WHERE key = ?")
    const beginning = String(database.prepare("SELECT prefix FROM segment_prefix").get()?.["prefix"])
    const done: Array<Resealed> = []
    const lost: Array<Row> = []
    for (const row of rows) {
      const read = yield* Effect.result(readPlaced(place, row))
      if (Result.isFailure(read)) {
        const { _tag: tag, message } = read.failure
        if (tag !== "SegmentLost") return yield* refused(message)
        if (!withoutLost) return yield* refused(`${message}; or go on without it, with --without-lost`)
        lost.push(row)
        continue
      }
      const content = isClear ? read.success : store.sealing.open(placeOfBytes(row.key), read.success)?.content
      const subject = store.assistant(row.assistant)
      if (!(content instanceof Uint8Array) || subject === undefined)
        return yield* refused(`segment ${row.key} in ${place.says} does not open`)
      const key = `${beginning}/${randomUUID()}`
      const sealed = store.sealing.seal(subject, placeOfBytes(key), content)
      note.run(key)
      yield* Effect.mapError(place.put(key, sealed), ({ message }) => refused(message))
      done.push({ row, placed: placedAs(key, sealed) })
    }
    const update = database.prepare(
      "UPDATE segments SET place_key = ?, place_bytes = ?, place_digest = ? WHERE key = ?"
    )
    return {
      lost: lost.map(({ key }) => key),
      refer: () => {
        for (const { placed, row } of done) {
          update.run(placed.key, placed.bytes, placed.digest, row.segment)
          forget.run(placed.key)
          note.run(row.key)
        }
      },
      leave: Effect.gen(function* () {
        const keys = done.map(({ row }) => row.key)
        yield* Effect.mapError(Effect.andThen(place.remove(keys), removeDamaged(place, lost)), ({ message }) =>
          refused(`it is sealed anew, and its former segments are not removed yet (${message}); the next start does it`)
        )
        for (const key of keys) forget.run(key)
      })
    }
  })
