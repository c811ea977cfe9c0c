// Questions that were asked before: their end comes out of the ledger, and comes once.

import { ModelRefused, ModelUnavailable } from "@reverie/model"
import { type Script, scriptedModel } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { assert, describe, test } from "vitest"
import { defineAssistant, defineFleet, defineTool, Fleet, type FleetOptions, type Part } from "../src/index.ts"

const sign = defineTool({ name: "sign", description: "Signs.", needsApproval: true, run: () => "signed" })
const fleet = defineFleet({
  assistants: [
    defineAssistant({ id: "clerk", instructions: "You are a clerk.", tools: [sign] }),
    defineAssistant({ id: "scribe", instructions: "You are a scribe.", listening: { direct: "context" } })
  ]
})

const open = (model: FleetOptions["model"] = "offline") => Fleet.open({ fleet, data: ":memory:", model })
const partsOf = (parts: AsyncIterable<Part>): Promise<ReadonlyArray<Part>> => Array.fromAsync(parts)

describe("ask", () => {
  test("I1 I2 a question that was answered before gives its answer again, however much came after it", async () => {
    await using opened = await open()
    const first = await partsOf(opened.ask("clerk", "Who are you?", { id: "q" }))
    for (let count = 0; count < 3; count++) await opened.answer("clerk", "Good morning")
    const again = await partsOf(opened.ask("clerk", "Who are you?", { id: "q" }))
    assert.deepStrictEqual(again, first.slice(-1))
    assert.deepInclude(again[0], { type: "done", outcome: "answered" })
    assert.strictEqual((await opened.views())[0]?.ticks, 4)
  })

  test("I2 one that failed before fails again, with the reason", async () => {
    const refused = new ModelRefused({ provider: "scripted", kind: "bad-request", message: "no such thing" })
    await using opened = await open(scriptedModel(() => Effect.fail(refused)).model)
    const first = await partsOf(opened.ask("clerk", "Hello.", { id: "q" }))
    assert.strictEqual(first.at(-1)?.type, "failed")
    assert.deepStrictEqual(await partsOf(opened.ask("clerk", "Hello.", { id: "q" })), first.slice(-1))
  })

  test("I1 one that is still at work is waited for", async () => {
    await using opened = await open()
    await opened.send("clerk", "/sign", { id: "q" })
    await opened.idle()
    const again = partsOf(opened.ask("clerk", "/sign", { id: "q" }))
    const [view] = await opened.views()
    await opened.approve("clerk", view?.approvals[0]?.approval ?? "")
    assert.deepInclude((await again).at(-1), { type: "done", reply: "signed." })
  })

  test("a model that is away is said at once with its server; the question waits, and is answered", async () => {
    let isBack = false
    const down = new ModelUnavailable({ provider: "models.example:8443", message: "ECONNREFUSED", kind: "network" })
    const says: Script = () => (isBack ? Effect.succeed({ text: "Yes." }) : Effect.fail(down))
    const { model } = scriptedModel(says)
    const settings = { retryMinMs: 3_600_000, retryMaxMs: 3_600_000 }
    const both = ["clerk", "other"].map((id) => defineAssistant({ id, instructions: "You are a clerk.", settings }))
    await using opened = await Fleet.open({ fleet: defineFleet({ assistants: both }), data: ":memory:", model })
    const parts: Array<Part> = []
    for await (const part of opened.ask("clerk", "Are you there?")) {
      parts.push(part)
      if (part.type !== "retry" || !part.error.message.startsWith("it waits")) continue
      isBack = true
      await opened.send("other", "And you?")
    }
    const reasons = parts.flatMap((part) => (part.type === "retry" ? [part.error.message] : []))
    assert.include(
      reasons,
      "it waits for the model at models.example:8443, which does not answer: ModelUnavailable: ECONNREFUSED"
    )
    assert.deepInclude(parts.at(-1), { type: "done", outcome: "answered", reply: "Yes." })
  })

  test("I1 what is only overheard ends without an answer, the first time and the second", async () => {
    await using opened = await open()
    const noted: ReadonlyArray<Part> = [{ type: "done", outcome: "noted", reply: "" }]
    assert.deepStrictEqual(await partsOf(opened.ask("scribe", "It rains.", { id: "q" })), noted)
    assert.deepStrictEqual(await partsOf(opened.ask("scribe", "It rains.", { id: "q" })), noted)
  })
})
