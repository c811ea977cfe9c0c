// Commit laws: what is written, whole or not at all, and by whom (ledger I1, I2, I3, I6).

import * as assert from "node:assert/strict"
import { Ledger } from "@reverie/ledger"
import type { Mailbox } from "@reverie/mailbox"
import type { Claim, Entry } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { aJob, aMessage, anAddress, anEntry, anEnvelope, aState } from "../fixtures.ts"
import type { Law } from "../law.ts"
import {
  ada,
  bob,
  burying,
  claimBy,
  commitOn,
  type CommitRequest,
  give,
  handling,
  inLane,
  LEASE_MILLIS,
  pendingIds,
  pendingOf,
  send,
  sendAll,
  startingWith,
  witness
} from "./steps.ts"

const inspect = (address = ada) => Ledger.use((ledger) => ledger.inspect(address))

/** A commit that writes one of everything, burying the first mail of ada. */
const everything = Effect.gen(function* () {
  const [letter] = yield* pendingOf(ada, ["mail"])
  assert.ok(letter, "nothing is pending to be dead-lettered")
  return {
    entry: {
      ...burying(letter, "poison"),
      at: 42,
      status: "awake.acting",
      messages: [aMessage("noted", { role: "assistant" })],
      sends: [anEnvelope({ id: "s-1", to: bob }), anEnvelope({ id: "s-2", to: ada })]
    },
    state: { status: "awake.acting", snapshot: { step: 2 }, jobs: [aJob()], receives: ["control"] }
  } satisfies CommitRequest
})

/** Asserts that a commit is refused with these facts, and that nothing anywhere has changed. */
const fenced = (claim: Claim, version: number, currentEpoch: number, currentVersion: number) =>
  Effect.gen(function* () {
    const before = yield* witness(ada, bob)
    const outcome = yield* Effect.result(commitOn(claim, version, yield* everything))
    assert.ok(Result.isFailure(outcome), "a commit was written that had to be fenced")
    const error = outcome.failure
    assert.equal(error._tag, "CommitFenced")
    assert.deepEqual(
      error._tag === "CommitFenced" && [
        { ...error.address },
        error.heldEpoch,
        error.currentEpoch,
        error.expectedVersion,
        error.currentVersion
      ],
      [claim.address, claim.epoch, currentEpoch, version, currentVersion]
    )
    assert.deepEqual(yield* witness(ada, bob), before)
  })

