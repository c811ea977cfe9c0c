// PromiseModel: a model that a program hands over as an object with an async `infer`.
// Owns the walk of a call through code that is not ours: deadline, failures, retries, circuit, one more question. Leaves what an
// answer is judged by to `@reverie/model/wire`, what is thrown to thrown.ts, and the prompts of the AI SDK to ai-sdk-model.ts.
// P1  Whatever the code does, a call ends within its deadline in a reply or in one ModelError.
// P2  Where a call ends or is interrupted its signal is aborted, and its promise is waited for no longer.
// P3  A reply that can not be used is asked for once more and never twice; the usage of both rounds is summed.
// P4  An object whose `infer` answers an Effect is a service already, and is asked as it is.

import {
  type Accepts,
  askedWithParts,
  type CallPiece,
  type InferOptions,
  type Model,
  type ModelError,
  type Prompt,
  type Reply
} from "@reverie/model"
import {
  askedForForm,
  Breaker,
  breakerOptionsOf,
  type CallLimits,
  callLimitsOf,
  cleaned,
  corrections,
  countedUsage,
  type Failure,
  type Failures,
  type Forms,
  isEmpty,
  isFine,
  judge,
  type Judged,
  makeFailures,
  makeScrub,
  offersByName,
  Preview,
  providerUsage,
  type RawReply,
  retried,
  roughCount,
  type Scrub,
  secretsOfHeaders,
  type Signer,
  throughBreaker,
  wireName,
  withOwnReasoning
} from "@reverie/model/wire"
import { addUsage, defined, type GivenPart, isJsonObject, type Usage } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ModelSettings } from "./ai-sdk-prompt.ts"
import { argumentsText, type Broken, type Fields, fieldsOf, isBroken, jsonOf, promised, textIn } from "./thrown.ts"

/** What an async `infer` may answer; a text alone is a reply too. */
export interface PromiseReply {
  /** What the model says; empty when left out. */
  readonly text?: string
  /** Tools that are to be called. `arguments`: an object, or its JSON text. */
  readonly calls?: ReadonlyArray<{ readonly tool: string; readonly arguments?: unknown }>
  /** Images, files and audio that it made: `{ type: "image", data, mediaType }`. */
  readonly parts?: ReadonlyArray<GivenPart>
  /** What it thought, of any form that JSON has: given back to this model with the reply, and to no one else. */
  readonly reasoning?: ReadonlyArray<unknown>
  /** `length`: the reply was cut at the limit of tokens. Follows from the reply when left out. */
  readonly finish?: "stop" | "length" | "tool-calls" | "content-filter"
  /** Tokens; they are counted when left out. */
  readonly usage?: {
    readonly inputTokens: number
    readonly outputTokens: number
    readonly cachedInputTokens?: number
    readonly reasoningTokens?: number
  }
  /** The model that answered, as it names itself; the name of the object when left out. */
  readonly model?: string
}

/** With what an async `infer` is called, besides the prompt: the settings of `{ model, ... }`, and who looks on. */
export interface PromiseOptions extends ModelSettings {
  /** Aborted when the answer is not wanted any more. */
  readonly signal: AbortSignal
  /** Takes text as it comes, for those who look on; the reply holds the whole. Absent when no one does. */
  readonly onText?: (text: string) => void
  /** The same of what the model thinks before it speaks. */
  readonly onReasoning?: (text: string) => void
  /** The same of tool calls: `call` counts those of the reply from 0, `arguments` is a piece of their JSON text. */
  readonly onCall?: (piece: CallPiece) => void
}

/**
 * A model of one's own, without Effect.
 * @example
 * const fleet = await Fleet.open({
 *   data: ":memory:",
 *   fleet: harbor,
 *   model: { name: "echo", infer: async ({ messages }) => `You said: ${messages.at(-1)?.content ?? ""}` }
 * })
 */
export interface PromiseModel {
  /** For history, traces and prices; `custom` when left out. */
  readonly name?: string
  /**
   * Which images, files and audio it takes: types (`image`), media types (`application/pdf`) or ranges (`text/*`). These come as
   * `parts` of the messages, with their bytes as `data`; of others a line in the text tells. None when left out.
   */
  readonly accepts?: ReadonlyArray<string>
  /** Answers one prompt. What it throws is a failed call: the tick waits, and it is asked again. */
  readonly infer: (prompt: Prompt, options: PromiseOptions) => Promise<string | PromiseReply>
}

/** Any object with `infer`: it answers a Promise, or, in the style of `effect`, an Effect. */
export interface OwnModel extends Pick<Model["Service"], "serves" | "circuit" | "inOrder"> {
  /** For history, traces and prices; `custom` when left out. */
  readonly name?: string
  /** Which images, files and audio it takes, as of `PromiseModel`. */
  readonly accepts?: ReadonlyArray<string>
  /** Answers one prompt. What it throws is a failed call: the tick waits, and it is asked again. */
  readonly infer: (
    prompt: Prompt,
    options: PromiseOptions
  ) => Promise<string | PromiseReply> | ReturnType<Model["Service"]["infer"]>
}

