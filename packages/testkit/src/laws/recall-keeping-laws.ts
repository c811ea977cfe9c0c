// Recall laws of keeping: what an index makes of changes (I2), and of facts attached to entries (I8).

import * as assert from "node:assert/strict"
import { INDEX_START, Recall } from "@reverie/memory"
import * as Effect from "effect/Effect"
import type { Law } from "../law.ts"
import {
  ada,
  aMemory,
  aMessageAt,
  apply,
  applyAt,
  ask,
  at,
  attaching,
  bob,
  count,
  erase,
  eve,
  found,
  north,
  otherAda,
  position,
  prepare,
  putting,
  putVector,
  remember,
  removing,
  south,
  standing
} from "./recall-steps.ts"

const tide = aMemory("tide", "the tide is high")
const berth = aMemory("berth", "the third berth is free")
const lantern = "Kim owns a red lantern"

const changes: ReadonlyArray<Law<Recall>> = [
  {
    id: "I2.repeat",
    says: "the same changes applied again change nothing",
    check: Effect.gen(function* () {
      const day = [
        putting(aMessageAt(2, "Kim", "The tide was high and the berth was free.")),
        putting(aMessageAt(4, "Lee", "Which tide?")),
        putting(tide),
        putting(berth),
        attaching(tide, "f1", lantern),
        attaching(berth, "f1", lantern),
        attaching(berth, "f1", null),
        removing(berth)
      ]
      yield* apply(ada, day, 3)
      const before = [yield* ask(ada, "tide berth lantern Kim"), yield* count(ada), yield* position(ada)]
      yield* apply(ada, day, 3)
      assert.deepEqual([yield* ask(ada, "tide berth lantern Kim"), yield* count(ada), yield* position(ada)], before)
      assert.equal(yield* count(ada), 3)
    })
  },
  {
    id: "I2.lost",
    says: "changes whose answer was lost change nothing when they are reported again, and are answered as before",
    check: Effect.gen(function* () {
      const span = { from: INDEX_START, to: at(3) }
      const day = [putting(tide), putting(berth), attaching(tide, "f1", lantern), removing(berth)]
      assert.deepEqual(yield* applyAt(ada, day, span), at(3))
      yield* apply(ada, [putting(berth)], 3)
      assert.deepEqual(yield* applyAt(ada, day, span), at(3))
      assert.deepEqual([yield* count(ada), yield* found(ada, "berth")], [2, ["p/berth"]])
    })
  },
  {
    id: "I2.position",
    says: "the position is what the last apply said, the start before any, and everybody has his own",
    check: Effect.gen(function* () {
      assert.deepEqual(yield* standing(ada), INDEX_START)
      yield* apply(ada, [putting(tide)], 4)
      assert.deepEqual(yield* apply(ada, [], 4_294_967_299), at(4_294_967_299))
      yield* apply(bob, [], 2)
      assert.deepEqual(
        [yield* standing(ada), yield* standing(bob), yield* standing(otherAda)],
        [at(4_294_967_299), at(2), INDEX_START]
      )
    })
  },
  {
    id: "I2.from",
    says: "changes made from another position than the present one are not applied, and the present one is answered",
    check: Effect.gen(function* () {
      yield* apply(ada, [putting(tide)], 5)
      const other = [putting(berth), removing(tide)]
      for (const from of [INDEX_START, at(4), at(6)]) {
        for (const to of [at(4), at(5), at(9)]) assert.deepEqual(yield* applyAt(ada, other, { from, to }), at(5))
      }
      assert.deepEqual([yield* standing(ada), yield* found(ada, "tide berth")], [at(5), ["p/tide"]])
      assert.deepEqual(yield* applyAt(ada, [putting(berth)], { from: at(5), to: at(5) }), at(5))
      assert.equal(yield* count(ada), 2)
      yield* erase(ada)
      assert.deepEqual(yield* applyAt(ada, [putting(berth)], { from: at(5), to: at(7) }), INDEX_START)
      assert.deepEqual([yield* standing(ada), yield* count(ada)], [INDEX_START, 0])
    })
  },
  {
    id: "I2.life",
    says: "the same number with another digest is another position: nothing made from it is applied",
    check: Effect.gen(function* () {
      yield* applyAt(ada, [putting(tide)], { from: INDEX_START, to: at(5, " of one life") })
      const elsewhere = { from: at(5, " of another"), to: at(6, " of another") }
      assert.deepEqual(yield* applyAt(ada, [putting(berth)], elsewhere), at(5, " of one life"))
      assert.deepEqual([yield* count(ada), yield* found(ada, "berth")], [1, []])
      const onwards = { from: at(5, " of one life"), to: at(5, " of a third") }
      assert.deepEqual(yield* applyAt(ada, [], onwards), at(5, " of a third"))
      assert.deepEqual(yield* standing(ada), at(5, " of a third"))
    })
  },
  {
    id: "I2.begun",
    says: "nothing that was read before an index was emptied is applied to the one that was begun since, wherever that stands",
    check: Effect.gen(function* () {
      const [one, other] = [at(0, " of one beginning"), at(0, " of another")]
      assert.deepEqual(yield* applyAt(ada, [], { from: INDEX_START, to: one }), one)
      assert.deepEqual(yield* applyAt(ada, [], { from: INDEX_START, to: other }), one)
      yield* erase(ada)
      assert.deepEqual(yield* applyAt(ada, [putting(tide)], { from: one, to: at(2) }), INDEX_START)
      assert.deepEqual(yield* applyAt(ada, [], { from: INDEX_START, to: other }), other)
      assert.deepEqual(yield* applyAt(ada, [putting(tide)], { from: one, to: at(2) }), other)
      assert.deepEqual([yield* standing(ada), yield* count(ada)], [other, 0])
      assert.deepEqual(yield* applyAt(ada, [putting(berth)], { from: other, to: at(2) }), at(2))
      assert.equal(yield* count(ada), 1)
    })
  },
  {
    id: "I2.replace",
    says: "an entry put again takes the place of the one before: its old words find nothing",
    check: Effect.gen(function* () {
      yield* remember(ada, tide, berth)
      yield* apply(ada, [putting({ ...tide, text: "the harbour is closed", context: "because of a storm" })], 2)
      assert.deepEqual(yield* found(ada, "tide"), [])
      assert.deepEqual(yield* found(ada, "harbour"), ["p/tide"])
      assert.deepEqual(yield* found(ada, "storm"), ["p/tide"])
      yield* apply(ada, [putting({ ...tide, text: "the harbour is closed" })], 3)
      assert.deepEqual(yield* found(ada, "storm"), [])
      assert.equal(yield* count(ada), 2)
    })
  },
  {
    id: "I2.remove",
    says: "a removed entry is neither found nor counted; removing what is not there changes nothing",
    check: Effect.gen(function* () {
      yield* remember(ada, tide, berth)
      yield* remember(bob, tide)
      yield* apply(ada, [removing(tide), removing({ id: "p/nothing" })], 2)
      assert.deepEqual(yield* found(ada, "tide berth"), ["p/berth"])
      assert.deepEqual([yield* count(ada), yield* count(bob)], [1, 1])
      assert.deepEqual(yield* found(bob, "tide"), ["p/tide"])
    })
  },
  {
    id: "I2.order",
    says: "changes are applied in their order",
    check: Effect.gen(function* () {
      yield* apply(ada, [
        putting(tide),
        removing(tide),
        attaching(berth, "f1", lantern),
        putting(berth),
        removing(tide),
        putting({ ...tide, text: "an ebb tide" }),
        putting({ ...tide, text: "a spring tide" })
      ])
      assert.deepEqual(yield* found(ada, "ebb"), [])
      assert.deepEqual(yield* found(ada, "spring"), ["p/tide"])
      assert.deepEqual(yield* found(ada, "lantern"), [])
    })
  },
  {
    id: "I2.own",
    says: "the same id is another entry for another owner",
    check: Effect.gen(function* () {
      yield* remember(ada, tide)
      yield* remember(bob, { ...tide, text: "the ebb is low" })
      yield* remember(otherAda, { ...tide, text: "the moon is full" })
      assert.deepEqual(
        [yield* found(ada, "tide"), yield* found(bob, "ebb"), yield* found(otherAda, "moon")],
        [["p/tide"], ["p/tide"], ["p/tide"]]
      )
      assert.deepEqual(yield* found(ada, "ebb moon"), [])
    })
  }
]

