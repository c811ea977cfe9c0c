// Patience: how long a law waits for what must come, and by which clock.
// Owns the wait of adapters that live in this process. Leaves real waiting to an adapter that talks to a server: it
// provides its own patience together with its port.

import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as TestClock from "effect/testing/TestClock"

/** Turns of the scheduler that any answer inside one process needs at most. */
const TURNS = 50

export interface Waiting {
  /** The value if it comes in time. Anyone who gives up is interrupted. */
  readonly inTime: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<Option.Option<A>, E, R>
  /** Long enough for a forked fiber to reach its first wait. */
  readonly settle: Effect.Effect<void>
  /** The clock by which the adapter judges what is due, in milliseconds since the epoch. */
  readonly now: Effect.Effect<number>
  /** Lets that clock go on. */
  readonly pass: (millis: number) => Effect.Effect<void>
  /** The shortest time that is worth waiting for by that clock. */
  readonly momentMillis: number
}

const turnByTurn: Waiting = {
  inTime: Effect.fnUntraced(function* (effect) {
    const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
    for (let turn = 0; turn < TURNS && fiber.pollUnsafe() === undefined; turn++) yield* Effect.yieldNow
    if (fiber.pollUnsafe() !== undefined) return Option.some(yield* Fiber.join(fiber))
    yield* Fiber.interrupt(fiber)
    return Option.none()
  }),
  settle: Effect.gen(function* () {
    for (let turn = 0; turn < TURNS; turn++) yield* Effect.yieldNow
  }),
  now: Clock.currentTimeMillis,
  pass: (millis) => Effect.andThen(TestClock.adjust(millis), turnByTurn.settle),
  momentMillis: 1_000
}

/** Counts turns instead of time, unless the adapter under judgement brings its own. */
export const Patience = Context.Reference<Waiting>("@reverie/testkit/Patience", { defaultValue: () => turnByTurn })
