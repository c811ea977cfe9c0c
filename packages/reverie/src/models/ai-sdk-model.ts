// AiSdkModel: a language model object of the AI SDK as the Model port.
// Owns its answers and its streams, by their shape alone: no package is loaded for them. Leaves what it is asked to ai-sdk-prompt.ts,
// deadline, failures, retries and the one more question to promise-model.ts.
// A2  An answer without a reason for its end, and a stream that breaks off, is a failure, whatever has come of it.
// A3  What a provider has run itself is no call of ours.
// A4  A stream that says nothing for a while is given up, and closed.
// A5  Reasoning and signatures are given back as they came, where they hold all that the provider needs: what only points to
//     something that the provider may have forgotten is left out.

import { type Accepts, acceptsOf, type InferOptions, type Model, type Prompt } from "@reverie/model"
import {
  type CallLimits,
  type Failure,
  type Forms,
  providerUsage,
  type RawCall,
  type RawReasoning
} from "@reverie/model/wire"
import { defined, type GivenPart, isJsonObject, type Json, type Usage } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { type Answered, type Ask, MAX_CALLS, type WalkContext, walkContext, walkedModel } from "./promise-model.ts"
import { type Asked, asker, type ModelSettings, SIGNED } from "./ai-sdk-prompt.ts"
import { argumentsText, type Broken, type Fields, fieldsOf, isBroken, jsonOf, promised, textIn } from "./thrown.ts"

/** What the AI SDK calls a language model: `openai("gpt-5-mini")`, `anthropic(...)` and so on of its packages. */
export interface LanguageModel {
  /** "v2", "v3" or "v4". */
  readonly specificationVersion: string
  /** The name of its provider, for history and prices. */
  readonly provider: string
  /** The name of the model, for history and prices. */
  readonly modelId: string
  /** Asks for a whole reply. Reverie calls it; a program need not. */
  readonly doGenerate: (options: never) => PromiseLike<unknown>
  /** Asks for a reply in pieces. Reverie calls it; a program need not. */
  readonly doStream: (options: never) => PromiseLike<unknown>
  /** Media types of what it fetches by itself. */
  readonly supportedUrls?: unknown
  /** Which images, files and audio it takes, where its name and `supportedUrls` do not tell. */
  readonly accepts?: ReadonlyArray<string>
}

// Answer: what comes back, whole or in parts.

const finishes: Readonly<Record<string, string>> = { "content-filter": "content_filter" }

/** The later versions say how it ended in two words, the earlier one in one. */
const finishIn = (reason: unknown): string => {
  const { raw, unified } = fieldsOf(reason)
  const word = raw === "error" ? raw : typeof reason === "string" ? reason : unified
  return typeof word === "string" ? (finishes[word] ?? word) : ""
}

/** Likewise of tokens: numbers, or objects with a total. */
const usageIn = (usage: unknown): Usage | undefined => {
  const { cachedInputTokens, inputTokens, outputTokens, reasoningTokens } = fieldsOf(usage)
  const totalOf = (tokens: unknown): unknown => (typeof tokens === "number" ? tokens : fieldsOf(tokens)["total"])
  const cached = cachedInputTokens ?? fieldsOf(inputTokens)["cacheRead"]
  const reasoning = reasoningTokens ?? fieldsOf(outputTokens)["reasoning"]
  return providerUsage(totalOf(inputTokens), totalOf(outputTokens), { cached, reasoning })
}

const stringIn = (fields: Fields, name: string): string => textIn(fields[name]) ?? ""

const reasoningTokensIn = (usage: unknown): number | undefined => {
  const { outputTokens, reasoningTokens } = fieldsOf(usage)
  const tokens = reasoningTokens ?? fieldsOf(outputTokens)["reasoning"]
  return typeof tokens === "number" && Number.isInteger(tokens) && tokens >= 0 ? tokens : undefined
}

/** Ids of what a provider keeps for a time, and which stand for it: a life is longer than that. */
const POINTERS: ReadonlySet<string> = new Set(["itemId", "item_id"])