/** An answer that has been put together. */
export type Answered = Omit<RawReply, "callCount"> & { readonly usage?: Usage }

// Walk: one call, with its tries and its one more question.

/** Everything that a call through code that is not ours goes by. */
export interface WalkContext {
  readonly model: string
  readonly signer: Signer
  readonly failures: Failures
  readonly scrub: Scrub
  readonly limits: CallLimits
  readonly breaker: Breaker
  readonly accepts: Accepts
}

/** One attempt at an answer. */
export type Ask = (prompt: Prompt, shown: InferOptions | undefined) => Effect.Effect<Answered | Broken, Failure>

const TIMEOUT_MILLIS = 120_000
const MAX_REPLY_CHARS = 4 * 1024 * 1024
/** Most tool calls of one reply. */
export const MAX_CALLS = 16

export const walkContext = (
  provider: string,
  model: string,
  accepts: Accepts,
  limits: Partial<CallLimits> = {},
  { headers }: ModelSettings = {}
): WalkContext => {
  const scrub = makeScrub("", ...secretsOfHeaders(headers))
  return {
    model,
    accepts,
    signer: { provider, model },
    scrub,
    failures: makeFailures(provider, scrub),
    limits: callLimitsOf(limits, TIMEOUT_MILLIS, MAX_REPLY_CHARS),
    breaker: new Breaker(breakerOptionsOf())
  }
}

const attempted = Effect.fnUntraced(function* (
  prompt: Prompt,
  shown: () => InferOptions | undefined,
  until: number,
  context: WalkContext,
  ask: Ask
) {
  const { failures, limits } = context
  const clock = yield* Clock.Clock
  const duration = Math.max(1, until - clock.currentTimeMillisUnsafe())
  const inTime = Effect.timeoutOrElse(
    Effect.suspend(() => ask(prompt, shown())),
    { duration, orElse: () => Effect.fail(failures.unavailable("timeout", "no answer in time")) }
  )
  const whole = Effect.flatMap(inTime, (answered) =>
    !isBroken(answered) && answered.text.length > limits.maxReplyBytes
      ? Effect.fail(failures.unavailable("too-large", `more than ${limits.maxReplyBytes} characters`))
      : Effect.succeed(answered)
  )
  return yield* throughBreaker(context, clock, whole)
})

const round = Effect.fnUntraced(function* (
  prompt: Prompt,
  preview: Preview,
  until: number,
  context: WalkContext,
  ask: Ask
): Effect.fn.Return<Judged, ModelError> {
  const { failures, model, scrub, signer } = context
  const names = new Map([...offersByName(prompt.tools)].map(([name, offer]) => [name, offer.name] as const))
  const toolOf = (name: string) => names.get(wireName(name)) ?? name
  const shown = () => cleaned(preview.attempt(), { kept: scrub.kept, toolOf })
  const answered = yield* retried(attempted(prompt, shown, until, context, ask), until, context)
  if (isBroken(answered)) return yield* failures.unusable(answered.broken)
  const usage = answered.usage ?? countedUsage(prompt, answered, roughCount)
  const raw = { ...answered, callCount: answered.calls.length }
  const judged = judge(raw, { prompt, nameByWire: names, usage, model, signer, maxCalls: MAX_CALLS, scrub })
  if (isEmpty(judged) && judged.reply.finish === "content-filter") {
    return yield* failures.filtered("the answer was filtered away")
  }
  return judged
})

const walk = Effect.fnUntraced(function* (
  prompt: Prompt,
  preview: Preview,
  until: number,
  context: WalkContext,
  ask: Ask
): Effect.fn.Return<Reply, ModelError> {
  const first = yield* round(prompt, preview, until, context, ask)
  if (isFine(first)) return first.reply
  const corrected = { ...prompt, messages: [...prompt.messages, ...corrections(first)] }
  const asked = yield* Effect.result(round(corrected, preview, until, context, ask))
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

/** What an interface knows: `onlyUser`, of its messages none but those of the user have parts; `forms`, it asks for forms. */
export interface Knows {
  readonly onlyUser?: boolean
  readonly forms?: Forms
}

/** The port over attempts. */
export const walkedModel = (
  provider: string,
  context: WalkContext,
  ask: Ask,
  { forms, onlyUser = false }: Knows = {}
): Model["Service"] => ({
  infer: (prompt, options) =>
    askedWithParts(
      withOwnReasoning(prompt, context.signer),
      { accepts: context.accepts, bytesOf: options?.bytesOf, onlyUser },
      (loaded) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const until = now + context.limits.timeoutMs
          const preview = new Preview(options)
          if (forms === undefined) return walk(loaded, preview, until, context, ask)
          return askedForForm(loaded, forms, ({ output, ...asked }, isDescribed) =>
            walk({ ...asked, ...defined({ output: isDescribed ? undefined : output }) }, preview, until, context, ask)
          )
        })
    ),
  serves: {
    provider,
    model: context.model,
    server: provider,
    accepts: context.accepts,
    ...defined({ output: forms === undefined ? undefined : ("native" as const) })
  },
  circuit: {
    withheldMillis: () => Effect.map(Clock.currentTimeMillis, (now) => context.breaker.withheldMillis(now)),
    tryNow: Effect.map(Clock.currentTimeMillis, (now) => context.breaker.tryNow(now))
  }
})

