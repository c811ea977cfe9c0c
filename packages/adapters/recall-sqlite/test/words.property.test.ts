import { assert, describe, test } from "@effect/vitest"
import { INDEX_START, type IndexChange, type IndexPosition, type MemoryEntry, Recall, termsOf } from "@reverie/memory"
import { AssistantId, TenantId } from "@reverie/protocol"
import { IN_MEMORY } from "@reverie/recall-sqlite"
import { memoryRecall } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { docTerms, eachTerm } from "../src/doc-terms.ts"
import { addScores, ByteReader, ByteWriter, markAll, writeRun } from "../src/posting-list.ts"
import { recallWithSizes } from "../src/recall.ts"
import { termKey } from "../src/term-key.ts"
import { Top } from "../src/top.ts"
import { classOf, classWeights } from "../src/weight-class.ts"
import { TINY } from "./tiny.ts"

const NOW = 1_790_000_000_000
const tenant = TenantId.make("harbor")
const addresses = ["ada", "bob", "eve"].map((name) => ({ tenant, assistant: AssistantId.make(name) }))
const [ada, bob] = addresses

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
    tags: fc.subarray(["log", "sea"]),
    entities: fc.constantFrom(["Kim"], ["kim", "Lee"]),
    minTrust: fc.constantFrom(0.3, 0.6, 0.9)
  },
  { requiredKeys: ["viewer", "text", "scope"] }
)

describe("words in segments", () => {
  test("W1 W2 Q2 M2 F107 whatever was told, told anew and erased, what is found is what an exact index finds", async () => {
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
              if (address === undefined) continue
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
          }).pipe(Effect.provide(recallWithSizes(IN_MEMORY, {}, TINY), { local: true }), Effect.runPromise)
      ),
      { numRuns: 200 }
    )
  })

  test("W1 a weight comes back as that of its class, at most a fifteenth off", () => {
    fc.assert(
      fc.property(fc.double({ min: 0.05, max: 2.2, noNaN: true }), (weight) => {
        assert.isBelow(Math.abs((classWeights[classOf(weight)] ?? 0) / weight - 1), 1 / 15)
      })
    )
  })

  test("L1 L2 a list gives back its entries, each with its class, as many of the weightiest as are asked for", () => {
    const run = fc.uniqueArray(fc.nat(200_000), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(fc.nat(35), run), { maxLength: 6, selector: ([each]) => each }),
        fc.nat(60),
        (runs, most) => {
          const ordered = runs
            .toSorted(([a], [b]) => b - a)
            .map(([each, numbers]) => [each, numbers.toSorted((a, b) => a - b)] as const)
          const writer = new ByteWriter()
          for (const [weightClass, numbers] of ordered) writeRun(writer, weightClass, numbers)
          const bytes = writer.taken()
          const expected = ordered.flatMap(([each, numbers]) =>
            numbers.map((number) => [number, classWeights[each] ?? 0] as const)
          )
          const marks = new Uint8Array(200_001)
          markAll(new ByteReader(bytes), marks, 1)
          assert.strictEqual(
            marks.reduce((sum, mark) => sum + mark, 0),
            new Set(expected.map(([number]) => number)).size
          )
          const scores = new Float32Array(200_001)
          assert.strictEqual(addScores(bytes, 0, bytes.length, scores, 1, most), Math.min(most, expected.length))
          const sums = new Map<number, number>()
          for (const [number, weight] of expected.slice(0, most))
            sums.set(number, Math.fround((sums.get(number) ?? 0) + weight))
          for (const [number, sum] of sums) assert.strictEqual(scores[number], sum)
          assert.strictEqual(
            scores.reduce((count, score) => count + (score > 0 ? 1 : 0), 0),
            sums.size
          )
        }
      )
    )
  })

  test("T1 the best of many are those that sorting gives", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -3, max: 20 }), { maxLength: 200 }),
        fc.integer({ min: 1, max: 30 }),
        (scores, most) => {
          const top = new Top(most)
          for (const [row, score] of scores.entries()) top.offer(row, undefined, score)
          const expected = scores
            .filter((score) => score > 0)
            .toSorted((a, b) => b - a)
            .slice(0, most)
          assert.deepStrictEqual(
            top.sorted().map(({ score }) => score),
            expected
          )
          for (const { row, score } of top.sorted()) assert.strictEqual(scores[row], score)
          assert.strictEqual(top.isFull, scores.filter((score) => score > 0).length >= most)
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