/** What a provider has put to a part, as far as it is whole without anything that the provider keeps. */
const wholeOptions = (metadata: unknown): { readonly [key: string]: Json } | undefined => {
  const found = jsonOf(metadata)
  if (found === undefined || !isJsonObject(found)) return undefined
  const whole = Object.entries(found).filter(
    ([, each]) => isJsonObject(each) && Object.keys(each).some((name) => !POINTERS.has(name) && each[name] !== null)
  )
  return whole.length === 0 ? undefined : Object.fromEntries(whole)
}

/** Some reasoning, as it grows. */
interface Thought {
  readonly at: number
  text: string
  metadata: { readonly [key: string]: unknown }
}

/** Puts an answer together, from its content or from the parts of a stream. */
class Gathering {
  finish = ""
  text = ""
  model = ""
  reasoned = false
  usage: Usage | undefined
  reasoningTokens: number | undefined
  readonly calls: Array<RawCall> = []
  readonly parts: Array<GivenPart> = []
  readonly #thoughts = new Map<string, Thought>()
  readonly #signed: Array<{ readonly of: "text" | number; readonly part: Json }> = []
  /** By the ids of those that came in pieces, their place among the calls. */
  readonly #begun = new Map<string, number>()
  readonly #shown: InferOptions
  readonly #warned: (warnings: unknown) => void

  constructor(shown: InferOptions = {}, warned: (warnings: unknown) => void = () => {}) {
    this.#shown = shown
    this.#warned = warned
  }

  take(given: unknown): void {
    const part = fieldsOf(given)
    switch (part["type"]) {
      case "text":
      case "text-delta": {
        const piece = stringIn(part, part["type"] === "text" ? "text" : "delta")
        this.#say(piece)
        this.#sign("text", part)
        break
      }
      case "text-end":
        this.#sign("text", part)
        break
      case "reasoning":
        this.#think(`whole ${this.#thoughts.size}`, stringIn(part, "text"), part)
        break
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        this.#think(stringIn(part, "id"), stringIn(part, "delta"), part)
        break
      case "tool-input-start":
      case "tool-input-delta":
        if (part["providerExecuted"] !== true) this.#showCall(part)
        break
      case "tool-call":
        if (part["providerExecuted"] !== true) this.#call(part)
        break
      case "file":
        this.#keep(part)
        break
      case "stream-start":
        this.#warned(part["warnings"])
        break
      case "response-metadata":
        this.model = stringIn(part, "modelId") || this.model
        break
      case "finish":
        this.end(part)
        break
    }
  }

