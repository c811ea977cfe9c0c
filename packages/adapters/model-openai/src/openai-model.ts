// OpenAiModel: the Model port over any OpenAI-compatible chat completions server.
// Owns the walk of one call: ask, judge, ask once more. Leaves each round to `round.ts`, each attempt to `attempt.ts`.
// I1  Whatever the server does, a call ends within its deadline in a reply or in one ModelError (model I1, I2).
// I2  A reply that can not be used is asked for once more and never twice; the usage of both rounds is summed.
// I3  The key is in no error, no log and no reply.
// I4  After any failure the next call starts afresh, unless the circuit is open.

import { type InferOptions, Model, type ModelError, type Prompt, type Reply, Tokens } from "@reverie/model"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { Breaker } from "./breaker.ts"
import { loadClient, type Post } from "./client.ts"
import { closeAgents, openAgents } from "./exchange.ts"
import { makeFailures } from "./failure.ts"
import { plainMessages } from "./json-tools.ts"
import { breakerOptionsOf, limitsOf, type OpenAiModelOptions } from "./options.ts"
import { nativeRepair, plainRepair } from "./repair.ts"
import { isEmpty, isFine } from "./reply.ts"
import { type Round, round, type RoundContext } from "./round.ts"
import { makeScrub } from "./scrub.ts"
import { addUsage } from "./usage.ts"
import { makeBodyWriter, wireMessage, type WireMessages } from "./wire.ts"

/** Host and port, as errors name the provider; undefined for what is no URL of a server. */
const providerOf = (baseURL: string): string | undefined => {
  const url = URL.parse(baseURL)
  return url !== null && (url.protocol === "http:" || url.protocol === "https:") ? url.host : undefined
}

/** The client, loaded at the first call. */
const lazyPost = ({ apiKey, baseURL }: OpenAiModelOptions): Effect.Effect<Post> => {
  let loading: Promise<Post> | undefined
  let loaded: Post | undefined
  const load = Effect.promise(() => (loading ??= loadClient(baseURL, apiKey)))
  const remember = Effect.map(load, (post) => (loaded = post))
  return Effect.suspend(() => (loaded === undefined ? remember : Effect.succeed(loaded)))
}

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
    post: lazyPost(options),
    writeBody: makeBodyWriter({
      model: options.model,
      baseURL: options.baseURL,
      streamUsage: options.streamUsage ?? true,
      extraBody: options.extraBody ?? {}
    })
  }
  return { infer: (prompt, inferOptions) => infer(prompt, inferOptions?.onText, context) }
})

export const openAiModelLayer = (options: OpenAiModelOptions): Layer.Layer<Model> =>
  Layer.effect(Model, makeOpenAiModel(options))
