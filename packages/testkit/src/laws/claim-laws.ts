// Claim laws: who may write, since when, and what is known of holders that were lost (mailbox I1, I4, I8).

import * as assert from "node:assert/strict"
import type { Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import type { Claim } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { anAddress } from "../fixtures.ts"
import type { Law } from "../law.ts"
import { ada, bob, claimBy, commitOn, give, handleNext, LEASE_MILLIS, release, sendAll } from "./steps.ts"

const renew = (claim: Claim, leaseMillis: number = LEASE_MILLIS) =>
  Mailbox.use((mailbox) => mailbox.renew(claim, leaseMillis))

/** Asserts that a stranger is refused, and told who holds the claim until when. */
const refused = (holder: Claim, leaseUntil: number = holder.leaseUntil) =>
  Effect.gen(function* () {
    const outcome = yield* Effect.result(claimBy("stranger", holder.address))
    assert.ok(Result.isFailure(outcome), "a stranger was granted a claim that another worker holds")
    const error = outcome.failure
    assert.equal(error._tag, "ClaimHeld")
    assert.deepEqual({ ...error.address }, holder.address)
    assert.equal(error._tag === "ClaimHeld" && error.worker, holder.worker)
    assert.equal(error._tag === "ClaimHeld" && error.leaseUntil, leaseUntil)
  })

/** One claim that ran out, and the claim of the worker who took over. */
const takenOver = Effect.gen(function* () {
  yield* give(ada)
  const { claim: stale } = yield* claimBy("worker-1")
  yield* TestClock.adjust(LEASE_MILLIS)
  const { claim: live } = yield* claimBy("worker-2")
  return { stale, live }
})

const leases: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I1.one",
    says: "while a lease lives no other worker is granted a claim",
    check: Effect.gen(function* () {
      yield* give(ada)
      const now = yield* Clock.currentTimeMillis
      const { claim } = yield* claimBy("worker-1")
      assert.deepEqual([claim.worker, claim.leaseUntil], ["worker-1", now + LEASE_MILLIS])
      yield* refused(claim)
      yield* TestClock.adjust(LEASE_MILLIS - 1)
      yield* refused(claim)
    })
  },
  {
    id: "I1.race",
    says: "of many workers who claim at once exactly one is granted",
    check: Effect.gen(function* () {
      yield* give(ada)
      const workers = Array.from({ length: 16 }, (_, index) => `worker-${index}`)
      const outcomes = yield* Effect.forEach(workers, (worker) => Effect.result(claimBy(worker)), {
        concurrency: "unbounded"
      })
      assert.equal(outcomes.filter(Result.isSuccess).length, 1)
    })
  },
  {
    id: "I1.expiry",
    says: "when a lease has run out another worker is granted the claim",
    check: Effect.gen(function* () {
      const { stale, live } = yield* takenOver
      assert.equal(live.worker, "worker-2")
      assert.ok(live.epoch > stale.epoch)
      yield* refused(live)
    })
  },
  {
    id: "I1.renew",
    says: "a renewed lease lives on from now, under the same epoch",
    check: Effect.gen(function* () {
      yield* give(ada)
      const { claim } = yield* claimBy("worker-1")
      yield* TestClock.adjust(LEASE_MILLIS - 1)
      const now = yield* Clock.currentTimeMillis
      const renewed = yield* renew(claim)
      assert.deepEqual(renewed, { ...claim, leaseUntil: now + LEASE_MILLIS })
      yield* TestClock.adjust(LEASE_MILLIS - 1)
      yield* refused(renewed)
      yield* TestClock.adjust(1)
      yield* claimBy("worker-2")
    })
  },
  {
    id: "I1.late",
    says: "a worker whose lease ran out while no one took over may renew it",
    check: Effect.gen(function* () {
      yield* give(ada)
      const { claim } = yield* claimBy("worker-1")
      yield* TestClock.adjust(LEASE_MILLIS * 2)
      yield* refused(yield* renew(claim))
    })
  },
  {
    id: "I1.stale-renew",
    says: "a stale epoch renews nothing and learns of the newer one",
    check: Effect.gen(function* () {
      const { stale, live } = yield* takenOver
      const outcome = yield* Effect.result(renew(stale, LEASE_MILLIS * 10))
      assert.ok(Result.isFailure(outcome), "a stale epoch was renewed")
      const error = outcome.failure
      assert.equal(error._tag, "LeaseLost")
      assert.deepEqual(error._tag === "LeaseLost" && [error.heldEpoch, error.currentEpoch], [stale.epoch, live.epoch])
      yield* TestClock.adjust(LEASE_MILLIS)
      yield* claimBy("worker-3")
    })
  },
  {
    id: "I1.zombie",
    says: "a stale epoch releases nothing",
    check: Effect.gen(function* () {
      const { stale, live } = yield* takenOver
      yield* release(stale)
      yield* refused(live)
    })
  },
  {
    id: "I1.release",
    says: "a released assistant can be claimed at once",
    check: Effect.gen(function* () {
      yield* give(ada)
      const { claim } = yield* claimBy("worker-1")
      yield* release(claim)
      const next = yield* claimBy("worker-2")
      assert.equal(next.claim.worker, "worker-2")
      yield* refused(next.claim)
    })
  },
  {
    id: "I8.fence",
    says: "a fenced holder can renew nothing and commit nothing, and the next claim is a first attempt of another epoch",
    check: Effect.gen(function* () {
      yield* give(ada)
      const { claim } = yield* claimBy("worker-1")
      yield* Mailbox.use((mailbox) => mailbox.fence(ada))
      assert.ok(Result.isFailure(yield* Effect.result(renew(claim))), "a fenced claim was renewed")
      assert.ok(Result.isFailure(yield* Effect.result(commitOn(claim, 1))), "a fenced claim wrote a commit")
      const next = yield* claimBy("worker-2")
      assert.deepEqual([next.attempts, next.claim.epoch > claim.epoch], [1, true])
      yield* release(claim)
      yield* refused(next.claim)
    })
  },
  {
    id: "I8.apart",
    says: "fencing one assistant leaves others with their holders, and no one can be fenced who never lived",
    check: Effect.gen(function* () {
      yield* give(ada)
      yield* give(bob)
      const { claim } = yield* claimBy("worker-1", bob)
      yield* Mailbox.use((mailbox) => mailbox.fence(ada))
      yield* refused(claim)
      const nobody = Effect.result(Mailbox.use((mailbox) => mailbox.fence(anAddress("nobody"))))
      assert.ok(Result.isFailure(yield* nobody), "someone was fenced who never lived")
    })
  },
  {
    id: "I1.again",
    says: "a worker may claim again what it holds; its older epoch is stale then",
    check: Effect.gen(function* () {
      yield* give(ada)
      const { claim: older } = yield* claimBy("worker-1")
      const { claim: newer } = yield* claimBy("worker-1")
      assert.ok(newer.epoch > older.epoch)
      yield* release(older)
      yield* refused(newer)
    })
  },
  {
    id: "I1.apart",
    says: "a claim on one assistant holds no other, not even its namesake of another tenant",
    check: Effect.gen(function* () {
      const namesake = anAddress("ada", "quay")
      yield* Effect.forEach([ada, bob, namesake], (address) => give(address))
      const { claim } = yield* claimBy("worker-1", ada)
      yield* claimBy("worker-2", bob)
      const other = yield* claimBy("worker-3", namesake)
      yield* release(other.claim)
      yield* refused(claim)
    })
  }
]

