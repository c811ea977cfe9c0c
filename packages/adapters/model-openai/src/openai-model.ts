// OpenAiModel: the Model port over any OpenAI-compatible chat completions server.
// Owns the walk of one call: ask, judge, ask once more. Leaves each round to `round.ts`, each attempt to `attempt.ts`.
// I1  Whatever the server does, a call ends within its deadline in a reply or in one ModelError (model I1, I2).
// I2  A reply that can not be used is asked for once more and never twice; the usage of both rounds is summed.
// I3  The key is in no error, no log and no reply.
// I4  After any failure the next call starts afresh, unless the circuit of its model is open.

import { type InferOptions, Model, type ModelError, type Prompt, type Reply, Tokens } from "@reverie/model"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { Breaker } from "./breaker.ts"
import { lazyCompletions, nameOf, providerOf } from "./client.ts"
import { closeAgents, openAgents } from "./exchange.ts"
import { makeFailures } from "./failure.ts"
import { plainMessages } from "./json-tools.ts"
import { breakerOptionsOf, limitsOf, type OpenAiModelOptions } from "./options.ts"
import { nativeRepair, plainRepair } from "./repair.ts"
import { isEmpty, isFine } from "./reply.ts"
import { type Round, round, type RoundContext } from "./round.ts"
import { makeScrub } from "./scrub.ts"
import { addUsage } from "./usage.ts"
import { type BodyWriter, makeBodyWriter, wireMessage, type WireMessages } from "./wire.ts"

const writerFor = (model: string, { baseURL, extraBody = {}, streamUsage = true }: OpenAiModelOptions): BodyWriter =>
  makeBodyWriter({ model, baseURL, streamUsage, extraBody })

const withComplaint = (messages: WireMessages, wrong: Round, { isPlain, scrub }: RoundContext): WireMessages => {
  if (!isPlain) return [...messages, ...nativeRepair(wrong)]
  const complaints = [wrong.complaint, ...wrong.callComplaints].filter((complaint) => complaint !== undefined)
  return [...messages, ...plainRepair(scrub.kept(wrong.said), complaints)]
}

const askAgain = Effect.fnUntraced(function* (
  prompt: Prompt,
  messages: WireMessages,
  first: Round,
  until: number,
  onText: InferOptions["onText"],
  context: RoundContext
): Effect.fn.Return<Reply, ModelError> {
  const preview = first.reply.text === "" ? onText : undefined
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

const infer = Effect.fnUntraced(function* (
  prompt: Prompt,
  onText: InferOptions["onText"],
  context: RoundContext
): Effect.fn.Return<Reply, ModelError> {
  const until = (yield* Clock.currentTimeMillis) + context.limits.timeoutMillis
  const messages = context.isPlain ? plainMessages(prompt) : prompt.messages.map(wireMessage)
  const first = yield* round(prompt, messages, until, onText, context)
  return isFine(first) ? first.reply : yield* askAgain(prompt, messages, first, until, onText, context)
})

/** The model of the options, and others of the same server, each with a circuit of its own. */
const contextsOf = (own: RoundContext, options: OpenAiModelOptions) => {
  const all = new Map([[own.model, own]])
  return (model: string = own.model): RoundContext => {
    const known = all.get(model)
    if (known !== undefined) return known
    const other = {
      ...own,
      model,
      breaker: new Breaker(breakerOptionsOf(options)),
      writeBody: writerFor(model, options)
    }
    all.set(model, other)
    return other
  }
}

export const makeOpenAiModel = Effect.fnUntraced(function* (
  options: OpenAiModelOptions
): Effect.fn.Return<Model["Service"], never, Scope.Scope> {
  const provider = providerOf(options.baseURL)
  const scrub = makeScrub(Redacted.value(options.apiKey))
  const failures = makeFailures(provider ?? "unknown", scrub)
  if (provider === undefined) {
    return { infer: () => Effect.fail(failures.denied("the base URL is not an http or https URL", 0)) }
  }
  const context: RoundContext = {
    model: options.model,
    isPlain: options.tools === "json",
    stream: options.stream,
    scrub,
    failures,
    limits: limitsOf(options),
    tokens: Option.getOrUndefined(yield* Effect.serviceOption(Tokens)),
    agents: yield* Effect.acquireRelease(Effect.sync(openAgents), (agents) => Effect.sync(() => closeAgents(agents))),
    breaker: new Breaker(breakerOptionsOf(options)),
    post: lazyCompletions(options),
    writeBody: writerFor(options.model, options)
  }
  const contextOf = contextsOf(context, options)
  const now = Clock.currentTimeMillis
  return {
    infer: (prompt, inferOptions) => infer(prompt, inferOptions?.onText, contextOf(prompt.model)),
    serves: { provider: nameOf(provider), model: options.model, server: provider },
    circuit: {
      withheldMillis: (model) => Effect.map(now, (at) => contextOf(model).breaker.withheldMillis(at)),
      tryNow: Effect.map(now, (at) => context.breaker.tryNow(at))
    }
  }
})

export const openAiModelLayer = (options: OpenAiModelOptions): Layer.Layer<Model> =>
  Layer.effect(Model, makeOpenAiModel(options))
