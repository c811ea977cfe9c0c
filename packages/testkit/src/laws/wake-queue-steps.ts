// Wake-queue steps: what laws of a queue do over and over, said once.
// Owns the short forms over the port, and waiting by the adapter's own clock. Leaves every other assertion to the laws.

import * as assert from "node:assert/strict"
import { WakeQueue, type WakeUp } from "@reverie/mailbox"
import { type Address, addressKey, type Urgency } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import { Patience } from "../patience.ts"

export const wakeAs = (urgency: Urgency, ...addresses: ReadonlyArray<Address>) =>
  WakeQueue.use((queue) => Effect.forEach(addresses, (address) => queue.wake(address, urgency), { discard: true }))

export const wake = (...addresses: ReadonlyArray<Address>) => wakeAs("person", ...addresses)

export const wakeAt = (address: Address, dueAt: number) => WakeQueue.use((queue) => queue.wakeAt(address, dueAt))

const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { inTime } = yield* Patience
    const value = yield* inTime(effect)
    assert.ok(Option.isSome(value), "a wake-up that was given is not handed out")
    return value.value
  })

/** The next wake-up, which stays in hand. */
export const hold = (expected: Address) =>
  Effect.gen(function* () {
    const wakeUp = yield* inTime((yield* WakeQueue).take)
    assert.equal(addressKey(wakeUp.address), addressKey(expected))
    return wakeUp
  })

/** Takes as many wake-ups as are expected, handles each, and asserts that they are these, in this order. */
export const takes = (...expected: ReadonlyArray<Address>) =>
  Effect.gen(function* () {
    const { take } = yield* WakeQueue
    const taken: Array<string> = []
    for (const _ of expected) {
      const { address, done } = yield* inTime(take)
      taken.push(addressKey(address))
      yield* done
    }
    assert.deepEqual(taken, expected.map(addressKey))
  })

/** Someone who waits for a wake-up, in the background. */
export const taker = Effect.gen(function* () {
  const { take } = yield* WakeQueue
  const { settle } = yield* Patience
  const fiber = yield* Effect.forkChild(take)
  yield* settle
  return fiber
})

/** Handles what someone was handed, and answers for whom it was. */
export const handledBy = (fiber: Fiber.Fiber<WakeUp>) =>
  Effect.gen(function* () {
    const { address, done } = yield* inTime(Fiber.join(fiber))
    yield* done
    return addressKey(address)
  })

const moments = (count: number) => Effect.map(Patience, ({ momentMillis }) => count * momentMillis)

/** The time so many moments from now, by the adapter's clock. */
export const inMoments = (count: number) =>
  Effect.gen(function* () {
    const { now } = yield* Patience
    return (yield* now) + (yield* moments(count))
  })

/** Someone waits; no one else touches the queue. Asserts that the wake-up comes when its time has come, and not before. */
export const comesAt = (address: Address, dueAt: number) =>
  Effect.gen(function* () {
    const { now, pass, momentMillis } = yield* Patience
    const fiber = yield* taker
    while (fiber.pollUnsafe() === undefined && (yield* now) < dueAt) {
      yield* pass(Math.min(momentMillis, dueAt - (yield* now)))
    }
    const key = yield* handledBy(fiber)
    assert.ok((yield* now) >= dueAt, "a wake-up for later is handed out before its time")
    assert.equal(key, addressKey(address))
  })
