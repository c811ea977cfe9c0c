// Bundle laws: what every store promises to those who move out of it or into it (ledger, bundles R1-R9).

import * as assert from "node:assert/strict"
import { Allowance, digestOf, flawOfBundle, Ledger, type Bundle, Bundles } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import { BlockStore } from "@reverie/memory"
import { type EnvelopeId, LANES, recordKinds } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { anAddress, anEnvelope, aMessage } from "../fixtures.ts"
import type { DataStores } from "../data-store.ts"
import type { Law } from "../law.ts"
import { bundlePlaceLaws } from "./bundle-place-laws.ts"
import { bundleRewritingLaws } from "./bundle-rewriting-laws.ts"
import {
  admit,
  blobsOf,
  claimAs,
  EVERY,
  everything,
  furnish,
  limit,
  limitsOf,
  harbor,
  mover,
  namesake,
  neighbour,
  packed,
  packedTenant,
  pier,
  toldOf,
  toldOfTenant,
  refusedAs,
  twoDataStores,
  unpack
} from "./bundle-steps.ts"
import { burying, claimBy, commitOn, dueNow, handling, pendingOf, release, send } from "./steps.ts"

const moment: Law<DataStores> = {
  id: "R1.moment",
  says: "a bundle holds each commit whole or not at all, though others write while it is packed",
  check: Effect.gen(function* () {
    const { claim, old } = yield* twoDataStores
    const goOn = Effect.gen(function* () {
      for (let version = 5; version < 40; version++) {
        const records = [{ kind: "state" as const, key: "count", value: version + 1 }]
        yield* commitOn(claim, version, { entry: { records, messages: [aMessage(`at ${version}`)] } })
        yield* Effect.yieldNow
      }
    })
    const writer = yield* Effect.forkChild(old(goOn))
    for (let round = 0; round < 20; round++) {
      const { head, parts } = yield* old(packed(mover))
      assert.equal(flawOfBundle({ head, parts }), undefined)
      const version = head.kind === "assistant" ? head.version : 0
      const count = parts.find((part) => part.kind === "record" && part.of === "state" && part.key === "count")
      if (version > 5) assert.equal(count?.kind === "record" && count.value, version)
      yield* Effect.yieldNow
    }
    yield* Fiber.join(writer)
  })
}

