import { assert, it } from "@effect/vitest"

import { type Address, AssistantId, DEFAULT_TENANT } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { makeLocalQueue } from "../src/local-queue.ts"

const addressOf = (name: string): Address => ({ tenant: DEFAULT_TENANT, assistant: AssistantId.make(name) })

it.effect("L3 Q5 who stops waiting hands the earlier time on to who still waits", () =>
  Effect.gen(function* () {
    const queue = makeLocalQueue()
    const leaver = yield* Effect.forkChild(queue.take, { startImmediately: true })
    const stayer = yield* Effect.forkChild(queue.take, { startImmediately: true })
    yield* queue.wakeAt(addressOf("ada"), 1_000)
    yield* Effect.yieldNow
    yield* Fiber.interrupt(leaver)
    yield* TestClock.adjust(1_000)
    for (let turn = 0; turn < 10 && stayer.pollUnsafe() === undefined; turn++) yield* Effect.yieldNow
    assert.isDefined(stayer.pollUnsafe(), "the wake-up stays in the queue beside someone who waits")
    assert.strictEqual((yield* Fiber.join(stayer)).address.assistant, "ada")
  })
)

it.effect("Q4 Q5 later wake-ups that ripen together are handed out in the order of their times", () =>
  Effect.gen(function* () {
    const queue = makeLocalQueue()
    yield* queue.wakeAt(addressOf("ada"), 300)
    yield* queue.wakeAt(addressOf("bob"), 100)
    yield* queue.wakeAt(addressOf("cleo"), 200)
    yield* TestClock.adjust(1_000)
    const taken = yield* Effect.all([queue.take, queue.take, queue.take])
    assert.deepStrictEqual(
      taken.map(({ address }) => String(address.assistant)),
      ["bob", "cleo", "ada"]
    )
  })
)