  #say(piece: string): void {
    this.text += piece
    if (piece !== "") this.#shown.onText?.(piece)
  }

  end({ finishReason, usage }: Fields): void {
    this.finish = finishIn(finishReason)
    this.usage = usageIn(usage)
    this.reasoningTokens = reasoningTokensIn(usage)
  }

  /** How much was said and called up to now. */
  get #items(): number {
    return this.calls.length + (this.text === "" ? 0 : 1)
  }

  /** A file that stands at an address is not fetched: a line of text stands for it. */
  #keep({ data, mediaType }: { readonly [key: string]: unknown }): void {
    const given = fieldsOf(data)["type"] === "data" ? fieldsOf(data)["data"] : data
    const type = typeof mediaType === "string" ? mediaType : ""
    if (typeof given !== "string" && !(given instanceof Uint8Array)) {
      const url = given instanceof URL ? given : fieldsOf(given)["url"]
      const at = url instanceof URL || typeof url === "string" ? ` at ${String(url)}` : ", of a form that is not known"
      this.#say(`${this.text === "" ? "" : "\n"}[${type || "file"}${at}]`)
      return
    }
    this.parts.push({ type: "file", data: given, ...defined({ mediaType: type === "" ? undefined : type }) })
  }

  #think(id: string, piece: string, { providerMetadata }: Fields): void {
    this.reasoned = true
    const thought = this.#thoughts.get(id) ?? { at: this.#items, text: "", metadata: {} }
    thought.text += piece
    if (piece !== "") this.#shown.onReasoning?.(piece)
    for (const [name, each] of Object.entries(fieldsOf(providerMetadata))) {
      thought.metadata = { ...thought.metadata, [name]: { ...fieldsOf(thought.metadata[name]), ...fieldsOf(each) } }
    }
    this.#thoughts.set(id, thought)
  }

  #call(part: Fields): void {
    const name = stringIn(part, "toolName")
    const args = argumentsText(part["input"])
    this.#sign(this.calls.length, part)
    if (this.calls.length < MAX_CALLS && !this.#begun.has(stringIn(part, "toolCallId")))
      this.#shown.onCall?.({ call: this.calls.length, tool: name, arguments: textIn(args) ?? "" })
    this.calls.push({ name, arguments: args })
  }

  /** A call that begins, or a piece of its arguments; the whole follows. */
  #showCall(part: Fields): void {
    const id = stringIn(part, "id")
    if (part["type"] === "tool-input-start") this.#begun.set(id, this.#begun.size)
    const call = this.#begun.get(id)
    // Of more calls than a reply may have no one is shown anything.
    if (call !== undefined && call < MAX_CALLS)
      this.#shown.onCall?.({ call, tool: stringIn(part, "toolName"), arguments: stringIn(part, "delta") })
  }

  #sign(of: "text" | number, { providerMetadata }: Fields): void {
    const providerOptions = wholeOptions(providerMetadata)
    if (providerOptions !== undefined) this.#signed.push({ of, part: { type: SIGNED, providerOptions } })
  }

  get reasoning(): ReadonlyArray<RawReasoning> {
    const thoughts = [...this.#thoughts.values()].flatMap(({ at, metadata, text }): ReadonlyArray<RawReasoning> => {
      const providerOptions = wholeOptions(metadata)
      const isPointer = providerOptions === undefined && Object.keys(metadata).length > 0
      const isNothing = text === "" && providerOptions === undefined
      return isPointer || isNothing ? [] : [{ at, part: { type: "reasoning", text, ...defined({ providerOptions }) } }]
    })
    const first = this.text === "" ? 0 : 1
    const signed = this.#signed.flatMap(({ of, part }) => {
      if (of === "text") return first === 0 ? [] : [{ at: 0, part }]
      return [{ at: first + of, part }]
    })
    return [...thoughts, ...signed]
  }

  get raw(): Answered {
    const { calls, finish, model, parts, reasoned, reasoning, reasoningTokens, text, usage } = this
    const said = { calls, finish, model, parts, reasoned, reasoning, text, refusal: "" }
    return { ...said, ...defined({ reasoningTokens, usage }) }
  }
}

/** The answer when it is whole, else why it is none. */
const concluded = (gathered: Gathering, { failures }: WalkContext): Effect.Effect<Answered, Failure> => {
  switch (gathered.finish) {
    case "":
    case "interrupted":
      return Effect.fail(failures.unavailable("cut", "the answer broke off", { begun: true }))
    case "error":
      return Effect.fail(failures.unavailable("server-error", "the answer ended in an error", { begun: true }))
    default:
      return Effect.succeed(gathered.raw)
  }
}

/** A model, and everything that a call of it goes by. */
interface SdkContext extends WalkContext {
  readonly sdk: LanguageModel
  readonly optionsOf: (prompt: Prompt, signal: AbortSignal) => Asked
  readonly forms: Forms
}

/** A provider that does not know a form says so beside an answer which was made without it. */
const heedWarnings = (warnings: unknown, { output }: Prompt, { forms }: SdkContext): void => {
  if (output === undefined || !Array.isArray(warnings)) return
  const isPassedOver = warnings.some((warning: unknown) => {
    const { feature, setting, type } = fieldsOf(warning)
    return (textIn(type) ?? "").startsWith("unsupported") && [feature, setting].includes("responseFormat")
  })
  if (isPassedOver) forms.isDescribed = true
}

const generated = (prompt: Prompt, context: SdkContext): ReturnType<Ask> => {
  const asked = promised(context.failures, async (signal) => {
    const { content, response, warnings, ...end } = fieldsOf(
      await context.sdk.doGenerate(context.optionsOf(prompt, signal))
    )
    heedWarnings(warnings, prompt, context)
    if (!Array.isArray(content)) return { broken: "its answer has no list of content" }
    const gathered = new Gathering()
    for (const part of content) gathered.take(part)
    gathered.model = stringIn(fieldsOf(response), "modelId")
    gathered.end(end)
    return gathered
  })
  return Effect.flatMap(asked, (found): ReturnType<Ask> =>
    isBroken(found) ? Effect.succeed(found) : concluded(found, context)
  )
}