const same: ReadonlyArray<Law<DataStores>> = [
  {
    id: "R2.same",
    says: "who has moved reads as before through every port: state, history, records, sends, mail, dead letters, blocks",
    check: Effect.gen(function* () {
      const { fresh, old } = yield* twoDataStores
      const before = yield* old(toldOf(mover))
      assert.equal(yield* fresh(unpack(yield* old(packed(mover)))), "unpacked")
      assert.deepEqual(yield* fresh(toldOf(mover)), before)
      assert.deepEqual(yield* old(toldOf(mover)), before)
    })
  },
  {
    id: "R2.kinds",
    says: "a record of every kind moves, a reminder and an episode of the journal among them",
    check: Effect.gen(function* () {
      const { fresh, old } = yield* twoDataStores
      const bundle = yield* old(packed(mover))
      const moved = bundle.parts.flatMap((part) => (part.kind === "record" && part.key === EVERY ? [part.of] : []))
      assert.deepEqual(new Set(moved), new Set(recordKinds))
      yield* fresh(unpack(bundle))
      for (const kind of recordKinds) {
        const rows = yield* fresh(Ledger.use((ledger) => ledger.records(mover, [kind], { keys: [EVERY] })))
        assert.deepEqual(rows, [{ kind, key: EVERY, value: { of: kind, by: mover.tenant } }])
      }
    })
  },
  {
    id: "R2.on",
    says: "life goes on where it stopped: what waits is handled in its order, and the next commit is the next number",
    check: Effect.gen(function* () {
      const { fresh, old } = yield* twoDataStores
      const waiting = yield* old(pendingOf(mover, ["mail"]))
      yield* fresh(unpack(yield* old(packed(mover))))
      yield* fresh(admit(mover))
      yield* fresh(send(anEnvelope({ id: "after", to: mover })))
      const { claim, version } = yield* fresh(claimBy("worker-2", mover))
      const handled: Array<string> = []
      for (let no = version; ; no++) {
        const [letter] = yield* fresh(pendingOf(mover, ["mail"], 1))
        if (letter === undefined) break
        yield* fresh(commitOn(claim, no, { entry: handling(letter) }))
        handled.push(letter.id)
      }
      assert.deepEqual(handled, [...waiting.map(({ id }) => id), "after"])
    })
  },
  {
    id: "R2.discarded",
    says: "a dead letter that was discarded stays so, and is counted as before; the others are still told",
    check: Effect.gen(function* () {
      const { claim, fresh, old } = yield* twoDataStores
      const discard = (id: string) => Ledger.use((ledger) => ledger.discard(mover, id as EnvelopeId))
      const letters = Effect.map(
        Ledger.use((ledger) => ledger.deadLetters(10, { tenant: harbor })),
        (found) => found.filter(({ address }) => address.assistant === mover.assistant).map(({ envelope }) => envelope)
      )
      const [third] = yield* old(pendingOf(mover, ["mail"], 1))
      assert.ok(third, "nothing is pending to be dead-lettered")
      yield* old(commitOn(claim, 5, { entry: burying(third, "poison") }))
      const [first = "", second] = yield* old(letters)
      assert.equal(yield* old(discard(first)), "discarded")
      const bundle = yield* old(packed(mover))
      assert.equal(flawOfBundle(bundle), undefined)
      yield* fresh(unpack(bundle))
      assert.deepEqual(yield* fresh(letters), [second])
      const { discarded, dead } = yield* fresh(Ledger.use((ledger) => ledger.totals))
      assert.deepEqual([dead, discarded], [2, 1])
      assert.equal(yield* fresh(discard(first)), "already")
      assert.equal(yield* fresh(discard(String(second))), "discarded")
      assert.deepEqual(yield* fresh(letters), [])
    })
  },
  {
    id: "R2.blocks",
    says: "a block goes on where it stopped: it is changed, undone and read back, and an answered change is not made twice",
    check: Effect.gen(function* () {
      const { fresh, old } = yield* twoDataStores
      yield* fresh(unpack(yield* old(packed(mover))))
      const viewer = { tenant: harbor, by: "tester", isSystem: true, at: 9 }
      const edit = (key: string, text: string) =>
        BlockStore.use((store) =>
          Effect.flatMap(store.list(viewer, { owner: mover.assistant }), ([, block]) =>
            store.change(block?.id ?? "", { ...viewer, key }, { op: "set_text", text })
          )
        )
      const again = yield* fresh(edit("ada-set-2", "third"))
      assert.equal(again.version, 4)
      const { version } = yield* fresh(edit("new", "fourth"))
      assert.equal(version, 6)
    })
  },
  {
    id: "R2.shown",
    says: "who looked for its blocks before they came sees them afterwards",
    check: Effect.gen(function* () {
      const { fresh, old } = yield* twoDataStores
      const own = BlockStore.use((store) =>
        store.list({ tenant: harbor, by: mover.assistant }, { owner: mover.assistant })
      )
      const before = yield* old(own)
      assert.ok(before.length > 0, "the mover has no block")
      assert.deepEqual(yield* fresh(own), [])
      yield* fresh(unpack(yield* old(packed(mover))))
      assert.deepEqual(yield* fresh(own), before)
    })
  },
  {
    id: "R2.tenant",
    says: "what a tenant has besides its assistants moves too, once, and beside what is there already",
    check: Effect.gen(function* () {
      const { fresh, old } = yield* twoDataStores
      yield* old(furnish(harbor))
      yield* old(furnish(pier))
      const before = yield* old(toldOfTenant(harbor))
      const bundle = yield* old(packedTenant(harbor))
      assert.equal(yield* fresh(unpack(bundle)), "unpacked")
      assert.equal(yield* fresh(unpack(bundle)), "present")
      assert.deepEqual(yield* fresh(toldOfTenant(harbor)), before)
      const elsewhere = yield* old(packedTenant(pier))
      const posing: Bundle = { ...elsewhere, head: bundle.head }
      refusedAs(yield* Effect.result(fresh(unpack(posing))), "occupied")
      assert.deepEqual(yield* fresh(toldOfTenant(harbor)), before)
    })
  },
  {
    id: "R2.limits",
    says: "limits that were set for a tenant move too; what was set in the new data store already stays, and so does what was spent",
    check: Effect.gen(function* () {
      const { fresh, old } = yield* twoDataStores
      yield* old(limit(harbor, { callsPerDay: 7, costMicrosPerMinute: 0 }))
      const bundle = yield* old(packedTenant(harbor))
      yield* fresh(limit(pier, { callsPerDay: 3 }))
      yield* fresh(limit(harbor, { callsPerDay: 9 }))
      const asking = { tenant: harbor, key: "a call", limits: {}, leaseMillis: 60_000 }
      const amounts = { calls: 1, tokens: 5, costMicros: 0 }
      yield* fresh(Allowance.use(({ reserve }) => reserve({ ...asking, amounts })))
      assert.equal(yield* fresh(unpack(bundle)), "unpacked")
      assert.equal(yield* fresh(unpack(bundle)), "present")
      assert.deepEqual(yield* fresh(limitsOf(harbor)), { callsPerDay: 9, costMicrosPerMinute: 0 })
      assert.deepEqual(yield* fresh(limitsOf(pier)), { callsPerDay: 3 })
      assert.equal((yield* fresh(Allowance.use(({ look }) => look(harbor)))).inDay.tokens, 5)
    })
  },
  {
    id: "R2.tenants",
    says: "every tenant that has anything is named",
    check: Effect.gen(function* () {
      const { fresh, old } = yield* twoDataStores
      const tenants = Bundles.use((bundles) => bundles.tenants)
      assert.deepEqual(yield* old(tenants), ["harbor", "pier"])
      assert.deepEqual(yield* fresh(tenants), [])
      yield* fresh(furnish(pier))
      assert.deepEqual(yield* fresh(tenants), ["pier"])
      yield* fresh(limit(harbor, { callsPerDay: 7 }))
      assert.deepEqual(yield* fresh(tenants), ["harbor", "pier"])
      yield* fresh(limit(harbor, { callsPerDay: null }))
      assert.deepEqual(yield* fresh(tenants), ["pier"])
    })
  }
]

