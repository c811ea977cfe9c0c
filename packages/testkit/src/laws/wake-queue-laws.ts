// Wake-queue laws: hints may be lost with the process, but not before (mailbox Q1-Q4).

import * as assert from "node:assert/strict"
import { WakeQueue } from "@reverie/mailbox"
import { type Address, addressKey } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import { anAddress } from "../fixtures.ts"
import type { Law } from "../law.ts"
import { Patience } from "../patience.ts"

const [ada, bob, cleo] = [anAddress("ada"), anAddress("bob"), anAddress("cleo")]

const wake = (...addresses: ReadonlyArray<Address>) =>
  WakeQueue.use((queue) => Effect.forEach(addresses, (address) => queue.wake(address)))

const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { inTime } = yield* Patience
    const value = yield* inTime(effect)
    assert.ok(Option.isSome(value), "a hint that was given is not handed out")
    return value.value
  })

/** Takes as many hints as are expected, and asserts that they are these, in this order. */
const takes = (...expected: ReadonlyArray<Address>) =>
  Effect.gen(function* () {
    const { take } = yield* WakeQueue
    const taken: Array<string> = []
    for (const _ of expected) taken.push(addressKey(yield* inTime(take)))
    assert.deepEqual(taken, expected.map(addressKey))
  })

/** Somebody who waits for a hint, in the background. */
const taker = Effect.gen(function* () {
  const { take } = yield* WakeQueue
  const { settle } = yield* Patience
  const fiber = yield* Effect.forkChild(take)
  yield* settle
  return fiber
})

const handed: ReadonlyArray<Law<WakeQueue>> = [
  {
    id: "Q1.given",
    says: "a hint is handed out, with the address it was given for",
    check: Effect.gen(function* () {
      yield* wake(ada)
      yield* takes(ada)
      yield* wake(bob)
      yield* takes(bob)
    })
  },
  {
    id: "Q1.waiting",
    says: "who already waits is handed the hint that comes later",
    check: Effect.gen(function* () {
      const fiber = yield* taker
      assert.equal(fiber.pollUnsafe(), undefined)
      yield* wake(ada)
      assert.deepEqual({ ...(yield* inTime(Fiber.join(fiber))) }, ada)
      yield* wake(bob)
      yield* takes(bob)
    })
  },
  {
    id: "Q1.takers",
    says: "many who wait are handed one hint each, and none is left over",
    check: Effect.gen(function* () {
      const fibers = [yield* taker, yield* taker, yield* taker]
      yield* wake(ada, bob, cleo)
      const taken = yield* Effect.forEach(fibers, (fiber) => inTime(Fiber.join(fiber)))
      assert.deepEqual(taken.map(addressKey).toSorted(), [ada, bob, cleo].map(addressKey))
    })
  },
  {
    id: "Q1.interrupted",
    says: "who stops waiting takes no hint with it",
    check: Effect.gen(function* () {
      yield* Fiber.interrupt(yield* taker)
      yield* wake(ada)
      yield* takes(ada)
      const fiber = yield* taker
      yield* wake(bob)
      yield* Fiber.interrupt(fiber)
      const exit = yield* Fiber.await(fiber)
      if (Exit.isFailure(exit)) yield* takes(bob)
      else assert.deepEqual({ ...exit.value }, bob)
      const [leaver, stayer] = [yield* taker, yield* taker]
      yield* wake(cleo)
      yield* Fiber.interrupt(leaver)
      const left = yield* Fiber.await(leaver)
      if (Exit.isFailure(left)) assert.deepEqual({ ...(yield* inTime(Fiber.join(stayer))) }, cleo)
      else {
        yield* wake(ada)
        assert.deepEqual({ ...(yield* inTime(Fiber.join(stayer))) }, ada)
      }
    })
  }
]

const collapsed: ReadonlyArray<Law<WakeQueue>> = [
  {
    id: "Q2.once",
    says: "hints for one assistant that nobody has taken are handed out as one",
    check: Effect.gen(function* () {
      yield* wake(ada, ada, bob, ada, bob)
      yield* takes(ada, bob)
      yield* wake(cleo)
      yield* takes(cleo)
    })
  },
  {
    id: "Q2.apart",
    says: "namesakes of different tenants do not collapse",
    check: Effect.gen(function* () {
      const namesake = anAddress("ada", "quay")
      yield* wake(ada, namesake, ada)
      yield* takes(ada, namesake)
    })
  },
  {
    id: "Q3.again",
    says: "a hint given after the one before was taken is handed out again, every time",
    check: Effect.gen(function* () {
      yield* wake(ada)
      for (let round = 0; round < 3; round++) {
        yield* takes(ada)
        yield* wake(ada, ada)
      }
      yield* takes(ada)
      const fiber = yield* taker
      yield* wake(ada)
      yield* inTime(Fiber.join(fiber))
      yield* wake(ada)
      yield* takes(ada)
    })
  },
  {
    id: "Q4.order",
    says: "hints are handed out in the order in which they were first given",
    check: Effect.gen(function* () {
      yield* wake(cleo, ada, bob, ada, cleo)
      yield* takes(cleo, ada, bob)
    })
  },
  {
    id: "Q4.behind",
    says: "a hint that is given again after it was taken stands behind those that wait",
    check: Effect.gen(function* () {
      yield* wake(ada, bob, cleo)
      yield* takes(ada)
      yield* wake(ada)
      yield* takes(bob, cleo, ada)
    })
  }
]

export const wakeQueueLaws: ReadonlyArray<Law<WakeQueue>> = [...handed, ...collapsed]
