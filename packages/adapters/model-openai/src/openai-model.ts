// OpenAiModel: the Model port over any server of Chat Completions or of the Responses API.
// Owns the walk of one call and each round of it: ask, judge, ask once more. Leaves each attempt to `attempt.ts`.
// I1  Whatever the server does, a call ends within its deadline in a reply or in one ModelError (model I1, I2).
// I2  A reply that can not be used is asked for once more and never twice; the usage of both rounds is summed.
// I3  The key is in no error, no log and no reply.
// I4  After any failure the next call starts afresh, unless the circuit of its model is open.

import {
  type Accepts,
  acceptsOf,
  askedWithParts,
  type InferOptions,
  type Model,
  type ModelError,
  type Prompt,
  type PromptMessage,
  type Reply,
  Tokens,
  type ToolOffer
} from "@reverie/model"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { addUsage, defined, isJsonObject, type Json, type Usage } from "@reverie/protocol"
import {
  askedForForm,
  Breaker,
  breakerOptionsOf,
  cleaned,
  corrections,
  countedUsage,
  type Forms,
  isEmpty,
  isFine,
  judge,
  type Judged,
  makeFailures,
  makeScrub,
  plainCorrections,
  Preview,
  providerUsage,
  retried,
  roughCount,
  type Scrub,
  secretsOfHeaders,
  type Signer,
  wireName
} from "@reverie/model/wire"
import { attempt, type AttemptContext } from "./attempt.ts"
import { lazyCompletions, lazyResponses, nameOf, providerOf } from "./client.ts"
import { closeAgents, openAgents } from "./wire/exchange.ts"
import { plainMessages, readPlainReply } from "./wire/json-tools.ts"
import { type Limits, limitsOf, type OpenAiModelOptions, takesMarks } from "./options.ts"
import {
  type BodyStyle,
  type BodyWriter,
  chatMessage,
  makeBodyWriter,
  type Pieces,
  Transcripts,
  wireMessage,
  type WireMessages,
  type WireTools,
  wireTools,
  writtenName
} from "./wire/wire.ts"
import { Answer } from "./wire/answer.ts"
import { type Assembled, Assembly } from "./wire/assembly.ts"
import { makeResponsesWriter, responseItems, responsesUsage, responseTools } from "./wire/responses.ts"
import { ResponsesAnswer } from "./wire/responses-answer.ts"

// Usage: what a call cost in tokens, as the server says it, else as we count it.

const provided = (usage: Json | undefined): Usage | undefined => {
  if (!isJsonObject(usage)) return undefined
  if ("input_tokens" in usage) {
    const { cached, input, output, reasoning } = responsesUsage(usage)
    return providerUsage(input, output, { cached, reasoning })
  }
  const { completion_tokens: output, prompt_tokens: input } = usage
  const partIn = (details: Json | undefined, name: string) => (isJsonObject(details) ? details[name] : undefined)
  return providerUsage(input, output, {
    cached: partIn(usage["prompt_tokens_details"], "cached_tokens"),
    reasoning: partIn(usage["completion_tokens_details"], "reasoning_tokens")
  })
}

export const usageOf = (prompt: Prompt, assembly: Assembled, count: (text: string) => number): Usage =>
  provided(assembly.usage) ?? countedUsage(prompt, assembly, count)

// Round: one question to the model and its judged reply.
// I1  An answer that was filtered away is a refusal, not an empty reply.
// I2  A preview of text is scrubbed like the reply; of a reply in plain JSON only the answer in it is shown.

/** How one of the two APIs is spoken. */
interface Wire {
  readonly message: (signer: Signer) => (message: PromptMessage) => string
  readonly tools: (offers: ReadonlyArray<ToolOffer>) => WireTools
  readonly writer: (style: BodyStyle) => BodyWriter
  readonly assembly: (shown: InferOptions | undefined) => Assembled
  readonly post: typeof lazyCompletions
}

const wires: Readonly<Record<"chat" | "responses", Wire>> = {
  chat: {
    message: chatMessage,
    tools: wireTools,
    writer: makeBodyWriter,
    assembly: (shown) => new Assembly(shown),
    post: lazyCompletions
  },
  responses: {
    message: responseItems,
    tools: responseTools,
    writer: makeResponsesWriter,
    assembly: (shown) => new ResponsesAnswer(shown),
    post: lazyResponses
  }
}

