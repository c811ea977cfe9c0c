import { assert, describe, it } from "@effect/vitest"
import { firstOf, type InferOptions, type Model, ModelDenied, type Prompt } from "@reverie/model"
import * as Effect from "effect/Effect"
import { aiSdkModel, type LanguageModel } from "../../src/models/ai-sdk-model.ts"
import { ownModel } from "../../src/models/promise-model.ts"

const prompt: Prompt = {
  messages: [{ role: "user", content: "Is berth 7 free?" }],
  tools: [{ name: "look.up", description: "Looks.", parameters: { type: "object" } }],
  callPrefix: "1.1"
}

/** What is shown, a line a piece. */
const shownBy = async (model: Model["Service"]): Promise<ReadonlyArray<string>> => {
  const lines: Array<string> = []
  const options: InferOptions = {
    onText: (text) => lines.push(`text ${text}`),
    onReasoning: (text) => lines.push(`thinks ${text}`),
    onCall: ({ arguments: args, call, tool }) => lines.push(`call ${call} ${tool} ${args}`),
    onDropped: () => lines.push("dropped")
  }
  await Effect.runPromise(Effect.exit(model.infer(prompt, options)))
  return lines
}

const streaming = (...answers: ReadonlyArray<ReadonlyArray<object>>): LanguageModel => {
  let asked = 0
  return {
    specificationVersion: "v3",
    provider: "some.chat",
    modelId: "some-1",
    doGenerate: () => Promise.reject(new Error("a stream was expected")),
    doStream: async () => ({ stream: ReadableStream.from(answers[asked++] ?? []) })
  }
}

const end = { type: "finish", finishReason: "tool-calls", usage: { inputTokens: 1, outputTokens: 1 } }

const thoughts = [
  { type: "reasoning-start", id: "r" },
  { type: "reasoning-delta", id: "r", delta: "Let me see." },
  { type: "reasoning-end", id: "r" }
]

describe("what a reply shows while it comes", () => {
  it("a model of the AI SDK: reasoning, text, and each call with its arguments, under our names", async () => {
    const whole = { type: "tool-call", toolCallId: "b", toolName: "tide", input: '{"at":1}' }
    const model = streaming([
      ...thoughts,
      { type: "text-delta", id: "0", delta: "One moment." },
      { type: "tool-input-start", id: "x", toolName: "web_search", providerExecuted: true },
      { type: "tool-input-start", id: "a", toolName: "look_up" },
      { type: "tool-input-delta", id: "a", delta: '{"berth":' },
      { type: "tool-input-delta", id: "a", delta: "7}" },
      { type: "tool-input-end", id: "a" },
      { type: "tool-call", toolCallId: "a", toolName: "look_up", input: '{"berth":7}' },
      whole,
      end
    ])
    assert.deepStrictEqual((await shownBy(aiSdkModel(model, { backoffMs: 1 }))).slice(0, 7), [
      "thinks Let me see.",
      "text One moment.",
      "call 0 look.up ",
      'call 0  {"berth":',
      "call 0  7}",
      'call 1 tide {"at":1}',
      // No tool is named so: the reply is asked for again.
      "dropped"
    ])
  })

  it("W1 a stream that breaks off is dropped before the next attempt shows anything", async () => {
    const broken = [...thoughts, { type: "text-delta", id: "0", delta: "Six" }]
    const model = streaming(broken, [
      { type: "text-delta", id: "0", delta: "Seven." },
      { ...end, finishReason: "stop" }
    ])
    assert.deepStrictEqual(await shownBy(aiSdkModel(model, { backoffMs: 1 })), [
      "thinks Let me see.",
      "text Six",
      "dropped",
      "text Seven."
    ])
  })

  it("W2 an async infer shows what it likes, and an attempt that was given up nothing more", async () => {
    let late: (text: string) => void = () => {}
    let asked = 0
    const model = ownModel(
      {
        name: "own",
        infer: async (_, { onCall, onReasoning, onText }) => {
          if (asked++ === 0) {
            onReasoning?.("Hm.")
            late = onText ?? late
            throw Object.assign(new Error("overloaded"), { statusCode: 503 })
          }
          late("too late")
          onText?.("Yes.")
          onText?.(7 as never)
          onCall?.({ call: 0, tool: "look_up", arguments: "{}" })
          return { text: "Yes.", calls: [{ tool: "look_up", arguments: {} }] }
        }
      },
      { backoffMs: 1 }
    )
    assert.deepStrictEqual(await shownBy(model), ["thinks Hm.", "dropped", "text Yes.", "call 0 look.up {}"])
  })

  it("O7 of several models: what one has shown that did not answer is dropped before the next one shows anything", async () => {
    const denied: Model["Service"] = {
      infer: (_, options) => {
        options?.onText?.("I begin")
        return Effect.fail(new ModelDenied({ provider: "p", status: 401, message: "no" }))
      }
    }
    const answers = ownModel({
      name: "own",
      infer: async (_, { onText }) => {
        onText?.("I do.")
        return "I do."
      }
    })
    assert.deepStrictEqual(await shownBy(firstOf([denied, answers])), ["text I begin", "dropped", "text I do."])
  })
})
