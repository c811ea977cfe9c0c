// Place: a queue of its own for each law and test, on a server that several of them share.

import { queueBullmqLayer, type QueueBullmqOptions } from "@reverie/queue-bullmq"
import { Patience, type Waiting } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"

/** How long anything may take that must come. */
const PATIENCE_MILLIS = 20_000

/** Long enough for a fetch to reach the server and block there. */
const SETTLE_MILLIS = 50

export const pause = (millis: number) =>
  Effect.callback<void>((resume) => {
    const timer = setTimeout(() => resume(Effect.void), millis)
    return Effect.sync(() => clearTimeout(timer))
  })

/** Waits by the machine's clock, as a server does. */
export const realPatience: Waiting = {
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

let places = 0

export const optionsAt = (
  backend: QueueBullmqOptions["backend"],
  options: Partial<QueueBullmqOptions> = {}
): QueueBullmqOptions => ({
  backend,
  prefix: `place-${process.pid}-${++places}`,
  concurrency: 16,
  drainMillis: 50,
  ...options
})

export const withRealPatience = <A, E>(layer: Layer.Layer<A, E>): Layer.Layer<A, E> =>
  Layer.merge(layer, Layer.succeed(Patience, realPatience))

export const queueAt = (backend: QueueBullmqOptions["backend"], options: Partial<QueueBullmqOptions> = {}) =>
  withRealPatience(queueBullmqLayer(optionsAt(backend, options)))

/** What hints carried by PostgreSQL can not keep. */
export const postgresWaivers = {
  "Q2.inHand": "BullMQ keeps the last hint given while a job is active, and no script of ours looks at it here"
}
