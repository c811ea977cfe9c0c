// Wake-queue laws: wake-ups may be lost with the process, but not before (mailbox Q1-Q6).

import * as assert from "node:assert/strict"
import type { WakeQueue } from "@reverie/mailbox"
import { addressKey } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { anAddress } from "../fixtures.ts"
import type { Law } from "../law.ts"
import { wakeQueueLaterLaws } from "./wake-queue-later-laws.ts"
import { handledBy, hold, taker, takes, wake, wakeAs } from "./wake-queue-steps.ts"

const [ada, bob, cleo] = [anAddress("ada"), anAddress("bob"), anAddress("cleo")]

const handed: ReadonlyArray<Law<WakeQueue>> = [
  {
    id: "Q1.given",
    says: "a wake-up is handed out, with the address it was given for",
    check: Effect.gen(function* () {
      yield* wake(ada)
      yield* takes(ada)
      yield* wake(bob)
      yield* takes(bob)
    })
  },
  {
    id: "Q1.waiting",
    says: "who already waits is handed the wake-up that comes later",
    check: Effect.gen(function* () {
      const fiber = yield* taker
      assert.equal(fiber.pollUnsafe(), undefined)
      yield* wake(ada)
      assert.equal(yield* handledBy(fiber), addressKey(ada))
      yield* wake(bob)
      yield* takes(bob)
    })
  },
  {
    id: "Q1.waiters",
    says: "many who wait are handed one wake-up each, and none is left over",
    check: Effect.gen(function* () {
      const fibers = [yield* taker, yield* taker, yield* taker]
      yield* wake(ada, bob, cleo)
      const taken = yield* Effect.forEach(fibers, handledBy)
      assert.deepEqual(taken.toSorted(), [ada, bob, cleo].map(addressKey))
    })
  },
  {
    id: "Q1.interrupted",
    says: "who stops waiting takes no wake-up with it",
    check: Effect.gen(function* () {
      yield* Fiber.interrupt(yield* taker)
      yield* wake(ada)
      yield* takes(ada)
      const fiber = yield* taker
      yield* wake(bob)
      yield* Fiber.interrupt(fiber)
      if (Exit.isFailure(yield* Fiber.await(fiber))) yield* takes(bob)
      else assert.equal(yield* handledBy(fiber), addressKey(bob))
      const [leaver, stayer] = [yield* taker, yield* taker]
      yield* wake(cleo)
      yield* Fiber.interrupt(leaver)
      if (Exit.isFailure(yield* Fiber.await(leaver))) assert.equal(yield* handledBy(stayer), addressKey(cleo))
      else {
        yield* handledBy(leaver)
        yield* wake(ada)
        assert.equal(yield* handledBy(stayer), addressKey(ada))
      }
    })
  }
]

const collapsed: ReadonlyArray<Law<WakeQueue>> = [
  {
    id: "Q2.once",
    says: "wake-ups for one assistant that no one has taken are handed out as one",
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
    id: "Q2.raised",
    says: "a wake-up that waits becomes as urgent as the most urgent one that joins it, and is still one",
    check: Effect.gen(function* () {
      yield* wakeAs("routine", ada)
      yield* wakeAs("person", bob)
      yield* wakeAs("order", ada)
      yield* wakeAs("routine", cleo)
      yield* takes(ada, bob, cleo)
    })
  },
  {
    id: "Q2.kept",
    says: "a wake-up that waits does not become less urgent by one that joins it",
    check: Effect.gen(function* () {
      yield* wakeAs("person", ada, bob)
      yield* wakeAs("routine", ada)
      yield* wakeAs("person", cleo)
      yield* takes(ada, bob, cleo)
    })
  },
  {
    id: "Q2.in-hand",
    says: "of wake-ups given while their assistant is handled, the most urgent counts as well",
    check: Effect.gen(function* () {
      yield* wake(ada)
      const { done } = yield* hold(ada)
      yield* wakeAs("routine", bob)
      yield* wakeAs("person", ada)
      yield* wakeAs("routine", ada)
      yield* done
      yield* takes(ada, bob)
    })
  },
  {
    id: "Q4.order",
    says: "wake-ups are handed out in the order in which they were first given",
    check: Effect.gen(function* () {
      yield* wake(cleo, ada, bob, ada, cleo)
      yield* takes(cleo, ada, bob)
    })
  },
  {
    id: "Q4.behind",
    says: "a wake-up that is given again after it was taken stands behind those that wait",
    check: Effect.gen(function* () {
      yield* wake(ada, bob, cleo)
      yield* takes(ada)
      yield* wake(ada)
      yield* takes(bob, cleo, ada)
    })
  },
  {
    id: "Q4.urgent",
    says: "an order is handed out before what people wait for, and that before routine",
    check: Effect.gen(function* () {
      yield* wakeAs("routine", ada)
      yield* wakeAs("person", bob)
      yield* wakeAs("order", cleo)
      yield* takes(cleo, bob, ada)
    })
  }
]

const inHand: ReadonlyArray<Law<WakeQueue>> = [
  {
    id: "Q3.again",
    says: "a wake-up given after the one before was taken is handed out again, every time",
    check: Effect.gen(function* () {
      yield* wake(ada)
      for (let round = 0; round < 3; round++) {
        const { done } = yield* hold(ada)
        yield* wake(ada, ada)
        yield* done
      }
      yield* takes(ada)
      const fiber = yield* taker
      yield* wake(ada)
      yield* handledBy(fiber)
      yield* wake(ada)
      yield* takes(ada)
    })
  },
  {
    id: "Q3.waited",
    says: "a wake-up given while its assistant is handled reaches who waits for one, at once or with the end of the handling",
    check: Effect.gen(function* () {
      yield* wake(ada)
      const { done } = yield* hold(ada)
      const fiber = yield* taker
      yield* wake(ada)
      yield* done
      assert.equal(yield* handledBy(fiber), addressKey(ada))
    })
  },
  {
    id: "Q3.others",
    says: "while one assistant is handled, wake-ups for others are handed out",
    check: Effect.gen(function* () {
      yield* wake(ada)
      const { done } = yield* hold(ada)
      yield* wake(bob, cleo)
      yield* takes(bob, cleo)
      yield* done
      yield* wake(ada)
      yield* takes(ada)
    })
  },
  {
    id: "Q3.done",
    says: "to say twice that a wake-up is done is to say it once: it takes no later wake-up away and gives none",
    check: Effect.gen(function* () {
      yield* wake(ada)
      const first = yield* hold(ada)
      yield* wake(ada)
      yield* first.done
      yield* first.done
      const second = yield* hold(ada)
      yield* wake(ada)
      yield* first.done
      yield* second.done
      yield* takes(ada)
      yield* first.done
      yield* wake(bob)
      yield* takes(bob)
    })
  },
  {
    id: "Q6.order",
    says: "an order for an assistant that is being handled is handed out at once",
    check: Effect.gen(function* () {
      yield* wake(ada)
      const first = yield* hold(ada)
      const fiber = yield* taker
      yield* wakeAs("order", ada)
      assert.equal(yield* handledBy(fiber), addressKey(ada))
      yield* first.done
    })
  }
]

export const wakeQueueLaws: ReadonlyArray<Law<WakeQueue>> = [...handed, ...collapsed, ...inHand, ...wakeQueueLaterLaws]
