import { assert, describe, test } from "@effect/vitest"
import { classOf, classWeights, indexWeights, rarity, sparseEntry, sparseQuery, termWeights } from "@reverie/memory"
import * as fc from "fast-check"
import { type Fields } from "../../src/text/tokens.ts"
import { murmur3, termNumber } from "../../src/text/sparse.ts"

const terms = fc.array(fc.constantFrom("tide", "berth", "ship", "moon", "rope"), { maxLength: 30 })
const anyFields: fc.Arbitrary<Fields> = fc.record({ body: terms, context: terms, facts: terms })

describe("weights", () => {
  test("W1 a term that is said more often, or by more weight, weighs more; around it more is said, less", () => {
    fc.assert(
      fc.property(anyFields, (fields) => {
        const weights = termWeights(fields)
        for (const [term, weight] of weights) {
          assert.isAbove(weight, 0)
          assert.isBelow(weight, 2.2)
          const swapped = termWeights({ ...fields, body: [...fields.body, term], context: fields.context })
          const longer = termWeights({ ...fields, body: [...fields.body, "another"] })
          assert.isAbove(swapped.get(term) ?? 0, longer.get(term) ?? 0)
          assert.isBelow(longer.get(term) ?? 0, weight)
        }
      })
    )
  })

  test("W1 a weight comes back as that of its class, at most a fifteenth off, and stays in it", () => {
    fc.assert(
      fc.property(fc.double({ min: 0.05, max: 2.2, noNaN: true }), (weight) => {
        const kept = classWeights[classOf(weight)] ?? 0
        assert.isBelow(Math.abs(kept / weight - 1), 1 / 15)
        assert.strictEqual(classOf(kept), classOf(weight))
      })
    )
  })

  test("W2 what an index keeps is the weight of a class, and of two terms never puts the lighter one first", () => {
    fc.assert(
      fc.property(anyFields, (fields) => {
        const exact = termWeights(fields)
        const kept = [...indexWeights(fields)]
        assert.deepStrictEqual(
          kept.map(([term]) => term),
          [...exact.keys()]
        )
        for (const [term, weight] of kept) {
          assert.include(classWeights, weight)
          for (const [other, heavier] of kept)
            if ((exact.get(other) ?? 0) > (exact.get(term) ?? 0)) assert.isAtLeast(heavier, weight)
        }
      })
    )
  })

  test("however much is said around it, a message is lost in it no further", () => {
    const around = (count: number) =>
      termWeights({ body: ["tide"], context: Array.from({ length: count }, () => "moon"), facts: [] }).get("tide") ?? 0
    assert.isBelow(around(200), around(100))
    assert.strictEqual(around(2_000), around(400))
  })

  test("a word of the context weighs less than one of a fact, and that less than one of the body", () => {
    const [body, context, facts] = (["body", "context", "facts"] as const).map((field) =>
      termWeights({ body: ["x"], context: ["y"], facts: ["z"], [field]: ["tide"] }).get("tide")
    )
    assert.isBelow(context ?? 0, facts ?? 0)
    assert.isBelow(facts ?? 0, body ?? 0)
  })

  test("what an entry says weighs no less for the facts that were learnt of it", () => {
    const fields = { body: ["tide", "quay"], context: ["crane"], facts: [] }
    const told = termWeights({ ...fields, facts: ["nora", "likes", "lanterns"] })
    for (const [term, weight] of termWeights(fields)) assert.strictEqual(told.get(term), weight, term)
  })

  test("W2 a rarer term says more, and one that is everywhere nothing less than nothing", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 0, max: 1e6 }), (entries, more) => {
        const having = more % entries
        assert.isAbove(rarity(entries, having), rarity(entries, having + 1))
        assert.isAbove(rarity(entries, entries), 0)
      })
    )
  })
})

describe("sparse vectors", () => {
  test.each([
    ["", 0],
    ["a", 0x3c2569b2],
    ["hello", 0x248bfa47],
    ["hello, world", 0x149bbb7f],
    ["The quick brown fox jumps over the lazy dog", 0x2e4ff723]
  ] as const)("the hash of %j is the published one", (text, hash) => {
    assert.strictEqual(murmur3(text) >>> 0, hash)
  })

  test("S1 the product of a question and an entry is the sum of the weights of the question's terms", () => {
    fc.assert(
      fc.property(anyFields, terms, (fields, question) => {
        const entry = sparseEntry(fields)
        const asked = sparseQuery(question)
        assert.deepStrictEqual(
          entry.indices,
          entry.indices.toSorted((a, b) => a - b)
        )
        const product = asked.indices.reduce((sum, index, place) => {
          const at = entry.indices.indexOf(index)
          return sum + (asked.values[place] ?? 0) * (entry.values[at] ?? 0)
        }, 0)
        const weights = indexWeights(fields)
        const expected = [...new Set(question)].reduce((sum, term) => sum + (weights.get(term) ?? 0), 0)
        assert.approximately(product, expected, 1e-9)
      })
    )
  })

  test("a term's number is a whole number from 0 on, below 2^31", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        assert.isTrue(Number.isInteger(termNumber(text)))
        assert.isAtLeast(termNumber(text), 0)
        assert.isAtMost(termNumber(text), 2 ** 31)
      })
    )
  })
})
