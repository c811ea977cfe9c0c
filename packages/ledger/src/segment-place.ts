// SegmentPlace: where compressed segments lie, when they do not lie in the store itself: a directory, or an object store.
// Owns the port, the form of a key, and that what is read is what was written. Leaves when a segment is written and when it goes to
// the stores, which alone know what refers to it.
// P1  What was put is read back byte for byte, after a crash too; what was not put whole is not there.
// P2  A key is put once. Putting the same again is harmless, and so is removing what is not there.
// P3  What is read is held against the digest that the store remembers: what is missing or damaged is said, never passed over.
// P4  Where a place can tell that it has nothing of a store that refers to segments there, it is given no new one.

import { createHash } from "node:crypto"
import { defined } from "@reverie/protocol"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { SegmentLost, type SegmentPlaceUnavailable } from "./errors.ts"

/** Something that lies in a place. */
export interface PlacedObject {
  /** What it is found under. */
  readonly key: string
  /** How long it is. */
  readonly bytes: number
}

export class SegmentPlace extends Context.Service<
  SegmentPlace,
  {
    /** Where it is, for people; without any secret. */
    readonly says: string
    /** Answers when it is durable. Keys are parts of small letters, digits and `-`, with `/` between them. */
    readonly put: (key: string, bytes: Uint8Array) => Effect.Effect<void, SegmentPlaceUnavailable>
    /** Undefined when nothing is there under this key. */
    readonly get: (key: string) => Effect.Effect<Uint8Array | undefined, SegmentPlaceUnavailable>
    readonly remove: (keys: ReadonlyArray<string>) => Effect.Effect<void, SegmentPlaceUnavailable>
    /** All whose key begins so. */
    readonly list: (prefix: string) => Effect.Effect<ReadonlyArray<PlacedObject>, SegmentPlaceUnavailable>
    /**
     * Fails where nothing was ever put under keys that begin so, though all of it may be removed by now: a mount point without its disk.
     * Not there where a place can not tell.
     */
    readonly assertHas?: (beginning: string) => Effect.Effect<void, SegmentPlaceUnavailable>
  }
>()("@reverie/ledger/segment-place") {}

const KEY = /^[a-z0-9-]{1,64}(\/[a-z0-9-]{1,64}){0,4}$/

/** Whether a text has the form of a key: none leads out of a place. */
export const isSegmentKey = (key: string): boolean => KEY.test(key)

/** What the store remembers of a segment that lies in a place. */
export interface PlacedSegment extends PlacedObject {
  /** SHA-256 of its bytes, in hex. */
  readonly digest: string
}

export const placedAs = (key: string, bytes: Uint8Array): PlacedSegment => ({
  key,
  bytes: bytes.length,
  digest: createHash("sha256").update(bytes).digest("hex")
})

/** Fails where a place has nothing of a store; `key` is of any segment that this refers to there, undefined where it refers to none. */
export const assertReached = (
  place: SegmentPlace["Service"],
  key: string | undefined
): Effect.Effect<void, SegmentPlaceUnavailable> =>
  key === undefined || place.assertHas === undefined ? Effect.void : place.assertHas(key.slice(0, key.lastIndexOf("/")))

/** So the reason goes on where no place is named: nothing is known of the segment then. */
export const NO_PLACE = "and no place is given"

const CURE = "put it back there from a backup of that place, then read again"

/** The bytes of a segment, as they were written. */
export const readPlaced = (
  place: SegmentPlace["Service"] | undefined,
  { bytes: length, digest, key }: PlacedSegment
): Effect.Effect<Uint8Array, SegmentLost | SegmentPlaceUnavailable> =>
  Effect.gen(function* () {
    const lost = (why: SegmentLost["why"], message: string) => new SegmentLost({ key, why, message })
    if (place === undefined) {
      return yield* lost(
        "withheld",
        `segment ${key} lies apart from the store, ${NO_PLACE}; say \`segments\` or REVERIE_SEGMENTS`
      )
    }
    const found = yield* place.get(key)
    if (found === undefined) return yield* lost("missing", `segment ${key} is missing in ${place.says}; ${CURE}`)
    if (placedAs(key, found).digest === digest) return found
    const how = found.length === length ? "other bytes than were written" : `${found.length} bytes instead of ${length}`
    return yield* lost("damaged", `segment ${key} in ${place.says} is damaged, it has ${how}; ${CURE}`)
  })

/** Takes segments out of a place that are damaged there. One that is whole again, because someone has put it back, stays. */
export const removeDamaged = (
  place: SegmentPlace["Service"],
  segments: ReadonlyArray<PlacedSegment>
): Effect.Effect<void, SegmentPlaceUnavailable> =>
  Effect.forEach(
    segments,
    (segment) =>
      readPlaced(place, segment).pipe(
        Effect.asVoid,
        Effect.catchTag("SegmentLost", ({ why }) => (why === "damaged" ? place.remove([segment.key]) : Effect.void))
      ),
    { discard: true }
  )

/** What of a store lies in a place apart. */
export interface PlaceReport {
  /** Where it is. */
  readonly place: string
  /** False where no place is named, so that nothing can be said of what lies there; otherwise left out. */
  readonly isNamed?: false
  /** How many segments the store has there. */
  readonly segments: number
  /** How many bytes these are. */
  readonly bytes: number
  /** How many were taken away that nothing refers to any more. */
  readonly removed: number
  /** Keys of segments that are not there, or have not their length. */
  readonly missing: ReadonlyArray<string>
  /** How many lie there under this store's name that it does not know: of a copy of it, or from before it was restored. */
  readonly unknown: number
}

interface KnownOfPlace {
  /** How the keys of the store begin. */
  readonly beginning: string
  readonly known: ReadonlyArray<PlacedObject>
  /** What may lie there and nothing refers to. */
  readonly noted: ReadonlyArray<string>
  readonly removed: number
}

/** Holds what lies in a place against what a store knows. */
export const reportOfPlace = (
  place: SegmentPlace["Service"] | undefined,
  { beginning, known, noted, removed }: KnownOfPlace
): Effect.Effect<PlaceReport, SegmentPlaceUnavailable> =>
  Effect.gen(function* () {
    const found = place === undefined ? [] : yield* place.list(`${beginning}/`)
    const bytes = new Map(found.map((each) => [each.key, each.bytes]))
    const ours = new Set([...known.map(({ key }) => key), ...noted])
    return {
      place: place?.says ?? "no place is given",
      ...defined({ isNamed: place === undefined ? (false as const) : undefined }),
      segments: known.length,
      bytes: known.reduce((sum, each) => sum + each.bytes, 0),
      removed,
      missing: known.filter((each) => bytes.get(each.key) !== each.bytes).map(({ key }) => key),
      unknown: found.filter(({ key }) => !ours.has(key)).length
    }
  })
