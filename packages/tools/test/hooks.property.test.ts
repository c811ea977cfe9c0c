import { assert, describe, it } from "@effect/vitest"
import type { PromptMessage } from "@reverie/model"
import * as fc from "fast-check"
import { editsOf, withEdits } from "../src/index.ts"

const aMessage: fc.Arbitrary<PromptMessage> = fc.record({
  role: fc.constantFrom("system" as const, "user" as const, "assistant" as const),
  content: fc.constantFrom("a", "b", "c")
})
const messages = fc.array(aMessage, { maxLength: 8 })

describe("PromptEdits", () => {
  it("E1 the edits of two lists turn the first into the second, and equal lists have none", () => {
    fc.assert(
      fc.property(messages, messages, (before, after) => {
        const edits = editsOf(before, after)
        assert.deepStrictEqual([...withEdits(before, edits)], after)
        assert.deepStrictEqual(editsOf(before, before), [])
        const kept = before.length - edits.reduce((sum, { drop }) => sum + drop, 0)
        assert.isAtLeast(kept, 0)
      })
    )
  })

  it("E1 only what differs stands in an edit", () => {
    const of = (...contents: ReadonlyArray<string>) => contents.map((content) => ({ role: "user" as const, content }))
    assert.deepStrictEqual(editsOf(of("a", "b", "c"), of("a", "x", "c")), [{ at: 1, drop: 1, add: of("x") }])
    assert.deepStrictEqual(editsOf(of("a", "b"), of("a", "b", "x")), [{ at: 2, drop: 0, add: of("x") }])
    assert.deepStrictEqual(editsOf(of("a", "b", "c"), of("a", "c")), [{ at: 1, drop: 1, add: [] }])
  })
})
