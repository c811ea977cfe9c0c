// Seats: which id a component takes and leaves.
// Owns finding a free id, and the versions that record it. Leaves the ranges to `scheme.ts`.
// E1  An id is taken by a version that expects it free: of two who take it at once, one has to look for another.
// E2  The id is the one wished for if that is free and lies in the range; otherwise the lowest free one of the range.

import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { NoPlaceAfter, PlacesTaken } from "../errors.ts"
import { allocatePluggableId, isReservedId, pluggableRange } from "../layout/scheme.ts"
import type { PromptChange } from "./store/prompt-store.ts"
import type { Overrides, StoreFailure } from "./overrides.ts"

export type NoSeat = NoPlaceAfter | PlacesTaken

const lineOf = (id: number) => ({ kind: "place" as const, key: String(id) })

const isWithin = (afterStatic: number, id: number): boolean => {
  const range = pluggableRange(afterStatic)
  if (Result.isFailure(range) || isReservedId(id)) return false
  return Number.isInteger(id) && id >= range.success.first && id <= range.success.last
}

/** The key of the component at an id. */
export const keyAt = (overrides: Overrides, id: number): Effect.Effect<string | undefined, StoreFailure> =>
  Effect.map(overrides.newest(lineOf(id)), (place) => (typeof place?.body === "string" ? place.body : undefined))

export interface Seat {
  readonly id: number
  /** What takes it; nothing when the component sits there already. */
  readonly changes: ReadonlyArray<PromptChange>
}

export interface SeatRequest {
  /** The id that is best. */
  readonly id?: number
  /** The id that the component has, and may keep. */
  readonly own?: number | undefined
}

/** A free id after a static component, for the component of this key. */
export const findSeat = (
  overrides: Overrides,
  key: string,
  afterStatic: number,
  { id: request, own }: SeatRequest = {}
): Effect.Effect<Seat, NoSeat | StoreFailure> =>
  Effect.gen(function* () {
    const taken = new Set((yield* overrides.components).map(({ id }) => id))
    if (own !== undefined) taken.delete(own)
    const isWished = request !== undefined && isWithin(afterStatic, request) && !taken.has(request)
    let id = isWished ? request : yield* Effect.fromResult(allocatePluggableId(taken, afterStatic))
    for (;;) {
      if (id === own) return { id, changes: [] }
      const place = yield* overrides.newest(lineOf(id))
      if (place === undefined || place.body === null) {
        return { id, changes: [{ ...lineOf(id), expected: place?.version ?? 0, body: key }] }
      }
      // Taken since the components were read.
      taken.add(id)
      id = yield* Effect.fromResult(allocatePluggableId(taken, afterStatic))
    }
  })

/** The change that leaves an id. */
export const leaveSeat = (overrides: Overrides, id: number): Effect.Effect<PromptChange, StoreFailure> =>
  Effect.map(overrides.newest(lineOf(id)), (place) => ({ ...lineOf(id), expected: place?.version ?? 0, body: null }))
