// Dying: a life that ends where a fault point is passed.
// Owns when it dies. Leaves the points to the runtime, and what survives to the test.

import type { FaultPoint } from "@reverie/runtime"
import * as Effect from "effect/Effect"
import type { Life, LifeOptions } from "./rig.ts"

/** Dies at the given passing of a point, of those passings that count. */
export const dying = (
  point: FaultPoint,
  passing: number,
  counts: (life: Life) => boolean = () => true
): Pick<LifeOptions, "faults" | "onCreation"> => {
  let passed = 0
  let life: Life | undefined
  return {
    onCreation: (created) => {
      life = created
    },
    faults: {
      at: (at) =>
        Effect.suspend(() => {
          if (at === point && life !== undefined && counts(life) && ++passed === passing) life.dead = true
          return life?.dead === true ? Effect.never : Effect.void
        })
    }
  }
}
