import { assert, describe, it } from "@effect/vitest"
import type { PromptMessage, ToolOffer } from "@reverie/model"
import type { Json } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { offlineModel } from "../src/index.ts"

const model = offlineModel()
const system: PromptMessage = { role: "system", content: "You keep the harbour. The office opens at six." }
const user = (content: string): PromptMessage => ({ role: "user", content, name: "ann" })
const offer = (name: string, description: string, properties: { readonly [name: string]: Json }): ToolOffer => ({
  name,
  description,
  parameters: { type: "object", properties, required: [] }
})
const tides = offer("tide_table", "Tells when the water is high and low.", { day: { type: "string" } })
const say = offer("say", "Says something to whoever asked.", { text: { type: "string" } })
const promptOf = (messages: ReadonlyArray<PromptMessage>, tools: ReadonlyArray<ToolOffer> = [tides]) => ({
  messages,
  tools,
  callPrefix: "7.1"
})

describe("O8 an answer that must have a form", () => {
  const formed = (properties: { readonly [name: string]: Json }, ...messages: ReadonlyArray<PromptMessage>) => {
    const schema = { type: "object", properties, required: Object.keys(properties) }
    const prompt = { ...promptOf([system, ...messages]), output: { name: "answer", schema } }
    const { calls, text } = Effect.runSync(model.infer(prompt))
    assert.deepStrictEqual(Effect.runSync(model.infer(prompt)).text, text)
    return calls.length > 0 ? calls.map(({ tool }) => tool) : (JSON.parse(text) as Json)
  }
  const found: ReadonlyArray<PromptMessage> = [
    user("Which berth is free for 34 metres?"),
    { role: "assistant", content: "", calls: [{ id: "7.1.0", tool: "find_berth", arguments: { metres: 34 } }] },
    { role: "tool", content: "berth 7, from noon", call: "7.1.0", name: "find_berth" }
  ]

  it("has what stands behind the names, in the answer first and then in the question", () => {
    const properties = {
      berth: { type: "number" },
      from: { type: "string" },
      free: { type: "boolean" },
      metres: { type: "integer", maximum: 30 },
      side: { enum: ["port", "starboard"] },
      by: { type: ["string", "null"] },
      ships: { type: "array", items: { type: "object", properties: { name: { const: "Aurora" } }, required: ["name"] } }
    }
    assert.deepStrictEqual(formed(properties, ...found), {
      berth: 7,
      from: "noon",
      free: true,
      metres: 30,
      side: "port",
      by: "berth 7, from noon.",
      ships: [{ name: "Aurora" }]
    })
  })

  it("has a value for whatever the schema asks for, however little was said", () => {
    const properties = {
      count: { type: "integer", minimum: 3 },
      code: { type: "string", maxLength: 4 },
      any: {},
      one: { anyOf: [{ type: "null" }, { type: "boolean" }] },
      both: { allOf: [{ type: "object", properties: { a: { const: 1 } }, required: ["a"] }] },
      none: { type: "null" },
      rest: { type: "object", properties: { maybe: { type: "string" } } }
    }
    const said = formed(properties, user("It rains.")) as { readonly [name: string]: Json }
    assert.deepInclude(said, { count: 3, one: false, both: { a: 1 }, none: null, rest: {} })
    assert.lengthOf(String(said["code"]), 4)
  })

  it("tools are called before it, and none that speaks in its place", () => {
    assert.deepStrictEqual(formed({ ok: { type: "boolean" } }, user("/tide_table day=monday")), ["tide_table"])
    const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] }
    const prompt = { ...promptOf([system, ...found], [say]), output: { name: "answer", schema } }
    assert.deepStrictEqual(Effect.runSync(model.infer(prompt)).calls, [])
  })
})