const whole: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I1.whole",
    says: "entry, state, cursor, sends, dead letter and count appear together",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* give(ada)
      yield* give(bob)
      yield* sendAll(ada, ["m-1", "m-2"])
      const { claim } = yield* claimBy("worker-1")
      const request = yield* everything
      yield* commitOn(claim, 1, request)
      const record = yield* inspect()
      assert.deepEqual(record?.state, aState(request.state))
      assert.deepEqual([record?.version, record?.epoch, record?.waiting], [2, claim.epoch, 1])
      assert.deepEqual(yield* pendingIds(ada), ["m-2"])
      const [, row] = yield* ledger.entries(ada, 1, 10)
      assert.deepEqual(row?.entry, anEntry({ no: 2, epoch: claim.epoch, ...request.entry }))
      assert.deepEqual(
        (yield* ledger.openSends(10)).map(({ envelope }) => envelope),
        request.entry.sends
      )
      assert.deepEqual(yield* ledger.deadLetters(10), [{ address: ada, envelope: "m-1", reason: "poison", at: 42 }])
      assert.deepEqual(yield* ledger.totals, { accepted: 2, settled: 0, dead: 1, discarded: 0 })
      assert.deepEqual(
        (yield* ledger.recent(ada, 100)).map(({ message }) => message.content),
        ["noted"]
      )
    })
  },
  {
    id: "I1.apart",
    says: "a commit of one assistant changes nothing of another",
    check: Effect.gen(function* () {
      const namesake = anAddress("ada", "quay")
      for (const address of [ada, bob, namesake]) {
        yield* give(address)
        yield* sendAll(address, ["m-1", "m-2"])
      }
      const { claim } = yield* claimBy("worker-1")
      const others = witness(bob, namesake)
      const before = (yield* others).each
      yield* commitOn(claim, 1, yield* everything)
      assert.deepEqual((yield* others).each, before)
    })
  },
  {
    id: "I1.totals",
    says: "each acceptance, settlement and dead-lettering is counted once, even when one commit ends several envelopes",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* give(ada)
      yield* give(bob)
      assert.deepEqual(yield* ledger.totals, { accepted: 0, settled: 0, dead: 0, discarded: 0 })
      yield* sendAll(ada, ["m-1", "m-2", "m-3", "m-1", "m-2"])
      yield* sendAll(bob, ["m-1"])
      yield* send(inLane.control("c-1"))
      const { claim } = yield* claimBy("worker-1")
      const [control, first, second] = yield* pendingOf(ada)
      assert.ok(control && first && second, "envelopes are missing")
      yield* commitOn(claim, 1, { entry: { ...handling(control), settled: [{ id: control.id, outcome: "ignored" }] } })
      yield* commitOn(claim, 2, { entry: startingWith(first) })
      assert.deepEqual(yield* ledger.totals, { accepted: 5, settled: 1, dead: 0, discarded: 0 })
      const { cause, settled = [] } = burying(second, "poison")
      assert.ok(cause, "a dead-lettering has a cause")
      yield* commitOn(claim, 3, { entry: { cause, settled: [{ id: first.id, outcome: "handled" }, ...settled] } })
      assert.deepEqual(yield* ledger.totals, { accepted: 5, settled: 2, dead: 1, discarded: 0 })
      assert.equal((yield* ledger.deadLetters(10)).length, 1)
      const [third] = yield* pendingOf(ada)
      assert.ok(third, "an envelope is missing")
      yield* commitOn(claim, 4, { entry: { ...handling(third), settled: [] } })
      assert.deepEqual(yield* ledger.totals, { accepted: 5, settled: 2, dead: 1, discarded: 0 })
      assert.equal((yield* inspect(ada))?.waiting, 0)
      assert.equal((yield* inspect(bob))?.waiting, 1)
    })
  },
  {
    id: "I1.dead",
    says: "each dead-lettered envelope is a dead letter with its reason, told at most `limit` at a time",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* give(ada)
      yield* give(bob)
      for (const [address, worker] of [
        [ada, "worker-1"],
        [bob, "worker-2"]
      ] as const) {
        yield* sendAll(address, ["m-1", "m-2"])
        const { claim } = yield* claimBy(worker, address)
        for (const [index, letter] of (yield* pendingOf(address)).entries()) {
          const entry = { ...burying(letter, `reason ${index} of ${address.assistant}`), at: 7 + index }
          yield* commitOn(claim, 1 + index, { entry })
        }
      }
      const told = (yield* ledger.deadLetters(10)).map(
        (letter) => `${letter.address.assistant} ${letter.envelope} ${letter.at}: ${letter.reason}`
      )
      assert.deepEqual(told.toSorted(), [
        "ada m-1 7: reason 0 of ada",
        "ada m-2 8: reason 1 of ada",
        "bob m-1 7: reason 0 of bob",
        "bob m-2 8: reason 1 of bob"
      ])
      assert.equal((yield* ledger.deadLetters(3)).length, 3)
      const newest = yield* ledger.deadLetters(10, { newestFirst: true })
      assert.deepEqual(newest.toReversed(), yield* ledger.deadLetters(10))
      assert.deepEqual(yield* ledger.deadLetters(3, { newestFirst: true }), newest.slice(0, 3))
      const reply = inLane.reply("r-1")
      yield* send(reply)
      assert.deepEqual(yield* pendingIds(ada), ["r-1"])
    })
  },
  {
    id: "I1.dead-apart",
    says: "the dead letters of one tenant are reported without those of another",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      const everybody = [anAddress("ada", "aft"), ada, anAddress("ada", "quay")]
      for (const [index, address] of everybody.entries()) {
        yield* give(address)
        yield* sendAll(address, [`m-${index}`])
        const { claim } = yield* claimBy(`worker-${index}`, address)
        const [letter] = yield* pendingOf(address)
        assert.ok(letter, "nothing is pending to be dead-lettered")
        yield* commitOn(claim, 1, { entry: burying(letter, "poison") })
      }
      for (const { tenant } of everybody) {
        const own = yield* ledger.deadLetters(1, { tenant })
        assert.deepEqual(
          own.map(({ address }) => address.tenant),
          [tenant]
        )
        assert.deepEqual(yield* ledger.deadLetters(9, { tenant, newestFirst: true }), own)
      }
      assert.equal((yield* ledger.deadLetters(9)).length, 3)
    })
  }
]