interface RoundContext extends AttemptContext<Pieces> {
  readonly wire: Wire
  readonly signer: Signer
  readonly limits: Limits
  readonly model: string
  readonly accepts: Accepts
  /** Whether tools are spoken of in plain text. */
  readonly isPlain: boolean
  /** Whether the end of what lasts is marked for a prompt cache. */
  readonly isMarked: boolean
  /** Whether to stream; undefined streams for anyone who listens. */
  readonly stream: boolean | undefined
  readonly scrub: Scrub
  readonly tokens: Tokens["Service"] | undefined
  readonly writeBody: BodyWriter
  readonly transcripts: Transcripts
  readonly forms: Forms
  /** Whether the form of the answer at hand is said in words only. */
  readonly isDescribed: boolean
}

/** `said` is the text before calls were read out of it. */
interface Round extends Judged {
  readonly said: string
}

const usedBy = Effect.fnUntraced(function* (prompt: Prompt, assembly: Assembled, { tokens }: RoundContext) {
  if (tokens === undefined || assembly.usage !== undefined) return usageOf(prompt, assembly, roughCount)
  const count = yield* tokens.ready
  return yield* tokens.inSlices(() => usageOf(prompt, assembly, count))
})

/** Asks once, with its retries. `until` is milliseconds since the epoch. */
const round = Effect.fnUntraced(function* (
  prompt: Prompt,
  messages: WireMessages,
  until: number,
  preview: Preview,
  context: RoundContext
): Effect.fn.Return<Round, ModelError> {
  const { failures, isPlain, limits, scrub, signer, wire, writeBody } = context
  const tools = wire.tools(prompt.tools)
  const isStream = context.stream ?? preview.isHeard
  const allowed = prompt.allowed?.map((name) => writtenName(tools, name))
  const hints = { cacheKey: prompt.cacheKey, allowed, output: context.isDescribed ? undefined : prompt.output }
  const body = writeBody(messages, isPlain ? "" : tools.json, isStream, prompt.maxOutputTokens, hints)
  const toolOf = (name: string) => tools.nameByWire.get(wireName(name)) ?? name
  const shown = () => (isPlain ? undefined : cleaned(preview.attempt(), { kept: scrub.kept, toolOf }))
  const assembly = yield* retried(
    attempt(body, until, () => new Answer(failures, wire.assembly(shown())), context),
    until,
    context
  )
  const usage = yield* usedBy(prompt, assembly, context)
  const said = assembly.text
  const broken = isPlain ? readPlainReply(assembly, prompt) : undefined
  const { nameByWire } = tools
  const { maxCalls } = limits
  const judged = judge(assembly, { prompt, nameByWire, usage, model: context.model, signer, maxCalls, scrub })
  if (isEmpty(judged) && judged.reply.finish === "content-filter") {
    return yield* failures.filtered("the answer was filtered away")
  }
  if (isPlain && judged.reply.text !== "") preview.attempt()?.onText?.(judged.reply.text)
  return { ...judged, complaint: broken ?? judged.complaint, said }
})

const wireOf = ({ tools, wire = "chat" }: OpenAiModelOptions): Wire => wires[tools === "json" ? "chat" : wire]

/** What each model of a server has alone. */
const ofModel = (model: string, server: string, options: OpenAiModelOptions) => {
  const { baseURL, extraBody = {}, reasoningEffort, streamUsage = true, temperature } = options
  const wire = wireOf(options)
  const signer: Signer = { provider: `${options.wire ?? "chat"}:${server}`, model }
  return {
    model,
    signer,
    accepts: acceptsHere(model, options),
    breaker: new Breaker(breakerOptionsOf(options.breaker)),
    writeBody: wire.writer({ model, baseURL, streamUsage, extraBody, reasoningEffort, temperature }),
    transcripts: new Transcripts(wire.message(signer)),
    forms: formsFor(options)
  }
}

const withComplaint = (messages: WireMessages, wrong: Round, context: RoundContext): WireMessages => {
  const { isPlain, scrub, signer, wire } = context
  const behind = (texts: ReadonlyArray<string>) => [...messages, ...texts.map((text) => `,${text}`)]
  if (!isPlain) return behind(corrections(wrong).map(wire.message(signer)))
  const complaints = [wrong.complaint, ...wrong.callComplaints].filter((complaint) => complaint !== undefined)
  return behind(plainCorrections(scrub.kept(wrong.said), complaints).map(wireMessage))
}

const askAgain = Effect.fnUntraced(function* (
  prompt: Prompt,
  messages: WireMessages,
  first: Round,
  until: number,
  preview: Preview,
  context: RoundContext
): Effect.fn.Return<Reply, ModelError> {
  const asked = yield* Effect.result(round(prompt, withComplaint(messages, first, context), until, preview, context))
  if (Result.isFailure(asked)) {
    // What the first reply holds is worth more than the failure to have it corrected.
    return isEmpty(first) ? yield* Effect.fail(asked.failure) : first.reply
  }
  const second = asked.success
  const usage = addUsage(first.reply.usage, second.reply.usage)
  if (!isEmpty(second)) return { ...second.reply, usage }
  if (!isEmpty(first)) return { ...first.reply, usage }
  return yield* context.failures.unusable(`${second.complaint ?? "the reply held nothing"}, twice`)
})

