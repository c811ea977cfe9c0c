import { assert, describe, it } from "@effect/vitest"
import { type Behaviour, type ModelRequest, type ScriptedReply, saying } from "@reverie/testkit/model-server"
import * as Effect from "effect/Effect"
import { aPrompt, harbor } from "./harbor-model.ts"

const replies = (...all: ReadonlyArray<ScriptedReply>): Behaviour => ({
  sequence: all.map((reply) => ({ script: () => reply }))
})

const lastText = (request: ModelRequest | undefined): string => String(request?.messages.at(-1)?.content)

const good: ScriptedReply = { calls: [{ tool: "look", arguments: { text: "x" } }] }

describe("I2 what was wrong is said exactly, and the second reply counts", () => {
  const table: ReadonlyArray<readonly [string, ScriptedReply, string]> = [
    [
      "an unknown tool",
      { calls: [{ tool: "peer", arguments: {} }] },
      "there is no tool named peer; the tools are: look"
    ],
    [
      "arguments that are no JSON",
      { calls: [{ tool: "look", arguments: "{berth: 7}" }] },
      "they begin with: {berth: 7}"
    ],
    [
      "arguments that are a list",
      { calls: [{ tool: "look", arguments: "[7]" }] },
      "the arguments of look must be one JSON object, not a list"
    ],
    ["an empty reply", { text: "" }, "the reply held neither text nor a tool call"],
    [
      "too many calls",
      { calls: Array.from({ length: 17 }, () => ({ tool: "look", arguments: {} })) },
      "17 tool calls in one reply are too many; at most 16 are allowed"
    ]
  ]
  it.live.each(table)("%s", ([, wrong, complaint]) =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor(replies(wrong, good))
      const reply = yield* model.infer(aPrompt())
      assert.deepStrictEqual(reply.calls, [{ id: "7.1.0", tool: "look", arguments: { text: "x" } }])
      assert.deepStrictEqual(reply.usage, { inputTokens: 24, outputTokens: 10, source: "provider" })
      assert.lengthOf(server.requests, 2)
      assert.include(lastText(server.requests[1]), complaint)
      assert.deepStrictEqual(server.requests[1]?.tools, ["look"])
    }).pipe(Effect.scoped)
  )
})

it.live("I1 each call of a faulty reply is answered, the good ones as not run, and what was wrong stands last", () =>
  Effect.gen(function* () {
    const wrong: ScriptedReply = {
      text: "Let me see.",
      calls: [
        { tool: "peer", arguments: { text: "a" } },
        { tool: "look", arguments: { text: "b" } }
      ]
    }
    const { model, server } = yield* harbor(replies(wrong, good))
    yield* model.infer(aPrompt())
    const [assistant, first, second, ...rest] = server.requests[1]?.messages.slice(2) ?? []
    assert.lengthOf(rest, 0)
    assert.deepInclude(assistant, { role: "assistant", content: "Let me see." })
    const ids = (assistant?.tool_calls ?? []).map((call) => (call as { readonly id: string }).id)
    assert.deepStrictEqual(ids, ["7_1_0", "7_1_1"])
    assert.deepStrictEqual([first?.tool_call_id, second?.tool_call_id], ids)
    assert.include(String(first?.content), "there is no tool named peer")
    assert.include(String(second?.content), "there is no tool named peer")
  }).pipe(Effect.scoped)
)

it.live("I2 two unusable replies are ReplyUnusable after two requests, not three", () =>
  Effect.gen(function* () {
    const { model, server } = yield* harbor({ script: saying("") })
    const error = yield* Effect.flip(model.infer(aPrompt()))
    assert.strictEqual(error._tag, "ReplyUnusable")
    assert.include(error.message, "neither text nor a tool call")
    assert.lengthOf(server.requests, 2)
  }).pipe(Effect.scoped)
)

it.live("I2 arguments that stay broken are handed over as malformed, in words", () =>
  Effect.gen(function* () {
    const { model } = yield* harbor({ script: () => ({ calls: [{ tool: "look", arguments: '{"text": berth}' }] }) })
    const { calls, usage } = yield* model.infer(aPrompt())
    assert.lengthOf(calls, 1)
    assert.deepStrictEqual(calls[0]?.arguments, {})
    assert.match(
      calls[0]?.malformed ?? "",
      /^the arguments of look are not JSON \(.*\); they begin with: \{"text": berth\}$/
    )
    assert.strictEqual(usage.inputTokens, 24)
  }).pipe(Effect.scoped)
)

it.live("I2 when the repair gets no answer, the first reply with its calls is better than nothing", () =>
  Effect.gen(function* () {
    const { model } = yield* harbor({
      sequence: [{ script: () => ({ calls: [{ tool: "peer", arguments: {} }] }) }, { mode: "bad-request" }]
    })
    const reply = yield* model.infer(aPrompt())
    assert.deepStrictEqual(reply.calls, [{ id: "7.1.0", tool: "peer", arguments: {} }])
  }).pipe(Effect.scoped)
)

it.live("I2 when the repair of an empty reply gets no answer, its failure stands", () =>
  Effect.gen(function* () {
    const { model } = yield* harbor({ sequence: [{ script: saying("") }, { mode: "unauthorized" }] })
    assert.strictEqual((yield* Effect.flip(model.infer(aPrompt())))._tag, "ModelDenied")
  }).pipe(Effect.scoped)
)

it.live("I2 a preview is not given twice: a repaired text is heard once", () =>
  Effect.gen(function* () {
    const { model } = yield* harbor(
      replies({ text: "Hm.", calls: [{ tool: "peer", arguments: {} }] }, { text: "Better." })
    )
    const heard: Array<string> = []
    const reply = yield* model.infer(aPrompt(), { onText: (text) => heard.push(text) })
    assert.strictEqual(reply.text, "Better.")
    assert.deepStrictEqual(heard, ["Hm."])
  }).pipe(Effect.scoped)
)
