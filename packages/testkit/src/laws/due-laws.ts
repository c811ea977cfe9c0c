// Due laws: who has something to do, and when (mailbox I5).

import * as assert from "node:assert/strict"
import type { Ledger } from "@reverie/ledger"
import type { Mailbox } from "@reverie/mailbox"
import type { AssistantState, OpenTimer } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { aJob, anAddress, anEnvelope } from "../fixtures.ts"
import { type Law, LAW_START_MILLIS } from "../law.ts"
import {
  ada,
  bob,
  claimBy,
  commitOn,
  dueBy,
  dueNow,
  give,
  handleNext,
  inLane,
  LEASE_MILLIS,
  nextDue,
  release,
  send,
  sendAll
} from "./steps.ts"

const cleo = anAddress("cleo")

const timerIn = (delayMillis: number, name = "tea"): OpenTimer => ({
  name,
  dueAt: LAW_START_MILLIS + delayMillis,
  event: { type: "timer", name }
})

const dueNames = (limit?: number) => Effect.map(dueNow(limit), (due) => due.map(({ assistant }) => String(assistant)))

/** Commits a state for an assistant that no one holds, and lets it go again. */
const becomes = (state: Partial<AssistantState>) =>
  Effect.gen(function* () {
    const { claim, version } = yield* claimBy("worker-1")
    yield* commitOn(claim, version, { state })
    yield* release(claim)
  })

const reasons: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I5.mail",
    says: "mail that is heard makes due, until it is handled",
    check: Effect.gen(function* () {
      yield* give(ada)
      yield* give(bob)
      assert.deepEqual(yield* dueNames(), [])
      yield* sendAll(ada, ["a", "b"])
      assert.deepEqual(yield* dueNow(), [ada])
      yield* handleNext(ada)
      assert.deepEqual(yield* dueNames(), ["ada"])
      yield* handleNext(ada)
      assert.deepEqual(yield* dueNames(), [])
    })
  },
  {
    id: "I5.receives",
    says: "mail in a lane that the state does not hear makes no one due, until the state receives it",
    check: Effect.gen(function* () {
      yield* give(ada, { receives: ["control"] })
      yield* sendAll(ada, ["a"])
      yield* send(inLane.reply("r"))
      assert.deepEqual(yield* dueNames(), [])
      assert.equal(yield* nextDue, undefined)
      yield* becomes({ receives: ["control", "reply"] })
      assert.deepEqual(yield* dueNames(), ["ada"])
      yield* becomes({ receives: [] })
      assert.deepEqual(yield* dueNames(), [])
      yield* send(inLane.control("c"))
      assert.deepEqual(yield* dueNames(), [])
      yield* becomes({ receives: ["control"] })
      assert.deepEqual(yield* dueNames(), ["ada"])
    })
  },
  {
    id: "I5.job",
    says: "an open job makes due without any mail, until a commit closes it",
    check: Effect.gen(function* () {
      yield* give(ada, { jobs: [aJob()], receives: [] })
      yield* give(bob)
      assert.deepEqual(yield* dueNames(), ["ada"])
      yield* becomes({ jobs: [] })
      assert.deepEqual(yield* dueNames(), [])
      yield* becomes({ jobs: [aJob(), aJob({ id: "3/tools", name: "tools", src: "tools" })] })
      assert.deepEqual(yield* dueNames(), ["ada"])
    })
  },
  {
    id: "I5.timer",
    says: "a timer makes due when its time has come, not before; the earliest counts",
    check: Effect.gen(function* () {
      yield* give(ada, { timers: [timerIn(9_000, "late"), timerIn(5_000), timerIn(7_000, "later")], receives: [] })
      assert.deepEqual(yield* dueNames(), [])
      yield* TestClock.adjust(4_999)
      assert.deepEqual(yield* dueNames(), [])
      yield* TestClock.adjust(1)
      assert.deepEqual(yield* dueNames(), ["ada"])
      yield* becomes({ timers: [timerIn(9_000, "late")] })
      assert.deepEqual(yield* dueNames(), [])
      yield* TestClock.adjust(60_000)
      assert.deepEqual(yield* dueNames(), ["ada"])
    })
  },
  {
    id: "I5.held",
    says: "who is held is not due; with the release or the end of the lease it is",
    check: Effect.gen(function* () {
      yield* give(ada, { jobs: [aJob()] })
      yield* sendAll(ada, ["a"])
      const { claim } = yield* claimBy("worker-1")
      assert.deepEqual(yield* dueNames(), [])
      yield* release(claim)
      assert.deepEqual(yield* dueNames(), ["ada"])
      yield* claimBy("worker-2")
      yield* TestClock.adjust(LEASE_MILLIS - 1)
      assert.deepEqual(yield* dueNames(), [])
      yield* TestClock.adjust(1)
      assert.deepEqual(yield* dueNames(), ["ada"])
    })
  },
  {
    id: "I5.order",
    says: "the longest waiting comes first, and no more than asked for",
    check: Effect.gen(function* () {
      yield* give(ada)
      yield* give(bob, { timers: [timerIn(150)] })
      yield* give(cleo)
      yield* TestClock.adjust(100)
      yield* sendAll(cleo, ["c"])
      yield* TestClock.adjust(100)
      yield* sendAll(ada, ["a"])
      yield* TestClock.adjust(100)
      yield* sendAll(cleo, ["c-2"])
      assert.deepEqual(yield* dueNames(), ["cleo", "bob", "ada"])
      assert.deepEqual(yield* dueNames(2), ["cleo", "bob"])
      yield* handleNext(cleo)
      assert.deepEqual(yield* dueNames(), ["bob", "ada", "cleo"])
    })
  }
]

