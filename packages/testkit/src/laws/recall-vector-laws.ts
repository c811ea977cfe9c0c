// Recall laws of vectors: models that follow one another while searches go on (I6), and entries that have none (I7).

import * as assert from "node:assert/strict"
import { meaningOf, type MemoryEntry, Recall, VectorsUnfit } from "@reverie/memory"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Law } from "../law.ts"
import { fateOf } from "../world/fate.ts"
import { aConversation, aQuestion, vocabularyOf } from "./recall-corpus.ts"
import {
  ada,
  aMemory,
  aMessageAt,
  apply,
  ask,
  bob,
  found,
  missing,
  north,
  prepare,
  promote,
  putting,
  putVector,
  remember,
  removing,
  south
} from "./recall-steps.ts"

const tide = aMemory("tide", "the tide is high")
const berth = aMemory("berth", "the third berth is free")
const lantern = aMemory("lantern", "a red lantern")

const models = Effect.flatten(Recall.useSync((recall) => recall.vectorModels))

const nearest = (vector: ReadonlyArray<number>, limit = 10) => found(ada, "", { search: "vector", vector, limit })

/** Two entries with vectors of the first model. */
const begun = Effect.gen(function* () {
  yield* prepare(north)
  yield* remember(ada, tide, berth)
  yield* putVector(north, ada, tide, [1, 0, 0])
  yield* putVector(north, ada, berth, [0, 2, 0])
})

const refused = <R>(effect: Effect.Effect<void, unknown, R>, model: string) =>
  Effect.map(Effect.result(effect), (outcome) => {
    assert.ok(Result.isFailure(outcome), "vectors that do not fit were taken")
    const error = outcome.failure
    assert.ok(error instanceof VectorsUnfit, String(error))
    assert.equal(error.model, model)
  })

