import { assert, it } from "@effect/vitest"
import type { PromptMessage, ToolOffer } from "@reverie/model"
import type { Json } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as fc from "fast-check"
import { offlineModel } from "../src/index.ts"
import { MAX_CALLS } from "../src/offline-model.ts"

const model = offlineModel()
const words = fc.array(
  fc.constantFrom(
    "book",
    "berth",
    "ship",
    '"',
    "12",
    "/book",
    "{",
    "=",
    "\n",
    "?",
    "not",
    ",",
    "who",
    "\uD800",
    "港",
    "says."
  ),
  { maxLength: 12 }
)
const text = fc.oneof(
  words.map((all) => all.join(" ")),
  fc.string({ unit: "binary" })
)
const schema: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    { type: "string" },
    { type: "number" },
    { type: ["null", "integer"] },
    { enum: ["ship", 4, null] },
    { type: "array" },
    { type: "boolean" }
  ),
  fc.jsonValue().map((value) => value as Json)
)
const offers: fc.Arbitrary<ReadonlyArray<ToolOffer>> = fc.array(
  fc.record({
    name: fc.constantFrom("book_berth", "say", "findShip", "x"),
    description: text,
    parameters: fc.record({
      type: fc.constant("object"),
      properties: fc.dictionary(fc.constantFrom("ship", "text", "length"), schema),
      required: schema
    })
  }),
  { maxLength: 4 }
)
const messages: fc.Arbitrary<ReadonlyArray<PromptMessage>> = fc.array(
  fc.record({
    role: fc.constantFrom("user", "system", "tool", "assistant"),
    content: text,
    name: fc.constantFrom("ann", "book_berth", "say")
  }),
  { maxLength: 6 }
)

it("O1 O2 O3 any prompt that asks something has a complete reply, and the same one again", () => {
  fc.assert(
    fc.property(messages, offers, (messages, tools) => {
      const prompt = { messages, tools, callPrefix: "1.1" }
      const reply = Effect.runSyncExit(model.infer(prompt))
      const asked = messages.findLast(({ role }) => role === "user")?.content
      assert.strictEqual(Exit.isSuccess(reply), asked?.trim() !== "")
      if (!Exit.isSuccess(reply)) return
      const { calls, finish, text } = reply.value
      assert.strictEqual(finish, calls.length > 0 ? "tool-calls" : "stop")
      assert.strictEqual(text === "", calls.length > 0)
      assert.deepStrictEqual(
        calls.map(({ id }) => id),
        calls.map((_, index) => `1.1.${index}`)
      )
      assert.deepStrictEqual(JSON.parse(JSON.stringify(calls)), calls)
      assert.deepStrictEqual(Effect.runSync(model.infer(prompt)), reply.value)
    }),
    { numRuns: 1_000 }
  )
})

it("O2 a turn comes to rest within MAX_CALLS, unless more are written out", () => {
  fc.assert(
    fc.property(
      text.filter((each) => !each.includes("/") && each.trim() !== ""),
      offers,
      fc.array(text, { minLength: 4, maxLength: 4 }),
      (asked, tools, results) => {
        const history: Array<PromptMessage> = [{ role: "user", content: asked }]
        const made: Array<string> = []
        for (const content of results) {
          const reply = Effect.runSync(model.infer({ messages: history, tools, callPrefix: "1.1" }))
          if (reply.calls.length === 0) break
          history.push({ role: "assistant", content: "", calls: reply.calls })
          for (const { arguments: args, id, tool } of reply.calls) {
            made.push(JSON.stringify([tool, args]))
            history.push({ role: "tool", content, call: id, name: tool })
          }
        }
        assert.isAtMost(made.length, MAX_CALLS)
        assert.strictEqual(new Set(made).size, made.length)
      }
    ),
    { numRuns: 500 }
  )
})
