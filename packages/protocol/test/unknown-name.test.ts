import { assert, describe, it } from "@effect/vitest"
import { unknownName } from "../src/index.ts"

describe("a name that there is none of", () => {
  const known = ["maxHits", "maxTokens", "recall"]

  it("N1 is said with those that there are, and the nearest where one is near", () => {
    assert.strictEqual(
      unknownName("maxHit", known),
      '"maxHit"; there are maxHits, maxTokens, recall; did you mean "maxHits"?'
    )
    assert.strictEqual(unknownName("colour", known), '"colour"; there are maxHits, maxTokens, recall')
    assert.strictEqual(unknownName("x", []), '"x"; there are none')
  })

  it("N1 letters left out, added, changed, swapped or of another case are a slip; more are another word", () => {
    const meant = (name: string) => /did you mean "(\w+)"/.exec(unknownName(name, known))?.[1]
    assert.deepStrictEqual(["MAXTOKENS", "maxToknes", "recal", "recalll", "rekall", "maxTok", "mail"].map(meant), [
      "maxTokens",
      "maxTokens",
      "recall",
      "recall",
      "recall",
      undefined,
      undefined
    ])
    assert.isTrue(unknownName(`${"x".repeat(59)}\u{1f600}`, known).isWellFormed())
    assert.isBelow(unknownName("y".repeat(100_000), known).length, 120)
  })
})