const generations: ReadonlyArray<Law<Recall>> = [
  {
    id: "I6.first",
    says: "the first model is current at once, another one next; the present ones again change nothing",
    check: Effect.gen(function* () {
      assert.deepEqual(yield* models, {})
      yield* prepare(north)
      assert.deepEqual(yield* models, { current: north })
      yield* prepare(north)
      assert.deepEqual(yield* models, { current: north })
      yield* prepare(south)
      yield* prepare(south)
      yield* prepare(north)
      assert.deepEqual(yield* models, { current: north, next: south })
    })
  },
  {
    id: "I6.next",
    says: "while the next model is filled in, searches go on with the vectors of the current one",
    check: Effect.gen(function* () {
      yield* begun
      yield* prepare(south)
      yield* putVector(south, ada, tide, [0, 0, 0, 1])
      yield* putVector(south, ada, berth, [1, 0, 0, 0])
      yield* prepare(south)
      assert.deepEqual(yield* missing(south), [])
      assert.deepEqual(yield* nearest([1, 0.1, 0]), ["p/tide", "p/berth"])
      assert.deepEqual(yield* nearest([0.1, 1, 0]), ["p/berth", "p/tide"])
      assert.deepEqual(yield* missing(north), [])
    })
  },
  {
    id: "I6.promote",
    says: "promoting switches to the filled-in vectors at once; those of the model before are gone",
    check: Effect.gen(function* () {
      yield* begun
      yield* prepare(south)
      yield* putVector(south, ada, tide, [0, 0, 0, 1])
      yield* promote(south)
      assert.deepEqual(yield* models, { current: south })
      assert.deepEqual(yield* nearest([0, 0, 0, 1]), ["p/tide"])
      assert.deepEqual(yield* missing(south), ["harbor/ada p/berth"])
      assert.deepEqual(yield* missing(north), [])
      yield* promote(south)
      yield* prepare(north)
      assert.deepEqual(yield* missing(north), ["harbor/ada p/berth", "harbor/ada p/tide"])
    })
  },
  {
    id: "I6.another",
    says: "a third model takes the place of the next one, whose vectors are gone",
    check: Effect.gen(function* () {
      yield* begun
      yield* prepare(south)
      yield* putVector(south, ada, tide, [0, 0, 0, 1])
      yield* prepare({ id: "west-1", dimensions: 2 })
      assert.deepEqual(yield* models, { current: north, next: { id: "west-1", dimensions: 2 } })
      yield* prepare(south)
      assert.deepEqual(yield* missing(south), ["harbor/ada p/berth", "harbor/ada p/tide"])
    })
  },
  {
    id: "I6.unfit",
    says: "vectors of an unprepared model or of another length are refused whole; so is promoting what is not next",
    check: Effect.gen(function* () {
      yield* begun
      yield* remember(ada, lantern)
      yield* refused(putVector(south, ada, lantern, [0, 0, 0, 1]), south.id)
      yield* refused(promote(south), south.id)
      const vectors = [
        { address: ada, id: lantern.id, vector: [0, 0, 1] },
        { address: ada, id: tide.id, vector: [0, 0, 1, 0] }
      ]
      yield* refused(
        Recall.use((recall) => recall.putVectors(north.id, vectors)),
        north.id
      )
      yield* refused(putVector(north, ada, lantern, [0, Number.NaN, 1]), north.id)
      assert.deepEqual(yield* missing(north), ["harbor/ada p/lantern"])
      assert.deepEqual(yield* missing(south), [])
      assert.deepEqual(yield* models, { current: north })
    })
  },
  {
    id: "I6.missing",
    says: "entries without a vector are reported with what they mean, at most as many as asked for, of every assistant",
    check: Effect.gen(function* () {
      yield* prepare(north)
      const said: MemoryEntry = aMessageAt(2, "Kim", "The tide was high.")
      yield* remember(ada, said, tide)
      yield* remember(bob, tide)
      assert.deepEqual(yield* missing(north), ["harbor/ada m/2/0", "harbor/ada p/tide", "harbor/bob p/tide"])
      assert.equal((yield* missing(north, 2)).length, 2)
      yield* putVector(north, ada, tide, [1, 0, 0])
      yield* putVector(north, bob, tide, [1, 0, 0])
      yield* putVector(north, bob, said, [1, 0, 0])
      const rows = yield* Recall.use((recall) => recall.missingVectors(north.id, 10))
      assert.deepEqual(rows, [{ address: ada, id: said.id, text: meaningOf(said) }])
      yield* putVector(north, ada, said, [0, 0, 0])
      assert.deepEqual(yield* missing(north), [])
    })
  },
  {
    id: "I6.stale",
    says: "an entry whose text changed needs a new vector, one that only got more context or a fact does not",
    check: Effect.gen(function* () {
      yield* begun
      const richer = [
        putting({ ...tide, context: "and the berth is free", importance: 5 }),
        { type: "fact" as const, of: tide.id, fact: "f1", text: "Kim owns a red lantern" },
        putting({ ...berth, text: "the fourth berth is free" })
      ]
      yield* apply(ada, richer, 2)
      assert.deepEqual(yield* missing(north), ["harbor/ada p/berth"])
      assert.deepEqual(yield* nearest([1, 1, 1]), ["p/tide"])
    })
  },
  {
    id: "I6.removed",
    says: "the vector of a removed entry is gone with it",
    check: Effect.gen(function* () {
      yield* begun
      assert.deepEqual(yield* nearest([1, 0.1, 0]), ["p/tide", "p/berth"])
      yield* apply(ada, [removing(tide)], 2)
      assert.deepEqual(yield* nearest([1, 0.1, 0]), ["p/berth"])
      yield* apply(ada, [putting(tide)], 3)
      assert.deepEqual(yield* missing(north), ["harbor/ada p/tide"])
      assert.deepEqual(yield* nearest([1, 0.1, 0]), ["p/berth"])
    })
  }
]

