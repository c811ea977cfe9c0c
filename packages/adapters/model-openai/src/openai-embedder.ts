// OpenAiEmbedder: the Embedder port over any OpenAI-compatible embeddings server.
// Owns what is asked and how an answer is read. Leaves each request to `attempt.ts`, batches, lengths and retries to
// `@reverie/model/wire`.
// I1  Whatever the server does, each batch ends within its deadline in its vectors or in one EmbedderError.
// I3  The key is in no error and no log.

import { Embedder, type RequestError, type Vector } from "@reverie/model"
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
  embedderOver,
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

export const makeOpenAiEmbedder = Effect.fnUntraced(function* (
  options: OpenAiEmbedderOptions
): Effect.fn.Return<Embedder["Service"], never, Scope.Scope> {
  const { baseURL } = options
  const provider = providerOf(baseURL)
  const failures = makeFailures(provider ?? "unknown", makeScrub(Redacted.value(options.apiKey)))
  if (provider === undefined) {
    const error = failures.denied("the base URL is not an http or https URL", 0)
    return embedderOver({ ...options, provider: "unknown", ask: () => Effect.fail(error) })
  }
  const ask = asking(options, {
    failures,
    limits: embedderLimitsOf(options),
    agents: yield* Effect.acquireRelease(Effect.sync(openAgents), (agents) => Effect.sync(() => closeAgents(agents))),
    breaker: new Breaker(breakerOptionsOf(options.breaker)),
    post: lazyEmbeddings(options)
  })
  return embedderOver({ ...options, provider, ask })
})

export const openAiEmbedderLayer = (options: OpenAiEmbedderOptions): Layer.Layer<Embedder> =>
  Layer.effect(Embedder, makeOpenAiEmbedder(options))
