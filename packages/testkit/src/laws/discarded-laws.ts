// Aside laws: dead letters that someone has seen to (ledger I9).

import * as assert from "node:assert/strict"
import { Ledger } from "@reverie/ledger"
import type { Mailbox } from "@reverie/mailbox"
import type { Address, EnvelopeId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { anAddress } from "../fixtures.ts"
import type { Law } from "../law.ts"
import {
  ada,
  bob,
  burying,
  claimBy,
  commitOn,
  give,
  handling,
  hostileTexts,
  pendingOf,
  release,
  sendAll,
  witness
} from "./steps.ts"

/** Bears an assistant and buries letters of these ids, in this order. */
const deadLettered = (address: Address, ids: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    yield* give(address)
    yield* sendAll(address, ids)
    const { claim, version } = yield* claimBy("sexton", address)
    for (const [index, letter] of (yield* pendingOf(address)).entries()) {
      yield* commitOn(claim, version + index, { entry: burying(letter, `because of ${index}`) })
    }
    yield* release(claim)
  })

const discard = (address: Address, id: string) => Ledger.use((ledger) => ledger.discard(address, id as EnvelopeId))

const told = (limit = 100, request: Parameters<Ledger["Service"]["deadLetters"]>[1] = {}) =>
  Effect.map(
    Ledger.use((ledger) => ledger.deadLetters(limit, request)),
    (letters) => letters.map(({ address, envelope }) => `${address.tenant} ${address.assistant} ${envelope}`)
  )

const totals = Ledger.use((ledger) => ledger.totals)

const here = (...ids: ReadonlyArray<string>) => ids.map((id) => `${ada.tenant} ada ${id}`)

export const discardedLaws: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I9.gone",
    says: "a letter that was discarded is reported no more, and takes no one's place in the list",
    check: Effect.gen(function* () {
      yield* deadLettered(ada, ["m-1", "m-2", "m-3", "m-4"])
      assert.equal(yield* discard(ada, "m-2"), "discarded")
      assert.deepEqual(yield* told(), here("m-1", "m-3", "m-4"))
      assert.deepEqual(yield* told(2), here("m-1", "m-3"))
      assert.equal(yield* discard(ada, "m-4"), "discarded")
      assert.deepEqual(yield* told(1, { newestFirst: true, tenant: ada.tenant }), here("m-3"))
      assert.deepEqual((yield* totals).discarded, 2)
      yield* sendAll(ada, ["m-5"])
      const { claim, version } = yield* claimBy("worker-1")
      const [letter] = yield* pendingOf(ada)
      assert.ok(letter, "nothing is pending to be dead-lettered")
      yield* commitOn(claim, version, { entry: burying(letter, "poison") })
      assert.deepEqual(yield* told(), here("m-1", "m-3", "m-5"))
      assert.deepEqual(yield* totals, { accepted: 5, settled: 0, dead: 5, discarded: 2 })
    })
  },
  {
    id: "I9.kept",
    says: "discarding is no history: entries, state, mail and the other letters stay as they are, claimed or not",
    check: Effect.gen(function* () {
      yield* deadLettered(ada, ["m-1", "m-2"])
      yield* deadLettered(bob, ["m-1"])
      yield* sendAll(ada, ["m-3", "m-4"])
      const { claim, version } = yield* claimBy("worker-1")
      const before = yield* witness(ada, bob)
      assert.equal(yield* discard(ada, "m-1"), "discarded")
      const { deadLetters, totals: counted, ...rest } = yield* witness(ada, bob)
      const { deadLetters: letters, totals: count, ...others } = before
      assert.deepEqual(rest, others)
      assert.deepEqual(counted, { ...count, discarded: 1 })
      const first = letters.find(({ address, envelope }) => address.assistant === "ada" && envelope === "m-1")
      assert.ok(first, "the letter was never told")
      assert.deepEqual(
        deadLetters,
        letters.filter((letter) => letter !== first)
      )
      yield* commitOn(claim, version)
    })
  },
  {
    id: "I9.once",
    says: "a second time changes nothing and says so, and so does a letter that was never dead-lettered",
    check: Effect.gen(function* () {
      yield* deadLettered(ada, ["m-1", "m-2"])
      yield* sendAll(ada, ["m-3", "m-4"])
      const { claim, version } = yield* claimBy("worker-1")
      const [letter] = yield* pendingOf(ada)
      assert.ok(letter, "nothing is pending to be handled")
      yield* commitOn(claim, version, { entry: handling(letter) })
      assert.equal(yield* discard(ada, "m-2"), "discarded")
      const before = yield* witness(ada, bob)
      assert.equal(yield* discard(ada, "m-2"), "already")
      for (const id of ["m-3", "m-4", "m-5"]) assert.equal(yield* discard(ada, id), "unknown")
      assert.equal(yield* discard(bob, "m-1"), "unknown")
      assert.deepEqual(yield* witness(ada, bob), before)
    })
  },
  {
    id: "I9.race",
    says: "of many who discard the same letter at once exactly one does, and it is counted once",
    check: Effect.gen(function* () {
      yield* deadLettered(ada, ["m-1", "m-2"])
      const tries = Array.from({ length: 16 }, (_, index) => discard(ada, `m-${1 + (index % 2)}`))
      const answers = yield* Effect.all(tries, { concurrency: "unbounded" })
      assert.equal(answers.filter((answer) => answer === "discarded").length, 2)
      assert.equal(answers.filter((answer) => answer === "already").length, 14)
      assert.equal((yield* totals).discarded, 2)
      assert.deepEqual(yield* told(), [])
    })
  },
  {
    id: "I9.apart",
    says: "only the letter of that assistant of that tenant is discarded, no matter who else has one of the same name",
    check: Effect.gen(function* () {
      const namesake = anAddress("ada", "quay")
      for (const address of [namesake, ada, bob]) yield* deadLettered(address, ["m-1", "m-10", "again/m-1/1"])
      const before = yield* told()
      assert.equal(before.length, 9)
      assert.equal(yield* discard(ada, "m-1"), "discarded")
      assert.deepEqual(
        yield* told(),
        before.filter((letter) => letter !== `${ada.tenant} ada m-1`)
      )
      assert.equal(yield* discard(namesake, "m-1"), "discarded")
      assert.deepEqual(yield* told(100, { tenant: namesake.tenant }), [
        `${namesake.tenant} ada m-10`,
        `${namesake.tenant} ada again/m-1/1`
      ])
    })
  },
  {
    id: "I9.exact",
    says: "a letter is discarded by its very id, whatever stands in it",
    check: Effect.gen(function* () {
      const ids = hostileTexts.map((text, index) => `${index}%_*${text}`)
      yield* deadLettered(ada, ids)
      for (const [index, id] of ids.entries()) {
        assert.equal(yield* discard(ada, id.slice(0, -1)), "unknown", JSON.stringify(id))
        assert.equal(yield* discard(ada, `${id}"`), "unknown", JSON.stringify(id))
        assert.equal(yield* discard(ada, id), "discarded", JSON.stringify(id))
        assert.deepEqual(yield* told(), here(...ids.slice(index + 1)))
      }
    })
  }
]