const rendered = ({ lasting = 0, messages }: Prompt, { isMarked, transcripts }: RoundContext): WireMessages =>
  isMarked ? transcripts.renderMarked(messages, lasting) : transcripts.render(messages)

const askFor = Effect.fnUntraced(function* (
  prompt: Prompt,
  until: number,
  preview: Preview,
  context: RoundContext
): Effect.fn.Return<Reply, ModelError> {
  const messages = context.isPlain ? plainMessages(prompt) : rendered(prompt, context)
  const first = yield* round(prompt, messages, until, preview, context)
  return isFine(first) ? first.reply : yield* askAgain(prompt, messages, first, until, preview, context)
})

/** PDFs are taken as files on this wire by few servers, whatever their models could read. */
const readsFiles = /^(?:api\.openai\.com|openrouter\.ai|ai-gateway\.vercel\.sh)$/

/** Which parts of messages a model takes here: what someone said, else what its name is known for. */
const acceptsHere = (model: string, { accepts, baseURL, tools, wire }: OpenAiModelOptions): Accepts => {
  if (tools === "json") return []
  if (accepts !== undefined) return accepts
  const host = URL.parse(baseURL)?.hostname ?? ""
  return acceptsOf(model).filter((each) => each !== "application/pdf" || wire === "responses" || readsFiles.test(host))
}

const infer = (prompt: Prompt, options: InferOptions | undefined, context: RoundContext) =>
  askedWithParts(prompt, { accepts: context.accepts, bytesOf: options?.bytesOf, onlyUser: true }, (loaded) =>
    inferLoaded(loaded, new Preview(options), context)
  )

const inferLoaded = (prompt: Prompt, preview: Preview, context: RoundContext) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const until = now + context.limits.timeoutMs
    return askedForForm(prompt, context.forms, (asked, isDescribed) =>
      askFor(asked, until, preview, { ...context, isDescribed })
    )
  })

const formsFor = ({ output, tools }: OpenAiModelOptions): Forms => ({
  isDescribed: output === "described" || tools === "json",
  refused: new WeakSet()
})

/** The model of the options, and others of the same server, each with a circuit of its own. */
const contextsOf = (own: RoundContext, server: string, options: OpenAiModelOptions) => {
  const all = new Map([[own.model, own]])
  return (model: string = own.model): RoundContext => {
    const known = all.get(model)
    if (known !== undefined) return known
    const other = { ...own, ...ofModel(model, server, options) }
    all.set(model, other)
    return other
  }
}

export const makeOpenAiModel = Effect.fnUntraced(function* (
  options: OpenAiModelOptions
): Effect.fn.Return<Model["Service"], never, Scope.Scope> {
  const provider = providerOf(options.baseURL)
  const scrub = makeScrub(Redacted.value(options.apiKey), ...secretsOfHeaders(options.headers))
  const failures = makeFailures(provider ?? "unknown", scrub)
  if (provider === undefined) {
    return { infer: () => Effect.fail(failures.denied("the base URL is not an http or https URL", 0)) }
  }
  const context: RoundContext = {
    ...ofModel(options.model, provider, options),
    wire: wireOf(options),
    isPlain: options.tools === "json",
    isMarked: takesMarks(options),
    stream: options.stream,
    scrub,
    failures,
    limits: limitsOf(options),
    tokens: Option.getOrUndefined(yield* Effect.serviceOption(Tokens)),
    agents: yield* Effect.acquireRelease(Effect.sync(openAgents), (agents) => Effect.sync(() => closeAgents(agents))),
    post: wireOf(options).post(options),
    isDescribed: false
  }
  const contextOf = contextsOf(context, provider, options)
  const now = Clock.currentTimeMillis
  return {
    infer: (prompt, inferOptions) => infer(prompt, inferOptions, contextOf(prompt.model)),
    serves: {
      provider: nameOf(provider),
      model: options.model,
      server: provider,
      output: "native",
      accepts: context.accepts,
      ...defined({ tools: context.isPlain ? ("json" as const) : undefined })
    },
    circuit: {
      withheldMillis: (model) => Effect.map(now, (at) => contextOf(model).breaker.withheldMillis(at)),
      tryNow: Effect.map(now, (at) => context.breaker.tryNow(at))
    }
  }
})
