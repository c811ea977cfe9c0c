import { assert, describe, it } from "@effect/vitest"
import { Ledger, type OpenSend } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import { NoticeHub } from "@reverie/runtime"
import { anAddress, anEntry, anEnvelope, MemoryDisk, memoryStore } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { untilRest } from "../src/checks/metrics.ts"

const aMinute = 60_000

/** A store in which a send is open for as long as the test says, and how often it was asked. */
const busyStore = () => {
  const { ledger, mailbox } = memoryStore(new MemoryDisk())
  const open: OpenSend = { seq: 1, envelope: anEnvelope() }
  const state = { looks: 0, isBusy: true, ledger, mailbox }
  state.ledger = {
    ...ledger,
    openSends: () => Effect.sync(() => (state.looks++, state.isBusy ? [open] : []))
  }
  return state
}

describe("waiting for rest", () => {
  it.effect(
    "A2 a busy minute without a commit is looked at after pauses that grow, and a commit is looked at once",
    () => {
      const store = busyStore()
      return Effect.gen(function* () {
        const hub = yield* NoticeHub
        const waiting = yield* Effect.forkChild(untilRest(0))
        yield* TestClock.adjust(aMinute)
        const before = store.looks
        // Every 15 ms would be 4,000.
        assert.isAtMost(before, 5 + aMinute / 480)
        hub.tellEntry(anAddress(), 1, anEntry())
        yield* Effect.yieldNow
        yield* TestClock.adjust(0)
        assert.strictEqual(store.looks, before + 1)
        store.isBusy = false
        hub.tellEntry(anAddress(), 2, anEntry())
        yield* Fiber.join(waiting)
        assert.strictEqual(store.looks, before + 2)
      }).pipe(
        Effect.provide(NoticeHub.layer),
        Effect.provideService(Ledger, store.ledger),
        Effect.provideService(Mailbox, store.mailbox)
      )
    }
  )

  it.effect("A2 what ends without a commit is found within the longest pause", () => {
    const store = busyStore()
    return Effect.gen(function* () {
      const waiting = yield* Effect.forkChild(untilRest(0))
      yield* TestClock.adjust(aMinute)
      store.isBusy = false
      yield* TestClock.adjust(480)
      yield* Fiber.join(waiting)
    }).pipe(
      Effect.provide(NoticeHub.layer),
      Effect.provideService(Ledger, store.ledger),
      Effect.provideService(Mailbox, store.mailbox)
    )
  })
})
