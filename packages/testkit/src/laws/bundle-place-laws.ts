// Bundle place laws: whole or not at all, and not where someone else is (ledger, bundles R3 and R4).

import * as assert from "node:assert/strict"
import { type Bundle, type BundlePart } from "@reverie/ledger"
import { BlockStore } from "@reverie/memory"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { anAddress, anEnvelope } from "../fixtures.ts"
import { DataStores, inDataStore } from "../data-store.ts"
import type { Law } from "../law.ts"
import {
  admit,
  everything,
  harbor,
  mover,
  neighbour,
  packed,
  refusedAs,
  toldOf,
  twoDataStores,
  unpack
} from "./bundle-steps.ts"
import { claimBy, commitOn, give, send } from "./steps.ts"

const without = (bundle: Bundle, isLeftOut: (part: BundlePart) => boolean): Bundle => {
  const at = bundle.parts.findLastIndex(isLeftOut)
  return { ...bundle, parts: bundle.parts.filter((_, index) => index !== at) }
}

/** A block that one of the bundle would have to replace. No one lives there. */
const inTheWay = Effect.gen(function* () {
  const store = yield* BlockStore
  const request = { tenant: harbor, by: "tester", isSystem: true, key: "way", at: 1 }
  yield* store.create({ owner: mover.assistant, label: "notes", type: "core" }, request)
})

const whole: ReadonlyArray<Law<DataStores>> = [
  {
    id: "R3.interrupted",
    says: "a bundle whose unpacking is broken off is there whole or not at all, and goes in again",
    check: Effect.gen(function* () {
      const { fresh, old } = yield* twoDataStores
      const bundle = yield* old(packed(mover))
      const before = yield* old(toldOf(mover))
      const moving = yield* Effect.forkChild(fresh(unpack(bundle)))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(moving)
      const found = yield* fresh(toldOf(mover))
      assert.deepEqual(found, found.record === undefined ? { ...found, entries: [], blocks: [], records: [] } : before)
      yield* fresh(unpack(bundle))
      assert.deepEqual(yield* fresh(toldOf(mover)), before)
    })
  },
  {
    id: "R3.broken",
    says: "what is no whole bundle is refused, and so is one whose place is taken in part; nothing of it is kept",
    check: Effect.gen(function* () {
      const { fresh, old } = yield* twoDataStores
      const bundle = yield* old(packed(mover))
      const empty = yield* fresh(everything(mover))
      const torn = [
        without(bundle, ({ kind }) => kind === "entry"),
        without(bundle, (part) => part.kind === "block-version" && part.version === 1),
        { ...bundle, parts: bundle.parts.filter(({ kind }) => kind !== "envelope") },
        without(bundle, ({ kind }) => kind === "blob"),
        { ...bundle, parts: bundle.parts.map((part) => (part.kind === "blob" ? { ...part, bytes: "AAAA" } : part)) },
        { ...bundle, parts: [...bundle.parts, bundle.head] }
      ]
      for (const each of torn) refusedAs(yield* Effect.result(fresh(unpack(each))), "broken")
      assert.deepEqual(yield* fresh(everything(mover)), empty)
    })
  },
  {
    id: "R3.trial",
    says: "a trial answers what unpacking would, and changes nothing",
    check: Effect.gen(function* () {
      const { fresh, old } = yield* twoDataStores
      const bundle = yield* old(packed(mover))
      const empty = yield* fresh(everything(mover))
      assert.equal(yield* fresh(unpack(bundle, true)), "unpacked")
      assert.deepEqual(yield* fresh(everything(mover)), empty)
      assert.equal(yield* old(unpack(bundle, true)), "present")
      const torn = without(bundle, ({ kind }) => kind === "entry")
      refusedAs(yield* Effect.result(fresh(unpack(torn, true))), "broken")
    })
  }
]

const taken: ReadonlyArray<Law<DataStores>> = [
  {
    id: "R4.occupied",
    says: "where another life is led, or only an earlier time of this one, no one moves in and nothing changes",
    check: Effect.gen(function* () {
      const { claim, fresh, old } = yield* twoDataStores
      const earlier = yield* old(packed(mover))
      yield* old(commitOn(claim, 5))
      const later = yield* old(packed(mover))
      yield* fresh(give(mover, { snapshot: { somebody: "else" } }))
      const before = yield* fresh(everything(mover))
      refusedAs(yield* Effect.result(fresh(unpack(later))), "occupied")
      assert.deepEqual(yield* fresh(everything(mover)), before)
      const third = inDataStore(yield* (yield* DataStores).build)
      yield* third(unpack(earlier))
      const standing = yield* third(everything(mover))
      refusedAs(yield* Effect.result(third(unpack(later))), "occupied")
      assert.deepEqual(yield* third(everything(mover)), standing)
    })
  },
  {
    id: "R4.block",
    says: "whose blocks would lie over others is refused, and nothing of him is kept",
    check: Effect.gen(function* () {
      const { fresh, old } = yield* twoDataStores
      const bundle = yield* old(packed(mover))
      yield* fresh(Effect.andThen(inTheWay, give(neighbour)))
      const before = yield* fresh(everything(mover, neighbour))
      refusedAs(yield* Effect.result(fresh(unpack(bundle))), "occupied")
      assert.deepEqual(yield* fresh(everything(mover, neighbour)), before)
    })
  },
  {
    id: "R4.present",
    says: "who lives here already, or has lived on since, is present: nothing is doubled and nothing is taken back",
    check: Effect.gen(function* () {
      const { fresh, old } = yield* twoDataStores
      const bundle = yield* old(packed(mover))
      yield* fresh(unpack(bundle))
      const before = yield* fresh(everything(mover))
      assert.equal(yield* fresh(unpack(bundle)), "present")
      assert.deepEqual(yield* fresh(everything(mover)), before)
      yield* fresh(admit(mover))
      yield* fresh(send(anEnvelope({ id: "later", to: mover })))
      const { claim } = yield* fresh(claimBy("worker-2", mover))
      yield* fresh(commitOn(claim, 5))
      const later = yield* fresh(everything(mover))
      assert.equal(yield* fresh(unpack(bundle)), "present")
      assert.deepEqual(yield* fresh(everything(mover)), later)
    })
  },
  {
    id: "R4.nobody",
    says: "no one is packed where no one lives",
    check: Effect.gen(function* () {
      const { old } = yield* twoDataStores
      refusedAs(yield* Effect.result(old(packed(anAddress("nobody", "harbor")))), "unknown")
      refusedAs(yield* Effect.result(old(packed(anAddress("bob", "pier")))), "unknown")
    })
  }
]

export const bundlePlaceLaws: ReadonlyArray<Law<DataStores>> = [...whole, ...taken]
