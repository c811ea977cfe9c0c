import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { flawOfStatement } from "../../src/integrity/clean-text.ts"

describe("a statement", () => {
  it.each([
    "Nora met Ivo in Lisbon on 28 February 2024",
    "Nora loves pottery; it calms her",
    "The neighbour lost her cat",
    "Nora said: Her sister keeps bees",
    "In May 2023 Nora said that they would move",
    'Nora read "Who Moved My Cheese?" twice',
    'Nora\'s motto is "I can do it"',
    "Nora reads about World War I and the US",
    "It is known that the pier is closed",
    "It takes two days to reach Rome",
    "This necklace is a gift from Nora's grandmother",
    "Nora told Ivo how long Nora has been married: five years",
    "Nora sold a picture of her boat to Ivo",
    "A picture of the harbour hangs in Nora's kitchen"
  ])("S1 S2 S3 is: %s", (text) => {
    assert.isUndefined(flawOfStatement(text))
  })

  it.each([
    ["Has Nora been to Rome?", "a question"],
    ["Nora wonders: is Rome far? Ivo knows", "a question"],
    ['Asked "How long has Nora been married?": Nora said: five years', "a question"],
    ["Caroline shared a photo of a dog walking past a wall", "a picture"],
    ["Nora sent Ivo a nice picture of the lake", "a picture"],
    ["Nora Berg posted two pictures of birds", "a picture"],
    ["They brighten up Melanie's day", "a pronoun without its noun"],
    ["It's special to Melanie", "a pronoun without its noun"],
    ["Yesterday she sold the boat", "a pronoun without its noun"],
    ["On 7 May 2023 he was in Rome", "a pronoun without its noun"],
    ["Their love helped Caroline", "a pronoun without its noun"],
    ["That is why Caroline paints", "a pronoun without its noun"],
    ["Nora told me that the pier is closed", "a pronoun without its noun"],
    ["Nora likes your boat", "a pronoun without its noun"]
  ] as const)("S1 S2 is not: %s", (text, flaw) => {
    assert.strictEqual(flawOfStatement(text), flaw)
  })

  it("S2 S3 the same with a name before it, or in quotation marks, whatever the words are", () => {
    const words = fc
      .stringMatching(/^[a-z]{2,6}( [a-z]{2,6}){0,4}$/)
      .filter((text) => !/\b(?:i|you|we|me|my|us|our|your|x)\b/.test(text))
    fc.assert(
      fc.property(fc.constantFrom("he", "she", "it", "they", "their", "his"), words, (pronoun, rest) => {
        assert.strictEqual(flawOfStatement(`${pronoun} ${rest}`), "a pronoun without its noun")
        assert.isUndefined(flawOfStatement(`Nora thinks ${pronoun} ${rest}`))
        assert.isUndefined(flawOfStatement(`Nora wrote "${pronoun} ${rest}"`))
      }),
      { seed: 4_711, numRuns: 200 }
    )
  })
})
