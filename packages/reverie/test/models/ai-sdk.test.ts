// What a model of the AI SDK gets besides the conversation: caches, tools, forms and options.

import { assert, describe, it } from "@effect/vitest"
import { Model, type OutputForm, type Prompt } from "@reverie/model"
import * as Effect from "effect/Effect"
import { aiSdkModel, type LanguageModel } from "../../src/models/ai-sdk-model.ts"
import { type ModelObject, modelLayer } from "../../src/models/model-choice.ts"
import type { ModelSettings } from "../../src/models/ai-sdk-prompt.ts"

// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

interface Recorded {
  readonly model: LanguageModel
  readonly asked: Array<Loose>
}

const usage = { inputTokens: { total: 20 }, outputTokens: { total: 9 } }

/** A model that answers in turn, and keeps what it was asked. */
const recording = (
  provider: string,
  modelId: string,
  { answers = [{ text: "Yes." }], version = "v3" }: { answers?: ReadonlyArray<Loose>; version?: string } = {}
): Recorded => {
  const asked: Array<Loose> = []
  const next = (options: Loose): Loose => {
    asked.push(options)
    const answer = answers[Math.min(asked.length, answers.length) - 1]
    if (answer instanceof Error) throw answer
    return answer
  }
  const end = { finishReason: { unified: "stop", raw: "stop" }, usage }
  const model: LanguageModel = {
    specificationVersion: version,
    provider,
    modelId,
    doGenerate: async (options: Loose) => {
      const { text, warnings = [] } = next(options)
      return { content: [{ type: "text", text }], warnings, ...end }
    },
    doStream: async (options: Loose) => {
      const { text, warnings = [] } = next(options)
      const parts = [
        { type: "stream-start", warnings },
        { type: "text-delta", id: "0", delta: text },
        { type: "finish", ...end }
      ]
      return { stream: ReadableStream.from(parts) }
    }
  }
  return { model, asked }
}

const tool = (name: string) => ({ name, description: "Looks.", parameters: { type: "object" } })

const prompt: Prompt = {
  messages: [
    { role: "system", content: "You assign berths." },
    { role: "system", content: "Be brief." },
    { role: "user", content: "Which berth is free?" },
    { role: "assistant", content: "", calls: [{ id: "1.1.0", tool: "look", arguments: {} }] },
    { role: "tool", call: "1.1.0", content: "Berth 7." },
    { role: "user", content: "Really?" }
  ],
  tools: [tool("look"), tool("book")],
  cacheKey: "desk",
  lasting: 5,
  callPrefix: "1.2"
}

const once = { retries: 0 }

const infer = (model: Model["Service"], asked: Prompt, isHeard = false) =>
  model.infer(asked, isHeard ? { onText: () => {} } : undefined)

const askedBy = async (recorded: Recorded, given: Prompt = prompt, settings?: ModelSettings): Promise<Loose> => {
  await Effect.runPromise(aiSdkModel(recorded.model, once, settings).infer(given))
  return recorded.asked.at(-1)
}

/** Where a request is marked, and with what. */
const marksIn = ({ prompt: messages, tools }: Loose) => ({
  messages: messages.flatMap(({ providerOptions }: Loose, at: number) =>
    providerOptions ? [[at, providerOptions]] : []
  ),
  tools: tools.flatMap(({ name, providerOptions }: Loose) => (providerOptions ? [[name, providerOptions]] : []))
})

const EPHEMERAL = { anthropic: { cacheControl: { type: "ephemeral" } } }
const POINT = { bedrock: { cachePoint: { type: "default" } } }

