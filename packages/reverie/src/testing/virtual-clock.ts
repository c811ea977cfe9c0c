// VirtualClock: the time of a fleet under test, which stands until the test moves it.
// Owns the time, those who sleep by it, and the words for times. Leaves when it may move to test-clock.ts.
// V1  Time never passes by itself and never goes back. A sleeper is woken when the clock has reached its very time, in
//     the order of the times.
// V2  Every reading, every sleep and every end of one is counted: a fleet that uses no time and ends no call is quiet.
// V3  Sleeps of a test's own code (models, tools) are kept apart from those of the fleet: a call that sleeps waits for time.

import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { TimeRefused } from "./errors.ts"

const NANOS_PER_MILLI = 1_000_000n

interface Sleeper {
  readonly dueAt: number
  readonly order: number
  readonly wake: () => void
}

export class VirtualClock implements Clock.Clock {
  /** Milliseconds since the epoch. */
  now: number
  /** Grows with everything that happens by this clock. */
  activity = 0
  /** Sleeps under way that belong to a model or a tool. */
  ownSleeps = 0
  readonly #sleepers = new Set<Sleeper>()
  #order = 0

  constructor(now: number) {
    this.now = now
  }

  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly monotonicTimeNanos = Effect.sync(() => this.monotonicTimeNanosUnsafe())

  currentTimeMillisUnsafe(): number {
    this.activity++
    return this.now
  }

  currentTimeNanosUnsafe(): bigint {
    return BigInt(Math.trunc(this.currentTimeMillisUnsafe())) * NANOS_PER_MILLI
  }

  monotonicTimeNanosUnsafe(): bigint {
    return this.currentTimeNanosUnsafe()
  }

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      const stop = this.wakeAfter(Duration.toMillis(duration), () => resume(Effect.void))
      return Effect.sync(stop)
    })
  }

  /** Calls back once the time has come. Answers how to call it off. */
  wakeAfter(millis: number, wake: () => void): () => void {
    this.activity++
    if (!Number.isFinite(millis)) return () => {}
    const sleeper = { dueAt: this.now + Math.max(0, millis), order: this.#order++, wake }
    this.#sleepers.add(sleeper)
    return () => {
      this.activity++
      this.#sleepers.delete(sleeper)
    }
  }

  /** When the next sleeper is to be woken; Infinity without any. */
  nextAt(): number {
    let next = Number.POSITIVE_INFINITY
    for (const { dueAt } of this.#sleepers) next = Math.min(next, dueAt)
    return next
  }

  /** Moves to a time, and wakes those who slept until then. */
  moveTo(time: number): void {
    this.now = Math.max(this.now, time)
    const woken = [...this.#sleepers].filter(({ dueAt }) => dueAt <= this.now)
    for (const sleeper of woken.toSorted((a, b) => a.dueAt - b.dueAt || a.order - b.order)) {
      this.#sleepers.delete(sleeper)
      this.activity++
      sleeper.wake()
    }
  }

  /** The same clock for a model or a tool: its sleeps are those of a call. */
  readonly ofCalls: Clock.Clock = this.#view(
    () => this.currentTimeMillisUnsafe(),
    (duration) =>
      Effect.suspend(() => {
        this.ownSleeps++
        return Effect.ensuring(
          this.sleep(duration),
          Effect.sync(() => this.ownSleeps--)
        )
      })
  )

  /** The same time, for who only looks on: reading it is no activity. */
  readonly unnoticed: Clock.Clock = this.#view(
    () => this.now,
    (duration) => this.sleep(duration)
  )

  #view(millis: () => number, sleep: Clock.Clock["sleep"]): Clock.Clock {
    const nanos = () => BigInt(Math.trunc(millis())) * NANOS_PER_MILLI
    return {
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanos: Effect.sync(nanos),
      currentTimeMillisUnsafe: millis,
      currentTimeNanosUnsafe: nanos,
      monotonicTimeNanosUnsafe: nanos,
      sleep
    }
  }
}

/** Milliseconds, or a number with a unit: `"250ms"`, `"20s"`, `"5 min"`, `"8h"`, `"2 days"`. */
export type Span = number | string

const units: ReadonlyArray<readonly [RegExp, number]> = [
  [/^(?:ms|millis|milliseconds?)$/, 1],
  [/^(?:s|sec|seconds?)$/, 1_000],
  [/^(?:m|min|minutes?)$/, 60_000],
  [/^(?:h|hours?)$/, 3_600_000],
  [/^(?:d|days?)$/, 86_400_000]
]

/** The milliseconds of a span. Throws TimeRefused with one sentence. */
export const millisOf = (span: Span): number => {
  const [, count = "", unit = ""] = typeof span === "number" ? ["", `${span}`, "ms"] : (SPAN.exec(span.trim()) ?? [])
  const [, factor] = units.find(([name]) => name.test(unit)) ?? []
  const millis = Number(count) * (factor ?? Number.NaN)
  if (count !== "" && Number.isFinite(millis) && millis >= 0) return millis
  const message = `${JSON.stringify(span)} is no duration: say milliseconds, or a number with ms, s, min, h or d ("8h")`
  throw new TimeRefused({ message })
}

const SPAN = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/i

/** A date, milliseconds since the epoch, an ISO text (UTC where it names no zone), or the next `HH:MM` of UTC. */
export type Moment = Date | number | string

const DAY_MILLIS = 86_400_000

/** Milliseconds since the epoch. Throws TimeRefused with one sentence. */
export const timeOf = (moment: Moment, now: number): number => {
  const time = typeof moment === "string" ? timeIn(moment, now) : Number(moment)
  if (Number.isFinite(time)) return time
  const message = `${JSON.stringify(moment)} is no time: say a Date, an ISO text ("2026-01-05T03:00"), or "HH:MM"`
  throw new TimeRefused({ message })
}

const timeIn = (text: string, now: number): number => {
  const [, hours, minutes] = /^(\d\d):(\d\d)$/.exec(text) ?? []
  if (hours === undefined || minutes === undefined) {
    return Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/i.test(text) || !text.includes("T") ? text : `${text}Z`)
  }
  const today = Math.floor(now / DAY_MILLIS) * DAY_MILLIS + (Number(hours) * 60 + Number(minutes)) * 60_000
  return today > now ? today : today + DAY_MILLIS
}