const fences: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I2.epoch",
    says: "a commit under a stale epoch writes nothing, nor does one under an epoch never granted",
    check: Effect.gen(function* () {
      yield* give(ada)
      yield* give(bob)
      yield* sendAll(ada, ["m-1", "m-2"])
      const { claim: stale } = yield* claimBy("worker-1")
      yield* TestClock.adjust(LEASE_MILLIS)
      const { claim: live } = yield* claimBy("worker-2")
      yield* fenced(stale, 1, live.epoch, 1)
      yield* fenced({ ...live, epoch: live.epoch + 1 }, 1, live.epoch, 1)
      const { claim: newest } = yield* claimBy("worker-2")
      yield* fenced(live, 1, newest.epoch, 1)
      yield* commitOn(newest, 1)
    })
  },
  {
    id: "I2.version",
    says: "a commit on another version than the last writes nothing",
    check: Effect.gen(function* () {
      yield* give(ada)
      yield* give(bob)
      yield* sendAll(ada, ["m-1", "m-2"])
      const { claim } = yield* claimBy("worker-1")
      yield* commitOn(claim, 1)
      yield* fenced(claim, 0, claim.epoch, 2)
      yield* fenced(claim, 1, claim.epoch, 2)
      yield* fenced(claim, 3, claim.epoch, 2)
      yield* commitOn(claim, 2)
    })
  },
  {
    id: "I2.race",
    says: "of many commits on one version at once exactly one is written",
    check: Effect.gen(function* () {
      yield* give(ada)
      const { claim } = yield* claimBy("worker-1")
      const outcomes = yield* Effect.forEach(
        Array.from({ length: 16 }, (_, index) => index),
        (index) => Effect.result(commitOn(claim, 1, { entry: { messages: [aMessage(`message ${index}`)] } })),
        { concurrency: "unbounded" }
      )
      assert.equal(outcomes.filter(Result.isSuccess).length, 1)
      const ledger = yield* Ledger
      assert.equal((yield* ledger.recent(ada, 100)).length, 1)
      assert.deepEqual([(yield* inspect())?.version, (yield* ledger.entries(ada, 1, 100)).length], [2, 2])
    })
  },
  {
    id: "I2.lapsed",
    says: "a lease that ran out fences no one out until another worker takes over",
    check: Effect.gen(function* () {
      yield* give(ada)
      const { claim } = yield* claimBy("worker-1")
      yield* TestClock.adjust(LEASE_MILLIS * 2)
      yield* commitOn(claim, 1)
      assert.equal((yield* inspect())?.version, 2)
    })
  },
  {
    id: "I2.planned",
    says: "a commit for someone who was never created writes nothing",
    check: Effect.gen(function* () {
      yield* give(ada)
      const { claim } = yield* claimBy("worker-1")
      const before = yield* witness(ada, bob)
      const outcome = yield* Effect.result(commitOn({ ...claim, address: bob }, 1))
      assert.ok(Result.isFailure(outcome), "a commit was written for no one")
      assert.equal(outcome.failure._tag, "CommitFenced")
      assert.deepEqual(yield* witness(ada, bob), before)
    })
  }
]

