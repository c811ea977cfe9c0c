// OpenAiEmbedder: the Embedder port over any OpenAI-compatible embeddings server.
// Owns batches, what of a text is sent, and the agreed length. Leaves each request to `attempt.ts` and `retry.ts`.
// I1  Whatever the server does, each batch ends within its deadline in its vectors or in one EmbedderError.
// I2  A request holds at most MAX_BATCH_TEXTS texts and MAX_BATCH_CHARS characters; a call is all its batches or fails.
// I3  The key is in no error and no log.
// I4  No text that is empty, too long or not well-formed makes the server refuse the texts beside it.

import { Embedder, type EmbedderError, EmbeddingUnfit, type RequestError, type Vector } from "@reverie/model"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { attempt, type AttemptContext } from "./attempt.ts"
import { Breaker } from "./breaker.ts"
import { type EmbeddingBody, lazyEmbeddings, providerOf } from "./client.ts"
import { EmbeddingAnswer } from "./embedding-answer.ts"
import { closeAgents, openAgents } from "./exchange.ts"
import { makeFailures } from "./failure.ts"
import { breakerOptionsOf, embedderLimitsOf, type OpenAiEmbedderOptions } from "./options.ts"
import { retried } from "./retry.ts"
import { makeScrub } from "./scrub.ts"

export const MAX_BATCH_TEXTS = 96

/** OpenAI takes 300,000 tokens a request; a character is seldom more than one. */
export const MAX_BATCH_CHARS = 200_000

/** OpenAI takes 8,192 tokens a text. Its beginning says what a long text is about. */
export const MAX_TEXT_CHARS = 8_000

/** Servers refuse an empty text, and with it all others of its batch. */
const NOTHING = "."

const sent = (text: string): string => {
  const head = (text.length > MAX_TEXT_CHARS ? text.slice(0, MAX_TEXT_CHARS) : text).toWellFormed()
  return head.trim() === "" ? NOTHING : head
}

const batchesOf = (texts: ReadonlyArray<string>): ReadonlyArray<Array<string>> => {
  const batches: Array<Array<string>> = []
  let chars = Infinity
  for (const text of texts.map(sent)) {
    const batch = batches.at(-1)
    chars += text.length
    if (batch === undefined || batch.length >= MAX_BATCH_TEXTS || chars > MAX_BATCH_CHARS) {
      batches.push([text])
      chars = text.length
    } else batch.push(text)
  }
  return batches
}

/** Only these models of OpenAI can be asked for shorter vectors; what others make of the field is not known. */
const canShorten = (model: string): boolean => model.includes("text-embedding-3")

type Ask = (texts: Array<string>) => Effect.Effect<ReadonlyArray<Vector>, RequestError>

const asking = (options: OpenAiEmbedderOptions, context: AttemptContext<EmbeddingBody>): Ask => {
  const { dimensions, model } = options
  const shortened = (options.sendDimensions ?? canShorten(model)) ? { dimensions } : {}
  return Effect.fnUntraced(function* (input) {
    const until = (yield* Clock.currentTimeMillis) + context.limits.timeoutMillis
    const read = () => new EmbeddingAnswer(context.failures, input.length)
    return yield* retried(attempt({ model, input, ...shortened }, until, read, context), until, context)
  })
}

const agreed = (provider: string, { dimensions, model }: OpenAiEmbedderOptions) =>
  Effect.fnUntraced(function* (vectors: ReadonlyArray<Vector>): Effect.fn.Return<ReadonlyArray<Vector>, EmbedderError> {
    const unfit = vectors.find((vector) => vector.length !== dimensions)
    if (unfit === undefined) return vectors
    const message = `${model} gives vectors of ${unfit.length} numbers, and ${dimensions} were agreed`
    return yield* new EmbeddingUnfit({ provider, message, expected: dimensions, received: unfit.length })
  })

export const makeOpenAiEmbedder = Effect.fnUntraced(function* (
  options: OpenAiEmbedderOptions
): Effect.fn.Return<Embedder["Service"], never, Scope.Scope> {
  const { baseURL, dimensions } = options
  const provider = providerOf(baseURL)
  const failures = makeFailures(provider ?? "unknown", makeScrub(Redacted.value(options.apiKey)))
  const model = { id: `${options.model}/${dimensions}`, dimensions }
  if (provider === undefined) {
    const error = failures.denied("the base URL is not an http or https URL", 0)
    return { model, embed: (texts) => (texts.length === 0 ? Effect.succeed([]) : Effect.fail(error)) }
  }
  const ask = asking(options, {
    failures,
    limits: embedderLimitsOf(options),
    agents: yield* Effect.acquireRelease(Effect.sync(openAgents), (agents) => Effect.sync(() => closeAgents(agents))),
    breaker: new Breaker(breakerOptionsOf(options)),
    post: lazyEmbeddings(options)
  })
  const check = agreed(provider, options)
  const batch = (texts: Array<string>) => Effect.flatMap(ask(texts), check)
  return { model, embed: (texts) => Effect.map(Effect.forEach(batchesOf(texts), batch), (parts) => parts.flat()) }
})

export const openAiEmbedderLayer = (options: OpenAiEmbedderOptions): Layer.Layer<Embedder> =>
  Layer.effect(Embedder, makeOpenAiEmbedder(options))
