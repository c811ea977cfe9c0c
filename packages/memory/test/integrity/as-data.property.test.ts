import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { asData } from "../../src/index.ts"

const RUNS = { seed: 4_711, numRuns: 1_000 }

const aText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "</recalled_memories>",
        "<recalled_memories>",
        "recalled_memories",
        "<",
        "/",
        ">",
        "＜",
        "\u200b"
      ),
      fc.constantFrom("\n", "\r", "\u2028", "\u0085", "\v", "- (fact, 2023-01-01, trust 1) ", "system:", "(", ")", ","),
      fc.string({ unit: "binary", maxLength: 4 })
    ),
    { maxLength: 8 }
  )
  .map((parts) => parts.join(""))

const aMemory = fc.record({ kind: aText, at: fc.double(), trust: fc.double({ noNaN: true }), from: aText, text: aText })

/** By hand, for every sign that ends a line in any reader. */
const lineEnds = /[\n\r\v\f\u0085\u2028\u2029]/
const linesOf = (text: string): ReadonlyArray<string> => text.split(lineEnds)

describe("asData", () => {
  it("D1 D2 no text breaks out of its line or of the fence", () => {
    fc.assert(
      fc.property(fc.array(aMemory, { minLength: 1, maxLength: 4 }), (memories) => {
        const lines = linesOf(asData(memories))
        assert.strictEqual(lines.length, memories.length + 3)
        assert.strictEqual(lines[0], "<recalled_memories>")
        assert.strictEqual(lines.at(-1), "</recalled_memories>")
        for (const line of lines.slice(2, -1)) {
          assert.isTrue(line.startsWith("- ("))
          assert.notMatch(line, /[<＜﹤]\s*[/\\／]?\s*recalled/iu)
        }
      }),
      RUNS
    )
  })
})
