// OpenAiEmbedder: the Embedder port over any OpenAI-compatible embeddings server.
// Owns batches, what of a text is sent, and the agreed length. Leaves each request to `attempt.ts`, its retries to `@reverie/model/wire`.
// I1  Whatever the server does, each batch ends within its deadline in its vectors or in one EmbedderError.
// I2  A request holds at most MAX_BATCH_TEXTS texts and MAX_BATCH_CHARS characters; a call is all its batches or fails.
// I3  The key is in no error and no log.
// I4  A length that no one said is that of the first vector; from then on another one is as wrong as one that was agreed.
// I5  No text that is empty, too long or not well-formed makes the server refuse the texts beside it.

import { type EmbeddingModel, Embedder, EmbeddingUnfit, type RequestError, type Vector } from "@reverie/model"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { defined, isJsonObject, type Json, parseJson } from "@reverie/protocol"
import * as Result from "effect/Result"
import {
  Breaker,
  breakerOptionsOf,
  type Failure,
  type Failures,
  type HeaderReader,
  makeFailures,
  makeScrub,
  retried
} from "@reverie/model/wire"
import { attempt, type AttemptContext, type Reading } from "./attempt.ts"
import { type EmbeddingBody, lazyEmbeddings, providerOf } from "./client.ts"
import { closeAgents, openAgents } from "./wire/exchange.ts"
import { embedderLimitsOf, type OpenAiEmbedderOptions } from "./options.ts"
import { type Ending, endings } from "./wire/answer.ts"

// EmbeddingAnswer: the body of one successful response to a request for vectors.
// I1  It holds one list of finite numbers for each text, in the order of the texts, or it is a failure: a list that is
//     short, that names a place twice, or that holds anything else is of no use to anybody.

type Vectors = ReadonlyArray<ReadonlyArray<number>>

const isVector = (value: Json | undefined): value is ReadonlyArray<number> =>
  Array.isArray(value) && value.every((each) => typeof each === "number" && Number.isFinite(each))

/** The vectors by their places, or what is wrong with them. */
const vectorsIn = (rows: ReadonlyArray<Json>, count: number): Vectors | string => {
  if (rows.length !== count) return `${count} texts were answered with ${rows.length} vectors`
  const placed: Array<ReadonlyArray<number> | undefined> = Array.from({ length: count })
  for (const [at, row] of rows.entries()) {
    const { embedding, index = at } = isJsonObject(row) ? row : {}
    if (!isVector(embedding)) return `vector ${at} is not a list of numbers`
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= count) {
      return `vector ${at} says that it stands at no place of the list`
    }
    if (placed[index] !== undefined) return `two vectors say that they stand at ${index}`
    placed[index] = embedding
  }
  return placed.filter((vector) => vector !== undefined)
}

class EmbeddingAnswer implements Reading<Vectors> {
  assembly: Vectors = []
  /** A list is whole when its last bracket is there, and only the end of the body tells. */
  readonly finished = false
  readonly #chunks: Array<Buffer> = []
  readonly #failures: Failures
  readonly #count: number

  constructor(failures: Failures, count: number) {
    this.#failures = failures
    this.#count = count
  }

  begin(): void {}

  take(chunk: Buffer): "open" {
    this.#chunks.push(chunk)
    return "open"
  }

