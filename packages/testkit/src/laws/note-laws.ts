// Note laws: what a holder leaves for the next one, in case it does not end well (mailbox I10).

import * as assert from "node:assert/strict"
import type { Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import type { Claim } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { anAddress } from "../fixtures.ts"
import type { Law } from "../law.ts"
import { ada, bob, claimBy, commitOn, give, hostileTexts, LEASE_MILLIS, release } from "./steps.ts"

const note = (claim: Claim, text: string) => Mailbox.use((mailbox) => mailbox.note(claim, text))

/** The note that the next claim is handed; undefined where there is none. */
const nextNote = (worker = "worker-1", address = ada) => Effect.map(claimBy(worker, address), (hold) => hold.note)

export const noteLaws: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I10.handed",
    says: "the last note of a holder that did not let go is handed to every claim after it, whatever text it is",
    check: Effect.gen(function* () {
      yield* give(ada)
      assert.equal(yield* nextNote(), undefined)
      for (const text of hostileTexts) {
        const { claim } = yield* claimBy("worker-1")
        yield* note(claim, "an older one")
        yield* note(claim, JSON.stringify(text))
        yield* TestClock.adjust(LEASE_MILLIS)
        assert.equal(yield* nextNote("worker-2"), JSON.stringify(text))
        assert.equal(yield* nextNote("worker-2"), JSON.stringify(text))
        yield* TestClock.adjust(LEASE_MILLIS)
      }
    })
  },
  {
    id: "I10.commit",
    says: "a commit ends the note, also one that leaves a job open",
    check: Effect.gen(function* () {
      yield* give(ada)
      const { claim, version } = yield* claimBy("worker-1")
      yield* note(claim, "tried")
      yield* commitOn(claim, version)
      assert.equal(yield* nextNote(), undefined)
      const next = yield* claimBy("worker-1")
      yield* note(next.claim, "tried")
      yield* commitOn(next.claim, next.version, {
        state: { jobs: [{ id: "3/infer", name: "infer", src: "infer", input: {} }] }
      })
      assert.equal(yield* nextNote(), undefined)
    })
  },
  {
    id: "I10.ends",
    says: "a release ends the note, and so does a fence",
    check: Effect.gen(function* () {
      yield* give(ada)
      const { claim } = yield* claimBy("worker-1")
      yield* note(claim, "tried")
      yield* release(claim)
      const next = yield* claimBy("worker-1")
      assert.equal(next.note, undefined)
      yield* note(next.claim, "tried")
      yield* Mailbox.use((mailbox) => mailbox.fence(ada))
      assert.equal(yield* nextNote(), undefined)
    })
  },
  {
    id: "I10.stale",
    says: "a stale claim notes nothing, and learns of the newer epoch",
    check: Effect.gen(function* () {
      yield* give(ada)
      const { claim: stale } = yield* claimBy("worker-1")
      yield* TestClock.adjust(LEASE_MILLIS)
      const { claim: live } = yield* claimBy("worker-2")
      yield* note(live, "tried")
      const outcome = yield* Effect.result(note(stale, "a lie"))
      assert.ok(Result.isFailure(outcome), "a stale epoch left a note")
      const error = outcome.failure
      assert.deepEqual(error._tag === "LeaseLost" && [error.heldEpoch, error.currentEpoch], [stale.epoch, live.epoch])
      assert.equal(yield* nextNote("worker-2"), "tried")
    })
  },
  {
    id: "I10.apart",
    says: "the note on one assistant is handed to no other, not even to its namesake of another tenant",
    check: Effect.gen(function* () {
      const namesake = anAddress("ada", "quay")
      yield* Effect.forEach([ada, bob, namesake], (address) => give(address))
      const { claim } = yield* claimBy("worker-1", ada)
      yield* note(claim, "tried")
      assert.equal(yield* nextNote("worker-1", bob), undefined)
      assert.equal(yield* nextNote("worker-1", namesake), undefined)
      assert.equal(yield* nextNote("worker-1", ada), "tried")
    })
  }
]
