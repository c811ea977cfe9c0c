// What the tests of models given as objects share: code that does what a law or a test orders, as a Promise model and as one
// of the AI SDK.

import { Model } from "@reverie/model"
import { BUSY_SECONDS, type Deed, OtherEnd } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { LanguageModel } from "../../src/models/ai-sdk-model.ts"
import type { PromiseModel, PromiseReply } from "../../src/models/promise-model.ts"

/** An error as clients of HTTP APIs throw it. */
const apiError = (status: number, message: string, headers: Readonly<Record<string, string>> = {}): Error =>
  Object.assign(new Error(message), { name: "AI_APICallError", statusCode: status, responseHeaders: headers })

const errors: Readonly<Record<string, () => Error>> = {
  cut: () => Object.assign(new TypeError("terminated"), { cause: new Error("other side closed") }),
  key: () => apiError(401, "Incorrect API key provided"),
  prompt: () => apiError(400, "messages.1: a name is missing"),
  long: () => apiError(400, "This model's maximum context length is 8192 tokens"),
  down: () => apiError(500, "overloaded"),
  busy: () => apiError(429, "slow down", { "retry-after": String(BUSY_SECONDS) })
}

/** Deeds in their order, and what was seen of those who ask. */
export class Ordered {
  asked = 0
  hanging = 0
  left = 0
  #deeds: ReadonlyArray<Deed> = []

  readonly otherEnd: OtherEnd["Service"] = {
    become: (...deeds) => Effect.sync(() => void (this.#deeds = deeds)),
    asked: Effect.sync(() => this.asked),
    hanging: Effect.sync(() => this.hanging),
    left: Effect.sync(() => this.left)
  }

  /** What is to be done with this question: said, or thrown. */
  async next(signal: AbortSignal): Promise<Exclude<Deed, string> | "empty"> {
    this.asked++
    const [deed = "empty", ...rest] = this.#deeds
    if (rest.length > 0) this.#deeds = rest
    if (typeof deed !== "string" || deed === "empty") return deed
    if (deed !== "hangs") throw errors[deed]?.() ?? new Error(deed)
    this.hanging++
    await new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        this.left++
        reject(signal.reason as Error)
      })
    })
    return "empty"
  }
}

export const orderedPromise = (ordered: Ordered): PromiseModel => ({
  name: "ordered",
  infer: async (_, { onText, signal }): Promise<PromiseReply> => {
    const deed = await ordered.next(signal)
    if (deed === "empty") return { text: "" }
    if ("says" in deed) onText?.(deed.says)
    return "says" in deed ? { text: deed.says, usage: { inputTokens: 9, outputTokens: 4 } } : { calls: deed.calls }
  }
})

interface Options {
  readonly abortSignal: AbortSignal
}

const contentOf = (deed: Exclude<Deed, string> | "empty"): ReadonlyArray<object> => {
  if (deed === "empty") return []
  if ("says" in deed) return [{ type: "text", text: deed.says }]
  return deed.calls.map(({ arguments: input, tool: toolName }, index) => {
    return { type: "tool-call", toolCallId: `call_${index}`, toolName, input }
  })
}

const usages = {
  v2: { inputTokens: 9, outputTokens: 4, totalTokens: 13, cachedInputTokens: 2 },
  v3: { inputTokens: { total: 9, cacheRead: 2 }, outputTokens: { total: 4 } }
}

/** Ends as the version of the interface says it. */
const endOf = (version: string, content: ReadonlyArray<object>) => {
  const word = content.some((part) => "toolName" in part) ? "tool-calls" : "stop"
  return version === "v2"
    ? { finishReason: word, usage: usages.v2 }
    : { finishReason: { unified: word, raw: word }, usage: usages.v3 }
}

export const orderedAiSdk = (ordered: Ordered, version = "v3"): LanguageModel => ({
  specificationVersion: version,
  provider: "ordered.chat",
  modelId: "ordered-1",
  doGenerate: async ({ abortSignal }: Options) => {
    const content = contentOf(await ordered.next(abortSignal))
    return { content, ...endOf(version, content), warnings: [], response: { modelId: "ordered-1-2026" } }
  },
  doStream: async ({ abortSignal }: Options) => {
    const content = contentOf(await ordered.next(abortSignal))
    const parts = [
      { type: "stream-start", warnings: [] },
      { type: "response-metadata", modelId: "ordered-1-2026" },
      ...content.map((part) =>
        "text" in part ? { type: "text-delta", id: "0", delta: (part as { readonly text: string }).text } : part
      ),
      { type: "finish", ...endOf(version, content) }
    ]
    return { stream: ReadableStream.from(parts) }
  }
})

/** The model that is made of it, for laws. */
export const ordering = (make: (ordered: Ordered) => Model["Service"]) => () => {
  const ordered = new Ordered()
  return Layer.merge(Layer.succeed(Model, make(ordered)), Layer.succeed(OtherEnd, ordered.otherEnd))
}
