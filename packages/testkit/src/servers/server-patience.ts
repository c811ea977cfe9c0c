// ServerPatience: how long a law waits for an adapter that talks to a real server.
// Owns the machine's clock as laws see it. Leaves what is waited for to the laws.

import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { Patience, type Waiting } from "../patience.ts"

/** Ends what never comes. It measures nothing: the machine may be slow and busy. */
const PATIENCE_MILLIS = 20_000

/** Long enough for a fetch to reach the server and block there. */
const SETTLE_MILLIS = 50

/** Waits by the machine's clock, whatever the Effect clock is. */
const pause = (millis: number): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const timer = setTimeout(() => resume(Effect.void), millis)
    return Effect.sync(() => clearTimeout(timer))
  })

export const serverPatience: Waiting = {
  inTime: Effect.fnUntraced(function* (effect) {
    const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
    yield* Effect.race(Effect.asVoid(Fiber.await(fiber)), pause(PATIENCE_MILLIS))
    if (fiber.pollUnsafe() !== undefined) return Option.some(yield* Fiber.join(fiber))
    yield* Fiber.interrupt(fiber)
    return Option.none()
  }),
  settle: pause(SETTLE_MILLIS),
  now: Effect.sync(() => Date.now()),
  pass: pause,
  momentMillis: 150
}

/** The adapter of a server, with the patience that laws need with it. */
export const withServerPatience = <A, E>(layer: Layer.Layer<A, E>): Layer.Layer<A, E> =>
  Layer.merge(layer, Layer.succeed(Patience, serverPatience))