const facts: ReadonlyArray<Law<Recall>> = [
  {
    id: "I8.finds",
    says: "words of an attached fact find the entry it came from",
    check: Effect.gen(function* () {
      yield* apply(ada, [putting(tide), putting(berth), attaching(tide, "f1", lantern)])
      assert.deepEqual(yield* found(ada, "Who owns a lantern?"), ["p/tide"])
    })
  },
  {
    id: "I8.kept",
    says: "an entry that is put again keeps the facts attached to it, whatever its text says now",
    check: Effect.gen(function* () {
      yield* apply(ada, [putting(tide), attaching(tide, "f1", lantern)])
      yield* apply(ada, [putting({ ...tide, context: "the berth is free" })], 2)
      assert.deepEqual(yield* found(ada, "lantern"), ["p/tide"])
      yield* apply(ada, [putting({ ...tide, text: "an ebb tide" })], 3)
      assert.deepEqual(yield* found(ada, "lantern"), ["p/tide"])
    })
  },
  {
    id: "I8.changed",
    says: "a fact told again has its new text, null takes it away, and other facts stay",
    check: Effect.gen(function* () {
      yield* apply(ada, [putting(tide), attaching(tide, "f1", lantern), attaching(tide, "f2", "Lee owns a boat")])
      yield* apply(ada, [attaching(tide, "f1", "Kim owns a green flag")], 2)
      assert.deepEqual([yield* found(ada, "lantern"), yield* found(ada, "flag")], [[], ["p/tide"]])
      yield* apply(ada, [attaching(tide, "f1", null)], 3)
      assert.deepEqual([yield* found(ada, "flag"), yield* found(ada, "boat")], [[], ["p/tide"]])
    })
  },
  {
    id: "I8.gone",
    says: "a removed entry takes its facts along, and a fact of an entry that is not there is nothing",
    check: Effect.gen(function* () {
      yield* apply(ada, [putting(tide), attaching(tide, "f1", lantern), attaching(berth, "f2", lantern)])
      yield* apply(ada, [removing(tide)], 2)
      yield* apply(ada, [putting(tide), putting(berth)], 3)
      assert.deepEqual(yield* found(ada, "lantern"), [])
      assert.equal(yield* count(ada), 2)
    })
  }
]

