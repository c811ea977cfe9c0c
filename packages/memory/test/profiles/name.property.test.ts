import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { entityIdOf, idsIn, namedIn } from "../../src/index.ts"

const settings = { seed: 4_711, numRuns: 2_000 }
const anyText = fc.oneof(fc.string({ unit: "binary", maxLength: 120 }), fc.string({ unit: "grapheme", maxLength: 120 }))
const word = fc.stringMatching(/^[A-Za-zÀ-ÿ]{2,9}$/).filter((each) => each.normalize("NFKC") === each)
const name = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(" "))

describe("the id of a name", () => {
  it("N1 N3 any text has one id that is its own id, or none", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const id = entityIdOf(text)
        if (id === undefined) return
        assert.strictEqual(entityIdOf(id), id)
        assert.match(id, /^[\p{L}\p{N}\p{M}-]{1,64}$/u)
        assert.isTrue(id.isWellFormed())
      }),
      settings
    )
  })

  it("N2 case, accents, article, possessive, spaces and punctuation lead to the same one", () => {
    fc.assert(
      fc.property(name, (text) => {
        const id = entityIdOf(text)
        for (const other of [
          text.toUpperCase(),
          text.toLowerCase(),
          text.normalize("NFD"),
          `the ${text}`,
          `The ${text}`,
          `${text}'s`,
          `${text}\u2019s`,
          `  ${text.replaceAll(" ", " \n ")}. `,
          text.replaceAll(" ", "-"),
          `"${text}"`
        ]) {
          assert.strictEqual(entityIdOf(other), id, JSON.stringify(other))
        }
      }),
      settings
    )
  })

  it("N1 names of different words have different ids, long ones too", () => {
    const plain = fc.array(fc.stringMatching(/^[b-z]{2,9}$/), { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(plain, plain, (a, b) => {
        const without = (words: ReadonlyArray<string>) => words.filter((each) => each !== "the").join(" ")
        fc.pre(without(a) !== without(b) && !a.includes("the") && !b.includes("the"))
        assert.notStrictEqual(entityIdOf(a.join(" ")), entityIdOf(b.join(" ")))
      }),
      settings
    )
  })

  it.each([
    ["The Harbour Master's", "harbour-master"],
    ["James'", "james"],
    ["José", "jose"],
    ["#123", "123"],
    ["花子", "花子"],
    ["The", "the"],
    ["Anna S", "anna-s"],
    ["", undefined],
    ["—!?", undefined],
    ["\u200b", undefined]
  ])("N2 %j is %j", (text, id) => {
    assert.strictEqual(entityIdOf(text), id)
  })
})

describe("names in a text", () => {
  const nora = { name: "Nora", aliases: ["the keeper of the lighthouse"] }
  const quay = { name: "North Quay", aliases: [] }
  const hanako = { name: "花子", aliases: [] }
  const known = [nora, quay, hanako]

  it("are found as whole words, by any form of any name, in the order of the text", () => {
    assert.deepStrictEqual(namedIn("At the north-quay I saw NORA's boat", known), [quay, nora])
    assert.deepStrictEqual(namedIn("Ask the keeper of the lighthouse.", known), [nora])
    assert.deepStrictEqual(namedIn("昨日花子に会った", known), [hanako])
    assert.deepStrictEqual(namedIn("Norah sails north; the quay is empty.", known), [])
    assert.deepStrictEqual(namedIn("", known), [])
  })

  it("lead to their ids, whatever stands around them, and longer names come first", () => {
    assert.deepStrictEqual(idsIn("Is North Quay"), ["is-north-quay", "is-north", "is", "north-quay", "north", "quay"])
    assert.deepStrictEqual(idsIn(""), [])
    assert.isAtMost(idsIn("one two three ".repeat(1_000)).length, 2_000)
    const name = fc.constantFrom("Nora", "North Quay", "the Keeper of the Lighthouse", "José", "花子", "O'Brien")
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), name, fc.string({ maxLength: 40 }), (before, each, after) => {
        assert.include(idsIn(`${before} ${each}, ${after}`), entityIdOf(each))
      }),
      settings
    )
  })

  it("are found whatever stands around them", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), fc.string({ maxLength: 40 }), (before, after) => {
        assert.include(namedIn(`${before} Nora, ${after}`, known), nora)
      }),
      settings
    )
  })
})