const searches: ReadonlyArray<Law<Recall>> = [
  {
    id: "I7.words",
    says: "an entry is found by its words at once, in every search, though it has no vector",
    check: Effect.gen(function* () {
      yield* begun
      yield* remember(ada, lantern)
      assert.deepEqual(yield* found(ada, "lantern"), ["p/lantern"])
      const hybrid = yield* ask(ada, "lantern", { search: "hybrid", vector: [1, 0, 0] })
      assert.deepEqual(hybrid.map(({ entry }) => entry.id).toSorted(), ["p/berth", "p/lantern", "p/tide"])
      assert.equal(hybrid.find(({ entry }) => entry.id === "p/lantern")?.why.vector, undefined)
    })
  },
  {
    id: "I7.nearest",
    says: "a search for meaning gives the nearest first, with its place and nearness, and no words",
    check: Effect.gen(function* () {
      yield* begun
      yield* remember(ada, lantern)
      yield* putVector(north, ada, lantern, [-1, 0, 0])
      const hits = yield* ask(ada, "lantern", { search: "vector", vector: [2, 1, 0] })
      assert.deepEqual(
        hits.map(({ entry, why }) => [entry.id, why.vector?.rank, Math.round((why.vector?.score ?? 0) * 10)]),
        [
          ["p/tide", 1, 9],
          ["p/berth", 2, 4],
          ["p/lantern", 3, -9]
        ]
      )
      assert.deepEqual(
        hits.filter(({ why }) => why.lexical !== undefined),
        []
      )
      assert.deepEqual(yield* nearest([2, 1, 0], 1), ["p/tide"])
    })
  },
  {
    id: "I7.both",
    says: "what both searches find stands before what only one of them finds",
    check: Effect.gen(function* () {
      yield* begun
      yield* remember(ada, lantern)
      yield* putVector(north, ada, lantern, [0, 1, 1])
      const hits = yield* ask(ada, "lantern tide", { search: "hybrid", vector: [0, 1, 1] })
      assert.equal(hits[0]?.entry.id, "p/lantern")
      assert.ok(hits[0].why.lexical !== undefined && hits[0].why.vector?.rank === 1)
    })
  },
  {
    id: "I7.known",
    says: "what the words found says how near it is, however many others are nearer",
    check: Effect.gen(function* () {
      yield* prepare(north)
      const many = Array.from({ length: 90 }, (_, index) => aMemory(`near${index}`, "nothing of the kind"))
      yield* remember(ada, ...many, lantern)
      yield* Recall.use((recall) =>
        recall.putVectors(north.id, [
          ...many.map(({ id }) => ({ address: ada, id, vector: [1, 0, 0] })),
          { address: ada, id: lantern.id, vector: [0, 0, 1] }
        ])
      )
      const [hit] = yield* ask(ada, "lantern", { search: "hybrid", vector: [1, 0, 0] })
      assert.equal(hit?.entry.id, lantern.id)
      assert.equal(Math.round((hit.why.vector?.score ?? Number.NaN) * 10), 0)
    })
  },
  {
    id: "I7.bad",
    says: "vectors that mean nothing leave what the words find where it is: chance ones nearly, those that are all alike wholly",
    check: Effect.gen(function* () {
      const fate = fateOf(17)
      const vocabulary = vocabularyOf(1_500)
      const conversation = aConversation(fate, vocabulary, 200)
      yield* prepare(north)
      yield* prepare(south)
      yield* remember(ada, ...conversation)
      const chance = () => [fate.between(-99, 99), fate.between(-99, 99), fate.between(-99, 99)]
      yield* Recall.use((recall) =>
        recall.putVectors(
          north.id,
          conversation.map(({ id }) => ({ address: ada, id, vector: chance() }))
        )
      )
      const alike = conversation.map(({ id }) => ({ address: ada, id, vector: [1, 1, 1, 1] }))
      yield* Recall.use((recall) => recall.putVectors(south.id, alike))
      const questions = Array.from({ length: 20 }, () => aQuestion(fate, vocabulary))
      const words = yield* Effect.forEach(questions, (text) => found(ada, text))
      const chances = yield* Effect.forEach(questions, (text) =>
        found(ada, text, { search: "hybrid", vector: chance() })
      )
      const kept = words.map((ids, at) => ids.filter((id) => chances[at]?.includes(id)).length / ids.length)
      assert.ok(kept.reduce((sum, share) => sum + share, 0) / kept.length >= 0.9, String(kept))
      yield* promote(south)
      const alikes = yield* Effect.forEach(questions, (text) =>
        found(ada, text, { search: "hybrid", vector: [1, 2, 3, 4] })
      )
      assert.deepEqual(alikes, words)
    })
  },
  {
    id: "I7.without",
    says: "without a vector, or with one of another length, every search is one for words",
    check: Effect.gen(function* () {
      yield* remember(ada, tide, berth)
      const words = ["p/tide"]
      assert.deepEqual(yield* found(ada, "tide", { search: "vector" }), words)
      assert.deepEqual(yield* found(ada, "tide", { search: "hybrid", vector: [1, 0, 0] }), words)
      yield* begun
      assert.deepEqual(yield* found(ada, "tide", { search: "vector" }), words)
      assert.deepEqual(yield* found(ada, "tide", { search: "vector", vector: [1, 0] }), words)
      assert.deepEqual(yield* found(ada, "tide", { search: "hybrid", vector: [] }), words)
    })
  },
  {
    id: "I7.filters",
    says: "conditions hold in a search for meaning as in one for words",
    check: Effect.gen(function* () {
      yield* begun
      yield* apply(ada, [putting({ ...berth, tags: ["quay"], trust: 0.2 })], 2)
      const request = { search: "vector", vector: [1, 0, 0] } as const
      assert.deepEqual(yield* found(ada, "", { ...request, tags: ["Quay"] }), ["p/berth"])
      assert.deepEqual(yield* found(ada, "", { ...request, minTrust: 0.5 }), ["p/tide"])
      assert.deepEqual(yield* found(ada, "", { ...request, kinds: ["message"] }), [])
    })
  }
]

export const recallVectorLaws: ReadonlyArray<Law<Recall>> = [...generations, ...searches]
