import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { growthWith, searchSteps } from "../src/pattern-steps/index.ts"

const patterns: ReadonlyArray<RegExp> = [
  /ab+?c|a(?:b|bb)*c$/u,
  /(?<![a-c])a[^b\n]{0,3}b/u,
  /\b(?:a|ab)(?=c)\w*/iu,
  /^\s*(?<name>a{2,3})?b/m,
  /(?:a?b?)*c/u,
  /\p{L}+\d|[^\S\n]+a/u,
  /(?<=b{1,2}a)c/u,
  /(?!ab)a.|c\B/su
]

const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "A", " ", "\n", "1", "é", "😀"), maxLength: 12 })

describe("steps of a pattern", () => {
  it("S1 a match is found where the engine finds it, and is as long", () => {
    fc.assert(
      fc.property(fc.constantFrom(...patterns), text, (pattern, some) => {
        const found = pattern.exec(some)
        const points = (end: number) => (pattern.unicode ? Array.from(some.slice(0, end)).length : end)
        const expected =
          found === null ? undefined : { from: points(found.index), to: points(found.index + found[0].length) }
        assert.deepStrictEqual(
          searchSteps(pattern, some).found,
          expected,
          `${String(pattern)} on ${JSON.stringify(some)}`
        )
      }),
      { numRuns: 3_000 }
    )
  })

  it("S2 linear, quadratic and cubic work are distinguished", () => {
    assert.isBelow(growthWith(/[a-z]+1/gu, "ab ", 300).factor, 2.1)
    assert.isAbove(growthWith(/[a-z]+1/gu, "ab", 300).factor, 3.5)
    assert.isAbove(growthWith(/[a-z]+[a-z]*1/gu, "ab", 100).factor, 7)
  })

  it("P1 what is not counted is refused", () => {
    assert.throws(() => searchSteps(/(a)\1/, "aa"), /back references/)
  })
})
