import { assert, it } from "@effect/vitest"
import { Model, ModelDenied, type Prompt } from "@reverie/model"
import { inTurn, scriptedModel } from "@reverie/testkit"
import * as Effect from "effect/Effect"

const prompt: Prompt = { messages: [{ role: "user", content: "hello" }], tools: [], callPrefix: "3.1" }

it.effect("S1 S2 says its lines in turn, then the last one again, and names its calls as asked", () =>
  Effect.gen(function* () {
    const denied = new ModelDenied({ provider: "scripted", message: "no", status: 401 })
    const scripted = scriptedModel(
      inTurn({ calls: [{ tool: "look" }, { tool: "note", arguments: { text: "x" } }] }, denied, { text: "done" })
    )
    const infer = Effect.provide(
      Model.use((model) => model.infer(prompt)),
      scripted.layer
    )
    const first = yield* infer
    assert.deepStrictEqual(first.calls, [
      { id: "3.1.0", tool: "look", arguments: {} },
      { id: "3.1.1", tool: "note", arguments: { text: "x" } }
    ])
    assert.strictEqual(first.finish, "tool-calls")
    assert.strictEqual(yield* Effect.flip(infer), denied)
    assert.strictEqual((yield* infer).text, "done")
    assert.strictEqual((yield* infer).finish, "stop")
    assert.deepStrictEqual(scripted.prompts, [prompt, prompt, prompt, prompt])
  })
)

it.effect("hands the prompt and the number of the call to the script, and streams what it says", () =>
  Effect.gen(function* () {
    const heard: Array<string> = []
    const scripted = scriptedModel(({ messages }, call) =>
      Effect.succeed({ text: `${call}: ${messages[0]?.content ?? ""}` })
    )
    const infer = scripted.model.infer(prompt, { onText: (text) => heard.push(text) })
    yield* infer
    yield* infer
    assert.deepStrictEqual(heard, ["1: hello", "2: hello"])
  })
)
