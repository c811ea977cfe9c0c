// Faults: named points at which a test may stop, delay or kill.
// Owns the closed list, one point between every two durable steps. Leaves what happens there to tests; by default nothing.

import type { Address } from "@reverie/protocol"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

export const faultPoints = [
  "before-accept",
  "after-accept",
  "after-claim",
  "before-model",
  "after-model",
  "before-tool",
  "after-tool",
  "before-commit",
  "after-commit",
  "before-deliver",
  "after-deliver"
] as const
export type FaultPoint = (typeof faultPoints)[number]

export const Faults = Context.Reference<{
  readonly at: (point: FaultPoint, address: Address) => Effect.Effect<void>
}>("@reverie/runtime/Faults", { defaultValue: () => ({ at: () => Effect.void }) })