const fenced: Law<DataStores> = {
  id: "R5.claim",
  says: "a claim of the old data store writes nothing in the new one, and the next claim there is higher than all before",
  check: Effect.gen(function* () {
    const { claim, fresh, old } = yield* twoDataStores
    yield* fresh(unpack(yield* old(packed(mover))))
    const before = yield* fresh(everything(mover))
    const outcome = yield* Effect.result(fresh(commitOn(claim, 5)))
    assert.ok(Result.isFailure(outcome), "an old claim wrote")
    assert.equal(outcome.failure._tag, "CommitFenced")
    assert.deepEqual(yield* fresh(everything(mover)), before)
    yield* fresh(admit(mover))
    const hold = yield* fresh(claimBy("worker-2", mover))
    assert.ok(hold.claim.epoch > claim.epoch, `epoch ${hold.claim.epoch} after ${claim.epoch}`)
    assert.equal(hold.attempts, 1)
    assert.ok(Result.isFailure(yield* Effect.result(fresh(commitOn(claim, 5)))))
  })
}

const accepted: Law<DataStores> = {
  id: "R6.duplicate",
  says: "every envelope that was accepted before is a duplicate after, waiting or handled, and nothing is counted twice",
  check: Effect.gen(function* () {
    const { fresh, old } = yield* twoDataStores
    const bundle = yield* old(packed(mover))
    yield* fresh(unpack(bundle))
    const before = yield* fresh(everything(mover))
    const ids = bundle.parts.flatMap((part) => (part.kind === "envelope" ? [part.id] : []))
    assert.ok(ids.length > 10)
    for (const id of ids) {
      const receipt = yield* fresh(Mailbox.use((mailbox) => mailbox.accept(anEnvelope({ id, to: mover }))))
      assert.equal(receipt.outcome, "duplicate", `${JSON.stringify(id)} was accepted again`)
    }
    assert.deepEqual(yield* fresh(everything(mover)), before)
    const { accepted: count, dead, settled } = yield* fresh(Ledger.use((ledger) => ledger.totals))
    assert.deepEqual([count, settled, dead], [ids.length, 2, 1])
  })
}

