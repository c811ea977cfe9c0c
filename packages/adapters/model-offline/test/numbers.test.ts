// Numbers of a message, as the arguments of a call that is chosen by its words.

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { offlineModel } from "../src/index.ts"

const store = {
  name: "store_memory",
  description: "Puts something away for good.",
  parameters: {
    type: "object",
    properties: { text: { type: "string" }, importance: { type: "integer", minimum: 1, maximum: 10 } },
    required: ["text"]
  }
}

const importanceOf = (content: string): unknown => {
  const prompt = { messages: [{ role: "user" as const, content, name: "ann" }], tools: [store], callPrefix: "1.1" }
  const [call] = Effect.runSync(offlineModel().infer(prompt)).calls
  assert(call !== undefined)
  assert.strictEqual(call.tool, "store_memory", content)
  return Reflect.get(Object(call.arguments), "importance")
}

describe("numbers of a message", () => {
  it("D3 a number that stands in a word, and one that the parameter can not be, fill nothing", () => {
    for (const text of [
      "Store in memory that the code is kestrel-7781.",
      "Store in memory that the code is -7781.",
      "Store in memory that the year is 2019.",
      "Store in memory that the depth is 2.5 metres.",
      "Store in memory that berth B7 is closed."
    ]) {
      assert.isUndefined(importanceOf(text), text)
    }
  })

  it("D3 of several numbers the first that fits is taken", () => {
    assert.strictEqual(importanceOf("Store in memory with importance 8 that the year is 2019."), 8)
    assert.strictEqual(importanceOf("Store in memory that the code is kestrel-7781, importance 9."), 9)
  })
})