const entryNo = (entry: Entry): number => entry.no

const numbered: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I3.gapless",
    says: "entries are numbered from 1 without gap, no matter who commits and whatever is refused between",
    check: Effect.gen(function* () {
      yield* give(ada)
      yield* give(bob)
      for (let version = 1; version <= 6; version++) {
        const { claim } = yield* claimBy(`worker-${version % 2}`)
        const other = yield* claimBy(`worker-${version % 2}`, bob)
        yield* commitOn(claim, version)
        yield* commitOn(other.claim, version)
        yield* Effect.flip(commitOn(claim, version))
        yield* TestClock.adjust(LEASE_MILLIS)
      }
      const ledger = yield* Ledger
      const numbers = (yield* ledger.entries(ada, 1, 100)).map(({ entry }) => entryNo(entry))
      assert.deepEqual(numbers, [1, 2, 3, 4, 5, 6, 7])
      assert.equal((yield* inspect())?.version, 7)
    })
  },
  {
    id: "I6.once",
    says: "a second creation changes nothing and says so",
    check: Effect.gen(function* () {
      assert.equal(yield* give(ada, { definition: "keeper", snapshot: { first: true } }), "created")
      yield* give(bob)
      yield* sendAll(ada, ["m-1"])
      const before = yield* witness(ada, bob)
      assert.equal(yield* give(ada, { definition: "planner" }), "exists")
      assert.deepEqual(yield* witness(ada, bob), before)
      const { claim } = yield* claimBy("worker-1")
      yield* commitOn(claim, 1)
      const grown = yield* witness(ada, bob)
      assert.equal(yield* give(ada), "exists")
      assert.deepEqual(yield* witness(ada, bob), grown)
      assert.equal(yield* give(anAddress("ada", "quay")), "created")
    })
  },
  {
    id: "I6.race",
    says: "of many creations of one assistant at once exactly one succeeds",
    check: Effect.gen(function* () {
      const definitions = Array.from({ length: 16 }, (_, index) => `definition-${index}`)
      const creations = yield* Effect.forEach(definitions, (definition) => give(ada, { definition }), {
        concurrency: "unbounded"
      })
      assert.equal(creations.filter((outcome) => outcome === "created").length, 1)
      const ledger = yield* Ledger
      assert.equal((yield* ledger.entries(ada, 1, 100)).length, 1)
    })
  },
  {
    id: "I6.record",
    says: "the record of one that was created is its creation; of one that is only planned there is none",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      assert.equal(yield* inspect(), undefined)
      assert.deepEqual(yield* ledger.entries(ada, 1, 10), [])
      assert.deepEqual(yield* ledger.recent(ada, 100), [])
      const creation = {
        address: ada,
        state: aState({ definition: "keeper", jobs: [aJob()] }),
        entry: anEntry({ at: 9, messages: [aMessage("you are the keeper", { role: "system" })] })
      }
      yield* ledger.create(creation)
      assert.deepEqual(yield* inspect(), {
        address: ada,
        state: creation.state,
        version: 1,
        epoch: 0,
        cursors: { control: 0, reply: 0, mail: 0 },
        waiting: 0
      })
      assert.deepEqual(
        (yield* ledger.entries(ada, 1, 10)).map(({ entry }) => entry),
        [creation.entry]
      )
      assert.deepEqual(
        (yield* ledger.recent(ada, 100)).map(({ message }) => message),
        creation.entry.messages
      )
    })
  }
]

export const commitLaws: ReadonlyArray<Law<Mailbox | Ledger>> = [...whole, ...fences, ...numbered]
