// TestClock: the clock of fleets under test, in the hands of a test.
// Owns when it moves: step by step, from one sleeper to the next, and never before everything that an earlier time brought
// about is done. Leaves what is done to the stages of the fleets that live by it.
// C1  Whatever is due on the way happens at its very time, and in the order of times: no night, deadline or timer is skipped.
// C2  One at a time moves it: of two that a test moves it by, the second waits for the first, and by itself it does not move
//     while a test moves it.
// C3  While an answer is waited for it moves by itself, as far as what is in hand needs it: a slow model, a tool that sleeps,
//     a pause between two tries. It never moves by itself past a person who is asked.

import * as Effect from "effect/Effect"
import { TimeRefused } from "./errors.ts"
import type { Stage, Standing } from "./stage.ts"
import { millisOf, type Moment, type Span, timeOf, VirtualClock } from "./virtual-clock.ts"

/** Monday morning: a fixed beginning makes a test the same every day. */
const DEFAULT_START = Date.UTC(2026, 0, 5, 9)

/** Nothing that has not ended after so long will end. */
const LONGEST_WAIT_MILLIS = 366 * 86_400_000

const IDLE_LOOK_MILLIS = 2
const LONE_TURNS = 4

/** A clock that stands still until a test moves it. */
export class TestClock {
  /** For the ground of a fleet. */
  readonly virtual: VirtualClock
  readonly #stages = new Set<Stage>()
  #line: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #travels = 0
  /** The activity at which everything was settled last. */
  #settledAt = -1
  #isMoving = false

  constructor(start: number) {
    this.virtual = new VirtualClock(start)
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return this.virtual.now
  }

  /** The same as a date. */
  get date(): Date {
    return new Date(this.virtual.now)
  }

  /**
   * Lets time pass, and resolves when everything has happened that was due on the way: nights, timers, deadlines.
   * Rejects with TimeRefused when it is no duration, and with ScriptBroken when a scripted model was asked too much.
   * @example
   * await fleet.clock.advance("8h")
   */
  async advance(span: Span): Promise<void> {
    const millis = millisOf(span)
    return this.#alone(() => this.#travel(this.virtual.now + millis))
  }

  /**
   * Lets time pass until a moment: a Date, milliseconds, an ISO text (UTC when it names no zone), or the next `HH:MM` of UTC.
   * Rejects with TimeRefused when that is past.
   * @example
   * await fleet.clock.advanceTo("03:00")
   */
  async advanceTo(moment: Moment): Promise<void> {
    const { now } = this.virtual
    const until = timeOf(moment, now)
    if (until < now) {
      const [wanted, present] = [until, now].map((time) => new Date(time).toISOString())
      throw new TimeRefused({ message: `${wanted} is past: the clock stands at ${present}, and only goes forward` })
    }
    return this.#alone(() => this.#travel(until))
  }

  /**
   * Resolves when so much time has passed by this clock; for the tools and models of a test. Rejects with the reason of
   * `signal` when that is aborted first.
   * @example
   * run: async (_, { signal }) => { await clock.sleep("10 min", { signal }); return "loaded" }
   */
  sleep(span: Span, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const millis = millisOf(span)
    return new Promise((resolve, reject) => {
      const { virtual } = this
      const leave = (end: () => void) => () => {
        virtual.ownSleeps--
        signal?.removeEventListener("abort", aborted)
        stop()
        end()
      }
      const aborted = leave(() => reject(signal?.reason as Error))
      virtual.ownSleeps++
      const stop = virtual.wakeAfter(millis, leave(resolve))
      if (signal?.aborted === true) aborted()
      else signal?.addEventListener("abort", aborted)
    })
  }

  /** From now on nothing on this stage is left undone before the clock moves. Answers how to leave it. */
  attach(stage: Stage): () => void {
    this.#stages.add(stage)
    return () => {
      this.#stages.delete(stage)
    }
  }

  /** Moves as far as it takes until everybody is at rest, and on as long as a timer is due within the patience. */
  async toRest(stage: Stage, patienceMillis: number): Promise<void> {
    const begun = this.virtual.now
    const until = begun + patienceMillis
    while (true) {
      const standing = await this.#settled(false)
      if (standing === "rest" && (await stage.nextTimerAt()) > until) return
      const next = this.virtual.nextAt()
      if (stage.isClosed || !Number.isFinite(next)) return
      if (next - begun > LONGEST_WAIT_MILLIS) {
        throw new TimeRefused({ message: "the fleet did not come to rest within a year of its own time" })
      }
      await this.#moveOn()
    }
  }

  /** C3, until the end is called. */
  keepMoving(): () => void {
    this.#waiting++
    if (!this.#isMoving) {
      this.#isMoving = true
      void this.#moveWhileWaiting()
    }
    return () => {
      this.#waiting--
    }
  }

  async #moveWhileWaiting(): Promise<void> {
    try {
      while (this.#waiting > 0) {
        const isTime = (await this.#settled(false)) === "time"
        if (isTime && this.#waiting > 0) await this.#moveOn()
        else await Effect.runPromise(Effect.sleep(IDLE_LOOK_MILLIS))
      }
    } finally {
      this.#isMoving = false
    }
  }

  /** To the next sleeper, when nothing has happened since everything was settled; a test that moves the clock goes first. */
  async #moveOn(): Promise<void> {
    if (this.#travels > 0) return Effect.runPromise(Effect.sleep(IDLE_LOOK_MILLIS))
    const next = this.virtual.nextAt()
    if (this.virtual.activity === this.#settledAt && Number.isFinite(next)) this.virtual.moveTo(next)
  }

  async #travel(until: number): Promise<void> {
    await this.#settled(true)
    for (let next = this.virtual.nextAt(); next <= until; next = this.virtual.nextAt()) {
      this.virtual.moveTo(next)
      await this.#settled(true)
    }
    this.virtual.moveTo(until)
    await this.#settled(true)
    for (const stage of this.#stages) stage.assertSound()
  }

  /** What one fleet does may wake another one that lives by the same clock. */
  async #settled(isPatient: boolean): Promise<Standing> {
    // Without a fleet there is only code of the test to be let on.
    for (let turns = 0; turns < LONE_TURNS && this.#stages.size === 0; turns++) await Effect.runPromise(Effect.yieldNow)
    while (true) {
      let standing: Standing = "rest"
      for (const stage of this.#stages) {
        this.#settledAt = this.virtual.activity
        if ((await stage.settled(isPatient)) === "time") standing = "time"
      }
      if (this.#stages.size > 1 && this.virtual.activity !== this.#settledAt) continue
      this.#settledAt = this.virtual.activity
      return standing
    }
  }

  /** C2. */
  #alone(work: () => Promise<void>): Promise<void> {
    this.#travels++
    const done = this.#line.then(work).finally(() => {
      this.#travels--
    })
    this.#line = done.catch(() => {})
    return done
  }
}

/**
 * A clock before there is a fleet, for tools that sleep by it; hand it to `testFleet(fleet, { clock })`. It begins on
 * 2026-01-05 at 09:00 UTC when no moment is said.
 * @example
 * const clock = testClock("2026-03-01T22:00")
 */
export const testClock = (start: Moment = DEFAULT_START): TestClock => new TestClock(timeOf(start, DEFAULT_START))
