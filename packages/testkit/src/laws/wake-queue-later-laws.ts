// Wake-queue laws of wake-ups for a later time (mailbox Q5), by the clock of the adapter under judgement.

import type { WakeQueue } from "@reverie/mailbox"
import * as Effect from "effect/Effect"
import { anAddress } from "../fixtures.ts"
import type { Law } from "../law.ts"
import { comesAt, inMoments, takes, wake, wakeAt } from "./wake-queue-steps.ts"

const [ada, bob] = [anAddress("ada"), anAddress("bob")]

/** Moments until a time that no law lives to see. */
const FAR = 10_000

/** Moments in which any adapter hands out a wake-up that it has. */
const AMPLE = 15

/** As often as one that is given too soon after another gets lost where it can. */
const ROUNDS = 40

export const wakeQueueLaterLaws: ReadonlyArray<Law<WakeQueue>> = [
  {
    id: "Q5.comes",
    says: "a wake-up for later comes to who waits when its time has come, not before, and no one has to look for it",
    check: Effect.gen(function* () {
      const dueAt = yield* inMoments(5)
      yield* wakeAt(ada, dueAt)
      yield* comesAt(ada, dueAt)
    })
  },
  {
    id: "Q5.each",
    says: "wake-ups for later of several assistants come each at its time, the earlier first",
    check: Effect.gen(function* () {
      const [sooner, later] = [yield* inMoments(4), yield* inMoments(8)]
      yield* wakeAt(ada, later)
      yield* wakeAt(bob, sooner)
      yield* comesAt(bob, sooner)
      yield* comesAt(ada, later)
    })
  },
  {
    id: "Q5.past",
    says: "a wake-up for a time that has passed comes at once",
    check: Effect.gen(function* () {
      yield* wakeAt(ada, yield* inMoments(-3))
      yield* takes(ada)
    })
  },
  {
    id: "Q5.sooner",
    says: "an earlier time counts although a later one was given before it",
    check: Effect.gen(function* () {
      yield* wakeAt(ada, yield* inMoments(FAR))
      const dueAt = yield* inMoments(5)
      yield* wakeAt(ada, dueAt)
      yield* comesAt(ada, dueAt)
    })
  },
  {
    id: "Q5.later",
    says: "an earlier time counts although a later one is given after it",
    check: Effect.gen(function* () {
      const dueAt = yield* inMoments(5)
      yield* wakeAt(ada, dueAt)
      yield* wakeAt(ada, yield* inMoments(FAR))
      yield* comesAt(ada, dueAt)
    })
  },
  {
    id: "Q5.again",
    says: "once a wake-up for later was handed out, another one can be given",
    check: Effect.gen(function* () {
      for (let round = 0; round < 2; round++) {
        const dueAt = yield* inMoments(3)
        yield* wakeAt(ada, dueAt)
        yield* comesAt(ada, dueAt)
      }
    })
  },
  {
    id: "Q5.anew",
    says: "a wake-up for later that is given at the very moment in which the one before was handed out comes as well",
    check: Effect.gen(function* () {
      for (let round = 0; round < ROUNDS; round++) {
        yield* wakeAt(ada, yield* inMoments(0))
        yield* takes(ada)
      }
    })
  },
  {
    id: "Q5.present",
    says: "a wake-up for later does not swallow a present one",
    check: Effect.gen(function* () {
      yield* wakeAt(ada, yield* inMoments(FAR))
      yield* wake(ada)
      yield* takes(ada)
      yield* wake(bob)
      yield* wakeAt(bob, yield* inMoments(FAR))
      yield* takes(bob)
    })
  },
  {
    id: "Q5.beside",
    says: "a present wake-up does not swallow one for later",
    check: Effect.gen(function* () {
      const dueAt = yield* inMoments(AMPLE)
      yield* wakeAt(ada, dueAt)
      yield* wake(ada)
      yield* takes(ada)
      yield* comesAt(ada, dueAt)
    })
  }
]