const ahead: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I5.until",
    says: "asked for a time to come it tells whom a timer will wake by then, and no one who is held or rests",
    check: Effect.gen(function* () {
      yield* give(ada, { timers: [timerIn(90_000)], receives: [] })
      yield* give(bob, { timers: [timerIn(50_000), timerIn(95_000, "late")] })
      yield* give(cleo)
      yield* sendAll(cleo, ["c"])
      const by = (millis: number, limit?: number) =>
        Effect.map(dueBy(LAW_START_MILLIS + millis, limit), (due) => due.map(({ assistant }) => String(assistant)))
      assert.deepEqual(yield* by(49_999), ["cleo"])
      assert.deepEqual(yield* by(50_000), ["cleo", "bob"])
      assert.deepEqual(yield* by(89_999), ["cleo", "bob"])
      assert.deepEqual(yield* by(90_000), ["cleo", "bob", "ada"])
      assert.deepEqual(yield* by(90_000, 2), ["cleo", "bob"])
      assert.deepEqual(yield* by(-1), ["cleo"])
      const { claim } = yield* claimBy("worker-1", bob)
      assert.deepEqual(yield* by(LEASE_MILLIS * 9), ["cleo", "ada"])
      yield* release(claim)
      yield* TestClock.adjust(60_000)
      assert.deepEqual(yield* by(0), yield* dueNames())
    })
  }
]

const shares: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I5.tenants",
    says: "a tenant of whom many are due hides no one of another one, no matter who has waited longer",
    check: Effect.gen(function* () {
      const crowd = Array.from({ length: 12 }, (_, index) => anAddress(`c-${index + 10}`, "tower"))
      for (const address of [...crowd, ada, bob]) yield* give(address)
      for (const address of [...crowd, bob, ada]) {
        yield* TestClock.adjust(10)
        yield* sendAll(address, ["m"])
      }
      const due = yield* dueNow(4)
      assert.deepEqual(
        due.filter(({ tenant }) => tenant === "tower"),
        crowd.slice(0, 2)
      )
      assert.deepEqual(
        due.filter(({ tenant }) => tenant === "harbor"),
        [bob, ada]
      )
      assert.equal((yield* dueNow()).length, 14)
    })
  }
]

const next: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I5.rest",
    says: "when all are at rest nothing is due next",
    check: Effect.gen(function* () {
      assert.equal(yield* nextDue, undefined)
      yield* give(ada)
      assert.equal(yield* nextDue, undefined)
      yield* sendAll(ada, ["a"])
      yield* handleNext(ada)
      assert.equal(yield* nextDue, undefined)
      yield* claimBy("worker-1")
      assert.equal(yield* nextDue, undefined)
    })
  },
  {
    id: "I5.next-ready",
    says: "while someone is due, the next time is not in the future",
    check: Effect.gen(function* () {
      const isNow = Effect.gen(function* () {
        const time = yield* nextDue
        assert.ok(time !== undefined && time <= (yield* Clock.currentTimeMillis), `next due: ${time}`)
      })
      yield* give(ada)
      yield* give(bob, { timers: [timerIn(90_000)] })
      yield* TestClock.adjust(10)
      yield* send(anEnvelope({ id: "a", to: ada }))
      yield* isNow
      yield* TestClock.adjust(10)
      yield* isNow
      yield* handleNext(ada)
      yield* give(cleo, { jobs: [aJob()] })
      yield* isNow
    })
  },
  {
    id: "I5.next-timer",
    says: "the next time is that of the earliest timer of anybody",
    check: Effect.gen(function* () {
      yield* give(ada, { timers: [timerIn(90_000), timerIn(50_000)] })
      yield* give(bob, { timers: [timerIn(70_000)] })
      assert.equal(yield* nextDue, LAW_START_MILLIS + 50_000)
      yield* becomes({ timers: [timerIn(90_000)] })
      assert.equal(yield* nextDue, LAW_START_MILLIS + 70_000)
    })
  },
  {
    id: "I5.next-held",
    says: "who is held becomes due when its lease ends, or later when its timer says so",
    check: Effect.gen(function* () {
      yield* give(ada, { timers: [timerIn(LEASE_MILLIS * 3)] })
      const { claim, version } = yield* claimBy("worker-1")
      assert.equal(yield* nextDue, LAW_START_MILLIS + LEASE_MILLIS * 3)
      yield* sendAll(ada, ["a"])
      assert.equal(yield* nextDue, claim.leaseUntil)
      yield* commitOn(claim, version, { state: { receives: [], timers: [timerIn(1_000)] } })
      assert.equal(yield* nextDue, claim.leaseUntil)
      yield* commitOn(claim, version + 1, { state: { receives: [], jobs: [aJob()] } })
      assert.equal(yield* nextDue, claim.leaseUntil)
    })
  },
  {
    id: "I5.next-true",
    says: "at the time that was named, and not before it, someone is due",
    check: Effect.gen(function* () {
      yield* give(ada, { timers: [timerIn(45_000)] })
      yield* give(bob, { timers: [timerIn(10_000)] })
      yield* sendAll(ada, ["a"])
      yield* claimBy("worker-1", ada)
      yield* claimBy("worker-2", bob)
      const time = yield* nextDue
      assert.ok(time !== undefined, "nothing is due next although work is held")
      yield* TestClock.setTime(time - 1)
      assert.deepEqual(yield* dueNames(), [])
      yield* TestClock.setTime(time)
      assert.notDeepEqual(yield* dueNames(), [])
    })
  }
]

export const dueLaws: ReadonlyArray<Law<Mailbox | Ledger>> = [...reasons, ...ahead, ...shares, ...next]
