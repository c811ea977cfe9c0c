// HeldClock: a clock that stands where it was put.
// Owns the time of a sandbox. Leaves real waiting to the clock that it was made from.
// H1  Nothing passes by itself: anyone who sleeps by it sleeps until he is interrupted.

import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

const NANOS_PER_MILLI = 1_000_000n

export class HeldClock implements Clock.Clock {
  #now: number

  /** Milliseconds since the epoch. */
  constructor(now: number) {
    this.#now = now
  }

  /** Never back: what was later stays. */
  forward(to: number): void {
    this.#now = Math.max(this.#now, to)
  }

  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly monotonicTimeNanos = Effect.sync(() => this.monotonicTimeNanosUnsafe())

  currentTimeMillisUnsafe(): number {
    return this.#now
  }

  currentTimeNanosUnsafe(): bigint {
    return BigInt(this.#now) * NANOS_PER_MILLI
  }

  monotonicTimeNanosUnsafe(): bigint {
    return this.currentTimeNanosUnsafe()
  }

  sleep(): Effect.Effect<void> {
    return Effect.never
  }
}
