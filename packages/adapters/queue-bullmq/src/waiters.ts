// Waiters: those who wait for a wake-up.

import * as Effect from "effect/Effect"

export class Waiters {
  readonly #waiting = new Set<() => void>()

  get count(): number {
    return this.#waiting.size
  }

  rouseOne(): void {
    const [first] = this.#waiting
    if (first === undefined) return
    this.#waiting.delete(first)
    first()
  }

  /** Until roused. `then` runs as soon as it waits. */
  wait(then: () => void): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      const rouse = () => resume(Effect.void)
      this.#waiting.add(rouse)
      then()
      return Effect.sync(() => {
        this.#waiting.delete(rouse)
      })
    })
  }
}