const apart: Law<DataStores> = {
  id: "R7.apart",
  says: "nothing of another tenant or another assistant is packed, and unpacking touches nothing of theirs",
  check: Effect.gen(function* () {
    const { fresh, old } = yield* twoDataStores
    yield* old(furnish(harbor))
    const others = [namesake, neighbour] as const
    const bundle = yield* old(packed(mover))
    const mine = JSON.stringify(bundle)
    const digests = bundle.parts.flatMap((part) => (part.kind === "blob" ? [part.digest] : []))
    assert.deepEqual(digests, blobsOf(mover).slice(0, 2).map(digestOf).toSorted())
    for (const text of ["of pier", '"pier"', "bob-persona", '"pier s-1"']) {
      assert.ok(!mine.includes(text), `the bundle holds ${text} of someone else`)
    }
    assert.ok(!JSON.stringify(yield* old(packedTenant(pier))).includes("harbor"))
    for (const other of others) yield* fresh(unpack(yield* old(packed(other))))
    const before = yield* fresh(everything(...others))
    yield* fresh(unpack(yield* old(packed(mover))))
    const after = yield* fresh(everything(...others))
    assert.deepEqual(after.slice(0, 3), before.slice(0, 3))
    assert.deepEqual(yield* fresh(toldOf(mover)), yield* old(toldOf(mover)))
  })
}

const held: Law<DataStores> = {
  id: "R8.held",
  says: "who has moved in is held until he is admitted, and is then due as before",
  check: Effect.gen(function* () {
    const { claim, fresh, old } = yield* twoDataStores
    yield* old(release(claim))
    assert.ok((yield* old(dueNow())).some(({ assistant, tenant }) => assistant === "ada" && tenant === "harbor"))
    yield* fresh(unpack(yield* old(packed(mover))))
    assert.deepEqual(yield* fresh(dueNow()), [])
    const outcome = yield* fresh(claimAs("worker-2", mover))
    assert.ok(Result.isFailure(outcome), "who is on the move was claimed")
    assert.equal(outcome.failure._tag, "ClaimHeld")
    yield* fresh(admit(mover, anAddress("nobody", "harbor")))
    assert.deepEqual(yield* fresh(dueNow()), [{ tenant: "harbor", assistant: "ada" }])
    const { claim: own } = yield* fresh(claimBy("worker-2", mover))
    yield* fresh(admit(mover))
    assert.deepEqual(yield* fresh(dueNow()), [], `${own.worker} was robbed of its claim`)
    assert.equal((yield* fresh(pendingOf(mover, LANES))).length > 0, true)
  })
}

const marked: Law<DataStores> = {
  id: "R8.mark",
  says: "the mark on a data store is what was last written on it, and is taken away with null",
  check: Effect.gen(function* () {
    const { old } = yield* twoDataStores
    const read = old(Bundles.use((bundles) => bundles.marked))
    const write = (mark: Parameters<Bundles["Service"]["mark"]>[0]) => old(Bundles.use((bundles) => bundles.mark(mark)))
    assert.equal(yield* read, undefined)
    yield* write({ state: "leaving", place: "a fleet \u0000", at: 5 })
    yield* write({ state: "left", place: "a fleet", at: 6 })
    assert.deepEqual(yield* read, { state: "left", place: "a fleet", at: 6 })
    yield* write(null)
    assert.equal(yield* read, undefined)
  })
}

export const bundleLaws: ReadonlyArray<Law<DataStores>> = [
  moment,
  ...same,
  ...bundlePlaceLaws,
  ...bundleRewritingLaws,
  fenced,
  accepted,
  apart,
  held,
  marked
]