const finishes: Readonly<Record<string, string>> = { length: "length", "content-filter": "content_filter" }

/** What an async `infer` has answered. */
const readReply = (value: unknown): Answered | Broken => {
  const said = typeof value === "string" ? { text: value } : value
  if (!isJsonObject(said)) return { broken: `it answered ${value === null ? "null" : typeof value}, and no reply` }
  const { calls = [], finish = "", model = "", parts = [], reasoning, text = "", usage } = said as Fields
  if (typeof text !== "string" || !Array.isArray(calls)) return { broken: "its text is no text, or its calls no list" }
  const { cachedInputTokens: cached, inputTokens, outputTokens, reasoningTokens } = fieldsOf(usage)
  return {
    text,
    refusal: "",
    reasoned: Array.isArray(reasoning) && reasoning.length > 0,
    reasoning: (Array.isArray(reasoning) ? reasoning : []).flatMap((each) => {
      const part = jsonOf(each)
      return part === undefined ? [] : [{ part, at: 0 }]
    }),
    calls: calls.map((call: unknown) => {
      const { arguments: args, tool } = fieldsOf(call)
      return { name: textIn(tool) ?? "", arguments: argumentsText(args) }
    }),
    finish: finishes[textIn(finish) ?? ""] ?? "stop",
    model: textIn(model) ?? "",
    // What is none of its parts is reported where they are kept.
    ...defined({ parts: Array.isArray(parts) && parts.length > 0 ? (parts as ReadonlyArray<GivenPart>) : undefined }),
    ...defined({ usage: providerUsage(inputTokens, outputTokens, { cached, reasoning: reasoningTokens }) })
  }
}

type Infer = Model["Service"]["infer"]
type Call = (prompt: Prompt, options: PromiseOptions) => unknown

const isAsync = (code: unknown): boolean => Object.prototype.toString.call(code) === "[object AsyncFunction]"

const asking =
  (call: Call, { failures }: WalkContext): Ask =>
  (prompt, { onDropped: _, ...shown } = {}) =>
    promised(failures, async (signal) => readReply(await call(prompt, { signal, ...shown })))

/** The same call with the settings beside what it is called with. */
const settled =
  (call: Call, settings: ModelSettings): Call =>
  (prompt, options) =>
    call(prompt, { ...settings, ...options })

/** An attempt that was begun, and what else there is to do with it. */
interface Begun {
  readonly answer: () => unknown
  readonly abort: () => void
  /** Another one follows it. */
  readonly leave: () => void
}

/** The first attempt has been made already, and is the one that was begun; others are made as they come. */
const begunWith = ({ abort, answer, leave }: Begun, later: Ask, { failures }: WalkContext): Ask => {
  let left: (() => unknown) | undefined = answer
  return (prompt, shown) => {
    const taken = left
    left = undefined
    if (taken === undefined) {
      leave()
      return later(prompt, shown)
    }
    return promised(failures, async (signal) => {
      signal.addEventListener("abort", abort, { once: true })
      return readReply(await taken())
    })
  }
}

/** A function of either kind: its first answer shows which. */
const eitherModel = (call: Call, name: string, context: WalkContext): Model["Service"] => {
  const ask = asking(call, context)
  const walked = walkedModel(name, context, ask)
  let kind: "unknown" | "service" | "promise" = "unknown"
  const infer: Infer = (prompt, options) => {
    if (kind === "promise") return walked.infer(prompt, options)
    if (kind === "service") return (call as Infer)(prompt, options)
    return Effect.suspend(() => {
      const controller = new AbortController()
      const preview = new Preview(options)
      const made = Result.try(() => call(prompt, { ...preview.attempt(), signal: controller.signal }))
      if (Result.isSuccess(made) && Effect.isEffect(made.success)) {
        kind = "service"
        return made.success as ReturnType<Infer>
      }
      kind = "promise"
      const begun = {
        answer: () => Result.getOrThrow(made),
        abort: () => controller.abort(),
        leave: () => void preview.attempt()
      }
      const first = begunWith(begun, ask, context)
      return walkedModel(name, context, first).infer(prompt, options)
    })
  }
  return { infer, ...defined({ circuit: walked.circuit }) }
}

const UNNAMED = "custom"

/** The port over an object with `infer`. */
export const ownModel = (
  given: OwnModel,
  limits?: Partial<CallLimits>,
  settings: ModelSettings = {}
): Model["Service"] => {
  // No Promise model says these.
  if ("serves" in given || "circuit" in given || "inOrder" in given) return given as Model["Service"]
  const { accepts = [], name = UNNAMED } = given
  const context = walkContext(name, name, accepts, limits, settings)
  const call = settled(given.infer.bind(given), settings)
  const isNamed = name !== UNNAMED
  return isNamed || isAsync(given.infer)
    ? walkedModel(name, context, asking(call, context))
    : eitherModel(call, name, context)
}
