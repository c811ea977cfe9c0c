// ResealingApart: segments that lie apart from a store, sealed anew with it.
// Owns what is put before the store refers to it, and what is removed once it does. Leaves the rows to resealing.ts.
// A1  A segment sealed anew lies in the place, durable and noted, before the transaction that refers to it. The old one is noted in that
//     transaction and removed after it. So at no moment does a segment lack, and what a crash leaves goes with the next sweep.
// A2  What does not read as it was written stops it before a row has changed.

import { randomUUID } from "node:crypto"
import type { DatabaseSync } from "node:sqlite"
import { placedAs, type PlacedSegment, readPlaced, type SegmentPlace } from "@reverie/ledger"
import * as Effect from "effect/Effect"
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

const NO_PLACE = "older segments of it lie in a place apart; name that, with REVERIE_SEGMENTS or `segments`"

export interface SegmentsResealed {
  /** Within the transaction: refers to the new ones. */
  readonly refer: () => void
  /** After it: removes those of before. */
  readonly leave: Effect.Effect<void, StoreSealed>
}

/** Puts all of them sealed with the present keys. `isClear`: they lie there as they are. Who fails has changed nothing that is referred to. */
export const segmentsResealed = (
  directory: string,
  database: DatabaseSync,
  store: SealedStore,
  place: Place | undefined,
  isClear: boolean
): Effect.Effect<SegmentsResealed, StoreSealed> =>
  Effect.gen(function* () {
    const refused = (reason: string) => new StoreSealed({ directory, reason })
    const rows = database.prepare(ROWS).all() as unknown as ReadonlyArray<Row>
    if (rows.length === 0) return { refer: () => undefined, leave: Effect.void }
    if (place === undefined) return yield* refused(NO_PLACE)
    const said = Effect.mapError(({ message }: { readonly message: string }) => refused(message))
    const note = database.prepare("INSERT INTO segment_keys (key) VALUES (?) ON CONFLICT DO NOTHING")
    const forget = database.prepare("DELETE FROM segment_keys WHERE key = ?")
    const beginning = String(database.prepare("SELECT prefix FROM segment_prefix").get()?.["prefix"])
    const done: Array<Resealed> = []
    for (const row of rows) {
      const bytes = yield* said(readPlaced(place, row))
      const content = isClear ? bytes : store.sealing.open(placeOfBytes(row.key), bytes)?.content
      const subject = store.assistant(row.assistant)
      if (!(content instanceof Uint8Array) || subject === undefined)
        return yield* refused(`segment ${row.key} in ${place.says} does not open`)
      const key = `${beginning}/${randomUUID()}`
      const sealed = store.sealing.seal(subject, placeOfBytes(key), content)
      note.run(key)
      yield* said(place.put(key, sealed))
      done.push({ row, placed: placedAs(key, sealed) })
    }
    const update = database.prepare(
      "UPDATE segments SET place_key = ?, place_bytes = ?, place_digest = ? WHERE key = ?"
    )
    return {
      refer: () => {
        for (const { placed, row } of done) {
          update.run(placed.key, placed.bytes, placed.digest, row.segment)
          forget.run(placed.key)
          note.run(row.key)
        }
      },
      leave: Effect.gen(function* () {
        const keys = done.map(({ row }) => row.key)
        yield* Effect.mapError(place.remove(keys), ({ message }) =>
          refused(`it is sealed anew, and its former segments are not removed yet (${message}); the next start does it`)
        )
        for (const key of keys) forget.run(key)
      })
    }
  })
