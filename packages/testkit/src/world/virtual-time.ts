// VirtualTime: a scheduler and a clock that move only when the world moves them.
// Owns the order in which fibers run and time passes. Leaves what runs to the code that forks on it.
// V1  Nothing runs by itself: every task waits until `step` picks it, in an order drawn from fate.
// V2  Time stands still while anything can run, then jumps to the next sleeper.
// V3  Fibers are interrupted between any two operations now and then, so that interleavings are not only those of sleeps.

import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scheduler from "effect/Scheduler"
import type { Fate } from "./fate.ts"

interface Sleeper {
  readonly dueAt: number
  readonly order: number
  readonly wake: () => void
}

const START_MILLIS = Date.UTC(2026, 0, 1)

export class VirtualTime {
  now = START_MILLIS
  readonly #fate: Fate
  readonly #tasks: Array<() => void> = []
  #sleepers: Array<Sleeper> = []
  #order = 0
  #patience = 64

  constructor(fate: Fate) {
    this.#fate = fate
  }

  readonly scheduler: Scheduler.Scheduler = {
    executionMode: "async",
    shouldYield: (fiber) => {
      if (fiber.currentOpCount < this.#patience) return false
      this.#patience = this.#fate.between(8, 256)
      return true
    },
    makeDispatcher: () => ({
      scheduleTask: (task) => {
        this.#tasks.push(task)
      },
      flush: () => {}
    })
  }

  readonly clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => this.now,
    currentTimeMillis: Effect.sync(() => this.now),
    currentTimeNanosUnsafe: () => BigInt(this.now) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(this.now) * 1_000_000n),
    monotonicTimeNanos: Effect.sync(() => BigInt(this.now) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => BigInt(this.now) * 1_000_000n,
    sleep: (duration) =>
      Effect.callback<void>((resume) => {
        const millis = Duration.toMillis(duration)
        if (!Number.isFinite(millis)) return
        const sleeper = { dueAt: this.now + millis, order: this.#order++, wake: () => resume(Effect.void) }
        this.#sleepers.push(sleeper)
        return Effect.sync(() => {
          this.#sleepers = this.#sleepers.filter((each) => each !== sleeper)
        })
      })
  }

  /** Runs one task, or lets time jump to the next sleeper. False when nothing is left to happen. */
  step(): boolean {
    if (this.#tasks.length > 0) {
      const index = this.#fate.between(0, this.#tasks.length - 1)
      const last = this.#tasks.length - 1
      const task = this.#tasks[index]!
      this.#tasks[index] = this.#tasks[last]!
      this.#tasks.pop()
      task()
      return true
    }
    const [first, ...others] = this.#sleepers
    if (first === undefined) return false
    const next = others.reduce(
      (soonest, each) =>
        each.dueAt < soonest.dueAt || (each.dueAt === soonest.dueAt && each.order < soonest.order) ? each : soonest,
      first
    )
    this.#sleepers = this.#sleepers.filter((each) => each !== next)
    this.now = Math.max(this.now, next.dueAt)
    next.wake()
    return true
  }
}