/** Whatever fails after text has come may have cost it. */
const asBegun = (failure: Failure, gathered: Gathering, { failures }: WalkContext): Failure =>
  (gathered.text !== "" || gathered.calls.length > 0 || gathered.reasoned) && failure.error._tag === "ModelUnavailable"
    ? failures.unavailable(failure.error.kind, failure.error.message, { begun: true })
    : failure

type Reader = Pick<ReadableStreamDefaultReader<unknown>, "cancel" | "read">

const readerOf = (stream: unknown): Reader | Broken => {
  const { getReader } = fieldsOf(stream)
  return typeof getReader === "function" ? (getReader.call(stream) as Reader) : { broken: "its answer has no stream" }
}

/** Reads to the end of a stream, or as far as there is room. */
const readAll = Effect.fnUntraced(function* (reader: Reader, gathered: Gathering, { failures, limits }: WalkContext) {
  const silent = failures.unavailable("idle", "the stream went silent", { begun: true })
  const next = promised(failures, async () => {
    const { done, value } = await reader.read()
    const part = fieldsOf(value)
    if (part["type"] === "error") throw part["error"]
    gathered.take(part)
    return done
  }).pipe(Effect.timeoutOrElse({ duration: limits.idleMs, orElse: () => Effect.fail(silent) }))
  while (gathered.text.length <= limits.maxReplyBytes) {
    const isOver = yield* next
    if (isBroken(isOver)) return isOver
    // Nothing of the answer comes behind its end, and some servers never close.
    if (isOver || gathered.finish !== "") return undefined
  }
  return yield* Effect.fail(failures.unavailable("too-large", `more than ${limits.maxReplyBytes} characters`))
})

const streamed = (prompt: Prompt, shown: InferOptions, context: SdkContext): ReturnType<Ask> => {
  const gathered = new Gathering(shown, (warnings) => heedWarnings(warnings, prompt, context))
  const controller = new AbortController()
  const opened = promised(context.failures, async () => {
    const { stream } = fieldsOf(await context.sdk.doStream(context.optionsOf(prompt, controller.signal)))
    return readerOf(stream)
  })
  const closed = (reader: Reader | Broken) =>
    Effect.sync(() => {
      if (!isBroken(reader)) reader.cancel().catch(() => {})
    })
  const used = Effect.fnUntraced(function* (reader: Reader | Broken) {
    const broken = isBroken(reader) ? reader : yield* readAll(reader, gathered, context)
    return broken ?? (yield* concluded(gathered, context))
  })
  return opened.pipe(
    Effect.flatMap((reader) => Effect.ensuring(used(reader), closed(reader))),
    Effect.mapError((failure) => asBegun(failure, gathered, context)),
    Effect.ensuring(Effect.sync(() => controller.abort()))
  )
}

/** What a model says that it takes at an address, it takes as bytes; a Promise of that is not waited for. */
const acceptsIn = ({ accepts, modelId, supportedUrls }: LanguageModel): Accepts => {
  if (accepts !== undefined) return accepts
  const named = Object.keys(fieldsOf(supportedUrls)).filter((type) => /^(?:image|audio|application|text)\//.test(type))
  return [...new Set([...acceptsOf(modelId), ...named])]
}

/** The port over a language model of the AI SDK. */
export const aiSdkModel = (
  sdk: LanguageModel,
  limits?: Partial<CallLimits>,
  settings: ModelSettings = {}
): Model["Service"] => {
  const { modelId, provider, specificationVersion: version } = sdk
  const walked = walkContext(provider, modelId, acceptsIn(sdk), limits, settings)
  const forms: Forms = { isDescribed: false, refused: new WeakSet() }
  const context = {
    ...walked,
    sdk,
    forms,
    optionsOf: asker({ provider, modelId, version, signer: walked.signer }, settings)
  }
  const ask: Ask = (prompt, shown) =>
    shown === undefined ? generated(prompt, context) : streamed(prompt, shown, context)
  return walkedModel(provider, context, ask, { onlyUser: true, forms })
}