  conclude(ending: Ending, header: HeaderReader, now: number): Failure | undefined {
    const { unavailable } = this.#failures
    if (ending === "cut" || ending === "idle" || ending === "timeout" || ending === "too-large") {
      return unavailable(ending, endings[ending])
    }
    const text = Buffer.concat(this.#chunks).toString("utf8").trim()
    const parsed = parseJson(text)
    if (Result.isFailure(parsed)) {
      const isCut = text.startsWith("{") && !text.endsWith("}")
      return unavailable(
        isCut ? "cut" : "not-json",
        text === "" ? "the body is empty" : `the body is not JSON: ${parsed.failure}`
      )
    }
    return this.#judge(parsed.success, header, now)
  }

  #judge(body: Json, header: HeaderReader, now: number): Failure | undefined {
    const { answered, unavailable } = this.#failures
    const { data, error } = isJsonObject(body) ? body : {}
    if (error) {
      const { code, message, type } = isJsonObject(error) ? error : { message: error }
      return answered({ code, message, type }, header, now)
    }
    if (!Array.isArray(data)) return unavailable("malformed", "the answer has no list of vectors")
    const vectors = vectorsIn(data, this.#count)
    if (typeof vectors === "string") return unavailable("malformed", vectors)
    this.assembly = vectors
    return undefined
  }
}

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
  const shortened = (options.sendDimensions ?? canShorten(model)) ? defined({ dimensions }) : {}
  return Effect.fnUntraced(function* (input) {
    const until = (yield* Clock.currentTimeMillis) + context.limits.timeoutMs
    const read = () => new EmbeddingAnswer(context.failures, input.length)
    return yield* retried(attempt({ model, input, ...shortened }, until, read, context), until, context)
  })
}

/** The length of the vectors of a model, as it was agreed or is learned. */
class Length {
  readonly #provider: string
  readonly #model: string
  #dimensions: number | undefined

  constructor(provider: string, { dimensions, model }: Pick<OpenAiEmbedderOptions, "dimensions" | "model">) {
    this.#provider = provider
    this.#model = model
    this.#dimensions = dimensions
  }

  get model(): EmbeddingModel {
    const dimensions = this.#dimensions
    return dimensions === undefined
      ? { id: this.#model, dimensions: 0 }
      : { id: `${this.#model}/${dimensions}`, dimensions }
  }

  /** The vectors, if they have the length that all have. */
  judge(vectors: ReadonlyArray<Vector>): Effect.Effect<ReadonlyArray<Vector>, EmbeddingUnfit> {
    const [first] = vectors
    const expected = this.#dimensions ?? first?.length ?? 0
    const unfit = vectors.find((vector) => vector.length !== expected || expected === 0)
    if (unfit !== undefined) {
      const [provider, received] = [this.#provider, unfit.length]
      const message = `${this.#model} gives vectors of ${received} numbers, and ${expected} were agreed: correct dimensions, or leave it out for a new index`
      return Effect.fail(new EmbeddingUnfit({ provider, message, expected, received }))
    }
    if (expected > 0) this.#dimensions = expected
    return Effect.succeed(vectors)
  }
}

/** What is embedded to learn a length. */
const PROBE = "length"

export const makeOpenAiEmbedder = Effect.fnUntraced(function* (
  options: OpenAiEmbedderOptions
): Effect.fn.Return<Embedder["Service"], never, Scope.Scope> {
  const { baseURL } = options
  const provider = providerOf(baseURL)
  const failures = makeFailures(provider ?? "unknown", makeScrub(Redacted.value(options.apiKey)))
  const length = new Length(provider ?? "unknown", options)
  const { model } = length
  if (provider === undefined) {
    const error = failures.denied("the base URL is not an http or https URL", 0)
    return { model, embed: (texts) => (texts.length === 0 ? Effect.succeed([]) : Effect.fail(error)) }
  }
  const ask = asking(options, {
    failures,
    limits: embedderLimitsOf(options),
    agents: yield* Effect.acquireRelease(Effect.sync(openAgents), (agents) => Effect.sync(() => closeAgents(agents))),
    breaker: new Breaker(breakerOptionsOf(options.breaker)),
    post: lazyEmbeddings(options)
  })
  const batch = (texts: Array<string>) => Effect.flatMap(ask(texts), (vectors) => length.judge(vectors))
  const learned = Effect.suspend(() =>
    length.model.dimensions > 0 ? Effect.succeed(length.model) : Effect.map(batch([PROBE]), () => length.model)
  )
  return {
    model,
    ...defined({ measured: options.dimensions === undefined ? learned : undefined }),
    embed: (texts) => Effect.map(Effect.forEach(batchesOf(texts), batch), (parts) => parts.flat())
  }
})

export const openAiEmbedderLayer = (options: OpenAiEmbedderOptions): Layer.Layer<Embedder> =>
  Layer.effect(Embedder, makeOpenAiEmbedder(options))
