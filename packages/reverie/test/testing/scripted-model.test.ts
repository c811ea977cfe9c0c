import { assert, describe, it } from "vitest"
import { defineAssistant, defineFleet, defineTool, Fleet } from "../../src/index.ts"
import {
  type Answer,
  calls,
  denied,
  refused,
  ScriptBroken,
  scriptedModel,
  testFleet,
  unavailable,
  unusable
} from "../../src/testing/index.ts"

const look = defineTool({ name: "look", description: "Looks.", run: () => "a gull" })

const desk = defineAssistant({ id: "desk", instructions: "You keep the desk.", tools: [look] })

const open = (model: ReturnType<typeof scriptedModel>) =>
  Fleet.open({ data: ":memory:", model, fleet: defineFleet({ assistants: [desk] }) })

describe("a scripted model", () => {
  it("S1 answers in order, calls tools, and keeps what it was asked", async () => {
    const model = scriptedModel([calls("look"), { text: "A gull.", usage: { inputTokens: 90, outputTokens: 7 } }])
    await using fleet = await open(model)
    assert.strictEqual(await fleet.answer("desk", "What is there?"), "A gull.")
    assert.deepStrictEqual(
      model.requests.map(({ number, purpose }) => [number, purpose]),
      [
        [1, "tick"],
        [2, "tick"]
      ]
    )
    assert.include(model.requests[0]?.text, "You keep the desk.")
    assert.strictEqual(model.requests[0]?.last, "What is there?")
    assert.strictEqual(model.requests[1]?.last, "a gull")
    assert.includeMembers(model.requests[0]?.tools.map(({ name }) => name) ?? [], ["look"])
    assert.deepStrictEqual([model.left, model.problem], [0, undefined])
    const [tick] = (await fleet.history.ticks("desk")).ticks
    assert.deepInclude(tick?.calls.at(-1)?.usage, { inputTokens: 90, outputTokens: 7 })
  })

  it("S1 a function answers with values or promises, and streams word by word", async () => {
    const model = scriptedModel(async ({ last, number }) => `${number}: you said ${last}`)
    const words: Array<string> = []
    const streamed = {
      ...model,
      infer: ((prompt, options) =>
        model.infer(prompt, {
          ...options,
          onText: (word) => {
            words.push(word)
            options?.onText?.(word)
          }
        })) satisfies typeof model.infer
    }
    await using fleet = await open(streamed as typeof model)
    const parts = await Array.fromAsync(fleet.ask("desk", "hello there"))
    assert.deepStrictEqual(words, ["1: ", "you ", "said ", "hello ", "there"])
    assert.deepInclude(parts.at(-1), { type: "done", reply: "1: you said hello there" })
  })

  it("S2 asked more often than it knows, it halts the assistant and says what it was asked", async () => {
    const model = scriptedModel([calls("look")])
    await using fleet = await open(model)
    const parts = await Array.fromAsync(fleet.ask("desk", "What is there?"))
    assert.deepInclude(parts.at(-1), { type: "halted" })
    assert.instanceOf(model.problem, ScriptBroken)
    assert.strictEqual(
      model.problem?.message,
      'the script has no more answers than 1, and the model was asked (call 2): "a gull"'
    )
  })

  it("S2 a script that throws is a problem of the script", async () => {
    const model = scriptedModel(() => {
      throw new Error("no such case")
    })
    await using fleet = await open(model)
    assert.deepInclude((await Array.fromAsync(fleet.ask("desk", "Hi."))).at(-1), { type: "halted" })
    assert.match(model.problem?.message ?? "", /the script threw on call 1: Error: no such case/)
  })

  it("a failure does what a provider's does", async () => {
    const ends = async (first: Answer): Promise<string> => {
      const model = scriptedModel([first, "Back again."])
      await using fleet = await testFleet(desk, { model })
      const parts = await Array.fromAsync(fleet.ask("desk", "Hi."))
      assert.strictEqual(model.problem, undefined)
      const last = parts.at(-1)
      return last?.type === "done" ? last.reply : (last?.type ?? "nothing")
    }
    assert.strictEqual(await ends(unusable()), "Back again.")
    assert.strictEqual(await ends(unavailable()), "Back again.")
    assert.strictEqual(await ends(refused()), "failed")
    assert.strictEqual(await ends(denied()), "halted")
  })

  it("S3 a list speaks of ticks alone: what memory asks is answered by rules", async () => {
    const model = scriptedModel(["Noted."])
    await using fleet = await open(model)
    await fleet.answer("desk", "My name is Ann and I sail the Aurora out of Bergen.")
    await fleet.sleep("desk")
    await fleet.idle()
    assert.strictEqual(model.problem, undefined)
    assert.isAbove(model.requests.filter(({ purpose }) => purpose === "dream").length, 0)
    assert.isAbove((await fleet.memory.dreams("desk")).length, 0)
  })
})
