import { assert, describe, test } from "@effect/vitest"
import {
  classWeights,
  INDEX_START,
  type IndexChange,
  type IndexPosition,
  type MemoryEntry,
  Recall,
  termKey,
  termsOf
} from "@reverie/memory"
import { type Address, AssistantId, TenantId } from "@reverie/protocol"
import { recallSqliteLayer } from "@reverie/recall-sqlite"
import { memoryRecall } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { docTerms, eachTerm } from "../src/words/segments.ts"
import { ByteWriter } from "../src/words/byte-writer.ts"
import { addScores, classesOf, eachEntry, Scores, haveMany, writeList } from "../src/words/posting-list.ts"
import { recallTuned } from "../src/recall.ts"
import { Top } from "../src/search/top.ts"
import { termsOf as termsInPlay } from "../src/words/word-search.ts"
import { TINY } from "./tiny.ts"
import { IN_MEMORY } from "../src/connection.ts"

const NOW = 1_790_000_000_000
const tenant = TenantId.make("harbor")
const named = (name: string): Address => ({ tenant, assistant: AssistantId.make(name) })
const [ada, bob] = [named("ada"), named("bob")]
const addresses = [ada, bob, named("eve")]

const words = "tide berth lantern anchor rope gull quay storm buoy mast".split(" ")
const someWords = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 6 }).map((some) => some.join(" "))

const entry: fc.Arbitrary<MemoryEntry> = fc.record({
  id: fc.nat(24).map((number) => `p/${number}`),
  kind: fc.constantFrom("message", "passage", "fact"),
  at: fc.nat(50),
  text: someWords,
  entities: fc.subarray(["Kim", "Lee"]),
  tags: fc.subarray(["log", "sea"]),
  trust: fc.constantFrom(0.3, 0.6, 0.9),
  importance: fc.constant(5),
  readers: fc.constantFrom<MemoryEntry["readers"]>("owner", "owner", "fleet", [AssistantId.make("bob")])
})

const change: fc.Arbitrary<IndexChange> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant("put" as const), entry }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("remove" as const), id: fc.nat(24).map((id) => `p/${id}`) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("fact" as const),
      of: fc.nat(24).map((id) => `p/${id}`),
      fact: fc.constantFrom("f1", "f2"),
      text: fc.option(someWords)
    })
  }
)

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      owner: fc.constantFrom(0, 0, 0, 1),
      changes: fc.array(change, { minLength: 1, maxLength: 8 })
    })
  },
  { weight: 1, arbitrary: fc.record({ owner: fc.nat(1), changes: fc.constant("erase" as const) }) }
)

const question = fc.record(
  {
    viewer: fc.nat(2),
    text: someWords,
    scope: fc.constantFrom("own", "shared", "fleet" as const),
    kinds: fc.subarray(["message", "passage"] as const),
    since: fc.nat(50),
    until: fc.nat(50),
    messagesUntil: fc.nat(50),
    tags: fc.subarray(["log", "sea"]),
    entities: fc.constantFrom(["Kim"], ["kim", "Lee"]),
    minTrust: fc.constantFrom(0.3, 0.6, 0.9)
  },
  { requiredKeys: ["viewer", "text", "scope"] }
)

/** A row of a tail has few entries: only a tail with more of them has several rows. */
const sizes = [
  { name: "in tiny segments", sizes: TINY },
  { name: "in a tail of several rows", sizes: { ...TINY, flushed: 20, kept: 4 } }
]