const openJob = { id: "2/tool.0", name: "tool.0", src: "tool", input: { index: 0 } }

const epochs: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I4.grows",
    says: "each granted epoch is higher than every one before it, however the one before ended",
    check: Effect.gen(function* () {
      yield* give(ada)
      const first = yield* claimBy("worker-1")
      const again = yield* claimBy("worker-1")
      yield* commitOn(again.claim, again.version)
      yield* release(again.claim)
      const released = yield* claimBy("worker-2")
      yield* TestClock.adjust(LEASE_MILLIS)
      const expired = yield* claimBy("worker-1")
      yield* release(expired.claim)
      const last = yield* claimBy("worker-1")
      const granted = [first, again, released, expired, last].map(({ claim }) => claim.epoch)
      assert.deepEqual(
        granted,
        [...new Set(granted)].toSorted((a, b) => a - b)
      )
    })
  },
  {
    id: "I4.hold",
    says: "a claim hands over the state, version and cursors of the last commit",
    check: Effect.gen(function* () {
      yield* give(ada, { snapshot: { mood: "new" }, definition: "keeper" })
      const created = yield* claimBy("worker-1")
      assert.deepEqual([created.version, created.state.definition], [1, "keeper"])
      assert.deepEqual(created.cursors, { control: 0, reply: 0, mail: 0 })
      yield* commitOn(created.claim, 1, { state: { snapshot: { mood: "old", deep: [1, null, "x"] } } })
      const grown = yield* claimBy("worker-1")
      assert.equal(grown.version, 2)
      assert.deepEqual(grown.state.snapshot, { mood: "old", deep: [1, null, "x"] })
      yield* release(grown.claim)
      yield* sendAll(ada, ["a", "b"])
      yield* handleNext(ada)
      yield* TestClock.adjust(LEASE_MILLIS)
      const later = yield* claimBy("worker-2")
      assert.equal(later.version, 3)
      assert.deepEqual(later.state.snapshot, {})
      assert.ok(later.cursors.mail > 0)
      assert.deepEqual([later.cursors.control, later.cursors.reply], [0, 0])
      assert.deepEqual({ ...later.claim.address }, ada)
    })
  },
  {
    id: "I4.attempts",
    says: "a hold tells how many claims in a row ended neither in a commit nor in a release, where no job is open",
    check: Effect.gen(function* () {
      yield* give(ada)
      assert.equal((yield* claimBy("worker-1")).attempts, 1)
      const second = yield* claimBy("worker-1")
      assert.equal(second.attempts, 2)
      yield* TestClock.adjust(LEASE_MILLIS)
      const third = yield* claimBy("worker-2")
      assert.equal(third.attempts, 3)
      yield* release(second.claim)
      assert.equal((yield* claimBy("worker-2")).attempts, 4)
      yield* release({ ...third.claim, epoch: third.claim.epoch + 1 })
      const fourth = yield* claimBy("worker-3")
      assert.equal(fourth.attempts, 1)
      yield* commitOn(fourth.claim, fourth.version)
      assert.equal((yield* claimBy("worker-3")).attempts, 1)
      assert.equal((yield* claimBy("worker-3")).attempts, 2)
    })
  },
  {
    id: "I4.jobs",
    says: "a claim whose commit left a job open counts as the first attempt at it, unless it was released",
    check: Effect.gen(function* () {
      yield* give(ada)
      const { claim, version } = yield* claimBy("worker-1")
      yield* commitOn(claim, version, { state: { jobs: [openJob] } })
      const again = yield* claimBy("worker-1")
      assert.deepEqual([again.attempts, again.state.jobs], [2, [openJob]])
      const third = yield* claimBy("worker-1")
      assert.equal(third.attempts, 3)
      yield* commitOn(third.claim, third.version, { state: { jobs: [{ ...openJob, lost: 2 }] } })
      const next = yield* claimBy("worker-1")
      assert.deepEqual([next.attempts, next.state.jobs[0]?.lost], [2, 2])
      yield* commitOn(next.claim, next.version, { state: { jobs: [openJob] } })
      yield* release(next.claim)
      const calm = yield* claimBy("worker-1")
      assert.equal(calm.attempts, 1)
      yield* commitOn(calm.claim, calm.version)
      assert.equal((yield* claimBy("worker-1")).attempts, 1)
    })
  }
]

export const claimLaws: ReadonlyArray<Law<Mailbox | Ledger>> = [...leases, ...epochs]