describe("A6 the cache of a provider", () => {
  it.each([
    ["anthropic.messages", "claude-sonnet-4-5", EPHEMERAL],
    ["vertex.anthropic.messages", "claude-sonnet-4-5", EPHEMERAL],
    ["gateway", "anthropic/claude-sonnet-4-5", EPHEMERAL],
    ["amazon-bedrock", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", POINT],
    ["amazon-bedrock", "amazon.nova-pro-v1:0", POINT],
    ["amazon-bedrock", "meta.llama3-70b-instruct-v1:0", undefined],
    ["amazon-bedrock", "anthropic.claude-3-sonnet-20240229-v1:0", undefined],
    ["google.generative-ai", "gemini-3-pro", undefined],
    ["openai.responses", "gpt-5", undefined]
  ])("%s, %s: the ends of the tools, of the instructions and of what lasts are marked", async (provider, id, mark) => {
    const { messages, tools } = marksIn(await askedBy(recording(provider, id)))
    assert.deepStrictEqual(
      messages,
      mark === undefined
        ? []
        : [
            [1, mark],
            [4, mark]
          ]
    )
    assert.deepStrictEqual(tools, mark === undefined ? [] : [["book", mark]])
  })

  it("a mark stands on no empty text, and changes no text", async () => {
    const said: Prompt = {
      ...prompt,
      messages: [...prompt.messages.slice(0, 3), { role: "assistant", content: "" }],
      lasting: 4
    }
    const { messages } = marksIn(await askedBy(recording("anthropic.messages", "claude-x"), said))
    assert.deepStrictEqual(
      messages.map(([at]: Loose) => at),
      [1, 2]
    )
    const without = (options: Loose) => options.prompt.map(({ providerOptions: _, ...message }: Loose) => message)
    const [marked, plain] = [recording("anthropic.messages", "c"), recording("google.generative-ai", "c")]
    assert.deepStrictEqual(without(await askedBy(marked)), without(await askedBy(plain)))
  })

  it("OpenAI gets a key, and the options of a program stand in its place", async () => {
    for (const provider of ["openai.chat", "openai.responses", "azure.responses"]) {
      const { providerOptions } = await askedBy(recording(provider, "gpt-5"))
      assert.deepStrictEqual(providerOptions, { openai: { promptCacheKey: "desk" } })
    }
    const own = { openai: { promptCacheKey: "mine", store: false }, other: { a: 1 } }
    const { providerOptions } = await askedBy(recording("openai.responses", "gpt-5"), prompt, { providerOptions: own })
    assert.deepStrictEqual(providerOptions, own)
    assert.notProperty(await askedBy(recording("mistral.chat", "m")), "providerOptions")
  })
})

describe("A7 tools that may be called now", () => {
  const narrowed = (allowed: ReadonlyArray<string>): Prompt => ({ ...prompt, allowed })

  it("are named beside the list where a provider knows how, and the list stays", async () => {
    const all = await askedBy(recording("openai.responses", "gpt-5"))
    const some = await askedBy(recording("openai.responses", "gpt-5"), narrowed(["book"]))
    assert.deepStrictEqual(some.tools, all.tools)
    assert.deepStrictEqual(some.providerOptions.openai.allowedTools, { toolNames: ["book"], mode: "auto" })
    assert.notProperty(all.providerOptions.openai, "allowedTools")
    const chat = await askedBy(recording("openai.chat", "gpt-5"), narrowed(["book"]))
    assert.deepStrictEqual(chat.tools, all.tools)
    assert.notProperty(chat.providerOptions.openai, "allowedTools")
  })

  it("none of them: told by the choice, but not to one whose list would be left out then", async () => {
    for (const [provider, type] of [
      ["openai.responses", "none"],
      ["google.generative-ai", "none"],
      ["anthropic.messages", "auto"],
      ["amazon-bedrock", "auto"]
    ] as const) {
      const { toolChoice, tools } = await askedBy(recording(provider, "claude-x"), narrowed([]))
      assert.deepStrictEqual([toolChoice.type, tools.length], [type, 2], provider)
    }
  })
})

const form: OutputForm = {
  name: "answer",
  schema: { type: "object", properties: { berth: { type: "number" } }, required: ["berth"] }
}
const ANSWER = '{"berth":7}'
const formed: Prompt = { ...prompt, output: form }

const lastText = ({ prompt: messages }: Loose): string => JSON.stringify(messages.at(-1).content)

const refusal = (message: string) => Object.assign(new Error(message), { statusCode: 400 })

const unsupported = (more: object) => [{ type: "unsupported", ...more }]

describe.each([false, true])("an answer of a form, streaming: %s", (isHeard) => {
  const answered = (recorded: Recorded, times = 1) => {
    const model = aiSdkModel(recorded.model, once)
    assert.strictEqual(model.serves?.output, "native")
    const all = Array.from({ length: times }, () => infer(model, formed, isHeard))
    return Effect.runPromise(Effect.all(all))
  }

  it("is asked for by its schema, and not in words", async () => {
    const recorded = recording("openai.responses", "gpt-5", { answers: [{ text: ANSWER }] })
    const [reply] = await answered(recorded)
    assert.strictEqual(reply?.text, ANSWER)
    assert.deepStrictEqual(recorded.asked[0].responseFormat, { type: "json", name: "answer", schema: form.schema })
    assert.include(lastText(recorded.asked[0]), "Really?")
    assert.notProperty(await askedBy(recording("openai.responses", "gpt-5")), "responseFormat")
  })

  it("G1 a provider that refuses it is asked in words, once, and not asked with it any more", async () => {
    const answers = [refusal("response_format is not supported with tools"), { text: ANSWER }]
    const recorded = recording("google.generative-ai", "gemini-2", { answers })
    const replies = await answered(recorded, 2)
    assert.deepStrictEqual(
      replies.map(({ text }) => text),
      [ANSWER, ANSWER]
    )
    assert.deepStrictEqual(
      recorded.asked.map((each) => "responseFormat" in each),
      [true, false, false]
    )
    for (const each of recorded.asked.slice(1)) assert.include(lastText(each), "JSON Schema")
  })

  it("G2 one that passes it over with a warning is asked in words where the answer is none", async () => {
    for (const more of [{ feature: "responseFormat" }, { type: "unsupported-setting", setting: "responseFormat" }]) {
      const answers = [{ text: "Berth seven.", warnings: unsupported(more) }, { text: ANSWER }]
      const recorded = recording("custom.chat", "m", { answers })
      const [reply] = await answered(recorded, 2)
      assert.strictEqual(reply?.text, ANSWER)
      assert.strictEqual(reply?.usage.inputTokens, 40)
      assert.deepStrictEqual(
        recorded.asked.map((each) => "responseFormat" in each),
        [true, false, false]
      )
    }
    const fine = recording("custom.chat", "m", {
      answers: [{ text: ANSWER, warnings: unsupported({ feature: "responseFormat" }) }]
    })
    await answered(fine)
    assert.lengthOf(fine.asked, 1)
    const other = recording("custom.chat", "m", {
      answers: [{ text: "No.", warnings: unsupported({ feature: "topK" }) }]
    })
    await answered(other, 2)
    assert.deepStrictEqual(
      other.asked.map((each) => "responseFormat" in each),
      [true, true]
    )
  })

  it("a refusal of something else stays the refusal", async () => {
    const recorded = recording("custom.chat", "m", { answers: [refusal("a name is missing")] })
    const error = await Effect.runPromise(Effect.flip(infer(aiSdkModel(recorded.model, once), formed, isHeard)))
    assert.strictEqual(error._tag, "ModelRefused")
    assert.lengthOf(recorded.asked, 2)
  })
})

describe("options of a model that is given as an object", () => {
  const asking = (choice: ModelObject) =>
    Effect.runPromise(Model.use((port) => Effect.result(port.infer(prompt))).pipe(Effect.provide(modelLayer(choice))))

  it("are those of a server by name, and sent by each version as it knows them", async () => {
    const settings = { temperature: 0.5, reasoningEffort: "high", headers: { "X-Team": "harbour" } } as const
    const latest = recording("anthropic.messages", "claude-x", { version: "v4" })
    await asking({ model: latest.model, ...settings })
    assert.deepInclude(latest.asked[0], { temperature: 0.5, reasoning: "high", headers: settings.headers })
    assert.notProperty(latest.asked[0], "providerOptions")
    for (const [provider, options] of [
      ["openai.chat", { openai: { promptCacheKey: "desk", reasoningEffort: "high" } }],
      ["azure.responses", { openai: { promptCacheKey: "desk", reasoningEffort: "high" } }],
      ["anthropic.messages", { anthropic: { effort: "high" } }],
      ["google.generative-ai", { google: { thinkingConfig: { thinkingLevel: "high" } } }],
      ["amazon-bedrock", { bedrock: { reasoningConfig: { type: "enabled", maxReasoningEffort: "high" } } }],
      ["xai.chat", { xai: { reasoningEffort: "high" } }]
    ] as const) {
      const { model, asked } = recording(provider, "m")
      await asking({ model, ...settings })
      assert.deepStrictEqual(asked[0].providerOptions, options)
      assert.notProperty(asked[0], "reasoning")
    }
  })

  it("retries and timeoutMs bound a call, and a key in a header is in no answer", async () => {
    const away = recording("custom.chat", "m", {
      answers: [Object.assign(new Error("overloaded"), { statusCode: 503 })]
    })
    await asking({ model: away.model, retries: 0 })
    assert.lengthOf(away.asked, 1)
    const talkative = recording("custom.chat", "m", { answers: [{ text: "My key is sk-header-secret." }] })
    const headers = { Authorization: "Bearer sk-header-secret" }
    const found = await asking({ model: talkative.model, headers })
    assert.include(JSON.stringify(found), "My key is [redacted].")
    const silent = { name: "silent", infer: () => new Promise<string>(() => {}) }
    assert.include(JSON.stringify(await asking({ model: silent, timeoutMs: 20, retries: 0 })), "no answer in time")
  })

  it("an infer of one's own gets them beside its signal", async () => {
    const seen: Array<object> = []
    const model = {
      name: "own",
      infer: async (_: Prompt, { signal: _signal, ...options }: { readonly signal: AbortSignal }) => {
        seen.push(options)
        return "Yes."
      }
    }
    const settings = {
      temperature: 1,
      reasoningEffort: "low",
      headers: { a: "b" },
      providerOptions: { own: { seed: 7 } }
    } as const
    await asking({ model, ...settings })
    await asking({ model, retries: 1 })
    assert.deepStrictEqual(seen, [settings, {}])
  })
})

describe("files of an answer", () => {
  it.each([false, true])("are parts of it, and a line stands for one at an address, streaming: %s", async (isHeard) => {
    const bytes = Uint8Array.of(1, 2, 3)
    const content = [
      { type: "text", text: "Here." },
      { type: "file", mediaType: "image/png", data: bytes },
      { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://h/a.png") } },
      { type: "file", mediaType: "audio/wav", data: { type: "data", data: "AQID" } }
    ]
    const end = { finishReason: { unified: "stop" }, usage }
    const streamed = [{ type: "text-delta", id: "0", delta: "Here." }, ...content.slice(1), { type: "finish", ...end }]
    const model: LanguageModel = {
      specificationVersion: "v4",
      provider: "maker.chat",
      modelId: "m",
      doGenerate: async () => ({ content, warnings: [], ...end }),
      doStream: async () => ({ stream: ReadableStream.from(streamed) })
    }
    const reply = await Effect.runPromise(infer(aiSdkModel(model, once), prompt, isHeard))
    assert.strictEqual(reply.text, "Here.\n[image/png at https://h/a.png]")
    assert.deepStrictEqual(reply.parts, [
      { type: "file", data: bytes, mediaType: "image/png" },
      { type: "file", data: "AQID", mediaType: "audio/wav" }
    ])
  })
})