describe("words in segments", () => {
  test.each(sizes)(
    "W1 W2 Q2 M2 F107 whatever was told, told anew and erased, what is found is what an exact index finds, $name",
    async ({ sizes }) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 1, maxLength: 40 }),
          fc.array(question, { minLength: 1, maxLength: 8 }),
          (steps, questions) =>
            Effect.gen(function* () {
              const recall = yield* Recall
              const exact = memoryRecall()
              const stands = new Map<number, IndexPosition>()
              for (const [no, { changes, owner }] of steps.entries()) {
                const address = owner === 0 ? ada : bob
                if (changes === "erase") {
                  yield* recall.erase(address)
                  yield* exact.erase(address)
                  stands.delete(owner)
                  continue
                }
                const to = { no: no + 1, digest: String(no) }
                const span = { from: stands.get(owner) ?? INDEX_START, to }
                assert.deepStrictEqual(yield* recall.apply(address, changes, span), to)
                yield* exact.apply(address, changes, span)
                stands.set(owner, to)
              }
              for (const { viewer, ...asked } of questions) {
                const address = addresses[viewer]
                if (address === undefined) continue
                const query = { ...asked, search: "fts", limit: 100, now: NOW } as const
                const names = (index: Recall["Service"]) =>
                  Effect.map(index.search(address, query), (hits) =>
                    hits.map((hit) => `${hit.owner} ${hit.entry.id} ${hit.why.terms.join()}`).toSorted()
                  )
                assert.deepStrictEqual(yield* names(recall), yield* names(exact))
                assert.strictEqual(yield* recall.count(address), yield* exact.count(address))
              }
            }).pipe(Effect.provide(recallTuned(IN_MEMORY, {}, { sizes }), { local: true }), Effect.runPromise)
        ),
        { numRuns: 200 }
      )
    }
  )

  test("W2 what was told once has the score that it has in any index", async () => {
    const told = fc.uniqueArray(entry, { minLength: 1, maxLength: 12, selector: ({ id }) => id })
    await fc.assert(
      fc.asyncProperty(told, someWords, (entries, text) =>
        Effect.gen(function* () {
          const span = { from: INDEX_START, to: { no: 1, digest: "one" } }
          const changes = entries.map((entry) => ({ type: "put" as const, entry }))
          const scores = Effect.fnUntraced(function* (index: Recall["Service"]) {
            yield* index.apply(ada, changes, span)
            const hits = yield* index.search(ada, { text, scope: "own", search: "fts", limit: 100, now: NOW })
            return new Map(hits.map((hit) => [hit.entry.id, hit.score]))
          })
          const [found, exact] = [yield* scores(yield* Recall), yield* scores(memoryRecall())]
          assert.sameMembers([...found.keys()], [...exact.keys()])
          // Summed up in single precision.
          for (const [id, score] of found) assert.closeTo(score / (exact.get(id) ?? 0), 1, 1e-5)
        }).pipe(Effect.provide(recallSqliteLayer(IN_MEMORY), { local: true }), Effect.runPromise)
      )
    )
  })

  test("L1 L2 L3 a list gives back its entries, each with its class, whether few have the term or many", () => {
    const entries = 400
    const having = fc.uniqueArray(fc.tuple(fc.nat(entries - 1), fc.nat(35)), {
      selector: ([number]) => number,
      minLength: 1,
      maxLength: entries
    })
    fc.assert(
      fc.property(having, (some) => {
        const byClass: Array<Array<number>> = []
        for (const [number, weightClass] of some.toSorted(([a], [b]) => a - b)) {
          byClass[weightClass] = [...(byClass[weightClass] ?? []), number]
        }
        const writer = new ByteWriter()
        writer.byte(7)
        writeList(writer, byClass, some.length, entries)
        const list = { bytes: writer.taken(), from: 1, end: writer.length }
        const areMany = haveMany(some.length, entries)
        const told: Array<readonly [number, number]> = []
        eachEntry(list, areMany, (number, weightClass) => told.push([number, weightClass]))
        const inOrder = (pairs: ReadonlyArray<readonly [number, number]>) => pairs.toSorted(([a], [b]) => a - b)
        assert.deepStrictEqual(inOrder(told), inOrder(some))
        const scores = new Scores()
        for (let round = 0; round < 2; round++) {
          scores.begin(entries)
          addScores(list, areMany, scores, 2)
        }
        const { count, isListed, sums, touched } = scores
        assert.strictEqual(isListed, !areMany)
        if (isListed) assert.deepStrictEqual(new Set(touched.slice(0, count)), new Set(some.map(([number]) => number)))
        const classes = classesOf(list, areMany, entries)
        const expected = new Map(some)
        for (let number = 0; number < entries; number++) {
          const weightClass = expected.get(number)
          const weight = weightClass === undefined ? 0 : (classWeights[weightClass] ?? 0)
          assert.closeTo(sums[number] ?? 0, 2 * weight, 1e-5)
          assert.strictEqual(classes[number], (weightClass ?? -1) + 1)
        }
      })
    )
  })

  test("Q1 whatever a question asks for, at most so much is read, the rarest words first, and one at least", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000), { maxLength: 12 }), fc.integer({ min: 1, max: 20_000 }), (having, most) => {
        const { bringing, counting } = termsInPlay(having, 1_000, most)
        const count = (index: number) => having[index] ?? 0
        const work = bringing.map(({ index }) => (haveMany(count(index), 1_000) ? 1_000 : count(index)))
        if (bringing.length > 1)
          assert.isAtMost(
            work.reduce((sum, each) => sum + each, 0),
            most
          )
        assert.strictEqual(
          bringing.length === 0,
          having.every((each) => each === 0)
        )
        const rarest = Math.max(0, ...bringing.map(({ index }) => count(index)))
        for (const { index } of counting) assert.isTrue(count(index) >= rarest && haveMany(count(index), 1_000))
        const known = new Set([...bringing, ...counting].map(({ index }) => index))
        for (const [index, each] of having.entries()) {
          if (each > 0 && !known.has(index)) assert.isTrue(each >= rarest && !haveMany(each, 1_000))
        }
      })
    )
  })

  test("T1 the best of many are those that sorting gives", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -3, max: 20 }), { maxLength: 200 }),
        fc.integer({ min: 1, max: 30 }),
        (scores, most) => {
          const top = new Top<{ readonly row: number; readonly score: number }>(most, (a, b) => b.score - a.score)
          for (const [row, score] of scores.entries()) top.offer({ row, score })
          const expected = scores.toSorted((a, b) => b - a).slice(0, most)
          assert.deepStrictEqual(
            top.sorted().map(({ score }) => score),
            expected
          )
          for (const { row, score } of top.sorted()) assert.strictEqual(scores[row], score)
          assert.strictEqual(top.isFull, scores.length >= most)
        }
      )
    )
  })

  test("D1 K2 what is searched of an entry are its terms and what a question may demand, each once", () => {
    fc.assert(
      fc.property(entry, (one) => {
        const keys: Array<number> = []
        eachTerm(docTerms(one, []), (key) => keys.push(key))
        assert.strictEqual(new Set(keys).size, keys.length)
        for (const term of termsOf(one.text)) assert.include(keys, termKey(term))
        for (const name of one.tags) assert.include(keys, termKey(`\u0000t${name}`))
      })
    )
  })
})