const standingsTold = Effect.gen(function* () {
  const { standings } = yield* Recall
  if (standings === undefined) return undefined
  return (yield* standings)
    .map(({ address: { assistant, tenant }, position }) => `${tenant}/${assistant} ${position.no} ${position.digest}`)
    .toSorted()
})

/** What is said of everybody, where an index says such. */
const told: ReadonlyArray<Law<Recall>> = [
  {
    id: "I10.standings",
    says: "where everybody stands is reported of all tenants, and of no one who was erased or never told of",
    check: Effect.gen(function* () {
      yield* apply(ada, [putting(tide)], 3)
      yield* apply(bob, [putting(berth)], 7)
      yield* apply(otherAda, [putting(tide), putting(berth)], 1)
      yield* position(eve)
      const all = yield* standingsTold
      if (all === undefined) return
      assert.deepEqual(all, ["harbor/ada 3 entry 3", "harbor/bob 7 entry 7", "tower/ada 1 entry 1"])
      yield* erase(bob)
      yield* apply(ada, [removing(tide)], 4)
      assert.deepEqual(yield* standingsTold, ["harbor/ada 4 entry 4", "tower/ada 1 entry 1"])
    })
  },
  {
    id: "I10.status",
    says: "how many memories and vectors there are, of which models, is reported as it is",
    check: Effect.gen(function* () {
      const { status } = yield* Recall
      if (status === undefined) return
      const before = yield* status
      assert.deepEqual([before.memories, before.vectors, before.embedder], [0, undefined, undefined])
      yield* prepare(north)
      yield* apply(ada, [putting(tide), putting(berth)])
      yield* apply(otherAda, [putting(tide)])
      yield* putVector(north, ada, tide, [1, 0, 0])
      yield* prepare(south)
      const { embedder, memories, nextEmbedder, vectors } = yield* status
      assert.deepEqual([memories, vectors, embedder, nextEmbedder], [3, 1, north, south])
      yield* erase(ada)
      const after = yield* status
      assert.deepEqual([after.memories, after.vectors], [1, 0])
      assert.equal(after.format, after.newestFormat)
    })
  }
]

export const recallKeepingLaws: ReadonlyArray<Law<Recall>> = [...changes, ...facts, ...told]
