// Steps: a hand on the worker: it stops after every commit of one assistant until it is let go.
// Owns the gate at the fault point `after-commit`. Leaves what is looked at meanwhile to the test.
// T1  What was committed is durable while the worker stands still: a page can be asked what it shows.

import type { FaultPoint } from "@reverie/runtime"
import * as Effect from "effect/Effect"

export class Steps {
  /** Holds anyone who is called so; no one when undefined. */
  of: string | undefined
  #release: (() => void) | undefined

  readonly faults = {
    at: (point: FaultPoint, { assistant }: { readonly assistant: string }): Effect.Effect<void> =>
      point === "after-commit" && assistant === this.of
        ? Effect.promise(() => new Promise<void>((resolve) => (this.#release = resolve)))
        : Effect.void
  }

  get isHeld(): boolean {
    return this.#release !== undefined
  }

  /** Lets the worker go on to the next commit. */
  go(): void {
    const release = this.#release
    this.#release = undefined
    release?.()
  }
}
