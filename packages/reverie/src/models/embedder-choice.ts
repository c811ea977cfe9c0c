// EmbedderChoice: which embedder is asked.
// Owns the forms of a choice, their checks, and the port over an object of the AI SDK or with an async `embed`. Leaves servers to
// `@reverie/model-openai`, batches and lengths to `@reverie/model/wire`, what is thrown to thrown.ts.
// I2  Texts are embedded only where someone has said with which model; a fleet that is asked to stay offline asks no one.
// I3  A choice that can not be meant is refused before anything is opened, with one sentence that says what to write.
// E1  Whatever the code of an object does, each batch ends within its deadline in its vectors or in one EmbedderError, and its signal
//     is aborted.

import { Embedder, type Vector } from "@reverie/model"
import { embedderIn, flawOfDirectory, isDirectory } from "@reverie/model-onnx"
import { embedderOver, MAX_BATCH_TEXTS, retried, throughBreaker } from "@reverie/model/wire"
import { defined } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { FleetDefinitionInvalid } from "../errors.ts"
import { type Shape, text, whole } from "../options/shape.ts"
import { address, filled, flawOfServer, isObject, type ModelChoice } from "./model-choice.ts"
import { flawOfName, keyFor, serverFromConfig, serverNamed } from "./model-names.ts"
import { walkContext } from "./promise-model.ts"
import { fieldsOf, isBroken, promised } from "./thrown.ts"

/** An OpenAI-compatible server that embeds texts. */
export interface ServerEmbedder {
  /** Where it listens, up to and with `/v1`. */
  readonly baseURL: string
  /** The name of the model, as the server knows it. */
  readonly model: string
  /** Sent to this URL alone, and never printed; none when left out. */
  readonly apiKey?: string
  /** The length of its vectors; what the first one has when left out. */
  readonly dimensions?: number
}

/** What the AI SDK calls an embedding model: `openai.embeddingModel("text-embedding-3-small")` and so on of its packages. */
export interface EmbeddingModelObject {
  /** "v2", "v3" or "v4". */
  readonly specificationVersion: string
  /** The name of its provider. */
  readonly provider: string
  /** The name of the model there: vectors of two models are never compared. */
  readonly modelId: string
  /** A number, or a promise of one. */
  readonly maxEmbeddingsPerCall?: unknown
  /** Embeds a list of texts. */
  readonly doEmbed: (options: never) => PromiseLike<unknown>
}

/** An embedder of one's own, without Effect. */
export interface PromiseEmbedder {
  /** Names the model: vectors of two names are never compared. */
  readonly name: string
  /** The length of its vectors; what the first one has when left out. */
  readonly dimensions?: number
  /** Most texts of one call; 96 when left out. */
  readonly maxTexts?: number
  /** A list of numbers for each text, in their order. The signal is aborted when the answer is not wanted any more. */
  readonly embed: (
    texts: ReadonlyArray<string>,
    options: { readonly signal: AbortSignal }
  ) => PromiseLike<ReadonlyArray<ArrayLike<number>>>
}

/**
 * `none`: memory is searched by words alone. Another text: `"openai/text-embedding-3-small"` or
 * `"http://127.0.0.1:11434/v1#bge-m3"`, as of models, or a directory with a model in ONNX, `"./models/all-MiniLM-L6-v2"`, which runs in
 * this process and needs the package `@huggingface/transformers`. An object: a server, an embedding model of the AI SDK, one with an async
 * `embed`, or a service of `effect`.
 */
export type EmbedderChoice = string | ServerEmbedder | EmbeddingModelObject | PromiseEmbedder | Embedder["Service"]

const isOfSdk = (choice: object): choice is EmbeddingModelObject => "doEmbed" in choice

const isService = (choice: object): choice is Embedder["Service"] =>
  "embed" in choice && isObject(Reflect.get(choice, "model"))

const isPromise = (choice: object): choice is PromiseEmbedder => "embed" in choice && !isService(choice)

const embedderShape: Shape = { baseURL: address, model: filled, apiKey: text, dimensions: whole(1, 100_000) }

const VERSIONS: ReadonlyArray<unknown> = ["v2", "v3", "v4"]

const flawOfSdkEmbedder = ({ doEmbed, modelId, provider, specificationVersion }: EmbeddingModelObject) => {
  if (!VERSIONS.includes(specificationVersion)) {
    return `speaks version ${JSON.stringify(specificationVersion)} of the AI SDK's interface; ${VERSIONS.join(", ")} are known`
  }
  const isNamed = [provider, modelId].every((name) => typeof name === "string" && name !== "")
  return isNamed && typeof doEmbed === "function"
    ? undefined
    : "must have provider, modelId and doEmbed as the AI SDK makes them"
}

const flawOfPromiseEmbedder = ({ dimensions, embed, maxTexts, name }: PromiseEmbedder): string | undefined => {
  if (typeof embed !== "function") return "has an embed that is no function"
  if (typeof name !== "string" || name.trim() === "") return "must have a name: vectors of two names are never compared"
  const flaws = Object.entries({ dimensions, maxTexts }).flatMap(([key, value]) => {
    const flaw = value === undefined ? undefined : whole(1, 100_000)(value)
    return flaw === undefined ? [] : [`has a ${key} that ${flaw}`]
  })
  return flaws[0]
}

const flawOfService = ({ embed, measured, model }: Embedder["Service"]): string | undefined => {
  const isMeasured = measured !== undefined || whole(1)(model?.dimensions) === undefined
  const isNamed = typeof model?.id === "string" && model.id !== ""
  if (typeof embed !== "function" || !isNamed) return "must have embed, and a model with an id"
  return isMeasured
    ? undefined
    : "must say the dimensions of its model, a whole number of at least 1, or how they are measured"
}

/** What is wrong with a choice, in words that follow on its name; undefined when nothing is, or when there is none. */
export const flawOfEmbedder = (choice: unknown): string | undefined => {
  if (choice === undefined || choice === "none") return undefined
  if (typeof choice === "string") {
    if (choice === "offline") return `is "offline", which embeds nothing`
    return isDirectory(choice) ? flawOfDirectory(choice) : flawOfName(choice)
  }
  if (!isObject(choice) || Array.isArray(choice)) return `is ${JSON.stringify(choice)}, and no embedder`
  if (isOfSdk(choice)) return flawOfSdkEmbedder(choice)
  if (isService(choice)) return flawOfService(choice)
  if (isPromise(choice)) return flawOfPromiseEmbedder(choice)
  return flawOfServer(choice, embedderShape)
}

const nativeDimensions: Readonly<Record<string, number>> = {
  "text-embedding-3-small": 1_536,
  "text-embedding-3-large": 3_072,
  "text-embedding-ada-002": 1_536
}

const askedDimensions = Config.option(
  Config.schema(Schema.Int.check(Schema.isGreaterThan(0)), "OPENAI_EMBEDDING_DIMENSIONS")
)

/** The server of embeddings, where the environment names one of their own. */
const embeddingServer = Effect.gen(function* () {
  const baseURL = yield* Config.option(Config.String("OPENAI_EMBEDDING_BASE_URL"))
  if (Option.isNone(baseURL)) return yield* serverFromConfig
  const own = yield* Config.option(Config.Redacted("OPENAI_EMBEDDING_API_KEY"))
  return { baseURL: baseURL.value, apiKey: Option.isSome(own) ? own.value : yield* keyFor(baseURL.value) }
})

/** The embedder that the environment names, on the server that it names; undefined when it names none. */
const embedderFromConfig = Effect.gen(function* () {
  const model = yield* Config.option(Config.String("OPENAI_EMBEDDING_MODEL"))
  const found = yield* embeddingServer
  if (Option.isNone(model) || found === undefined) return undefined
  const { apiKey, baseURL } = found
  const dimensions = Option.getOrUndefined(yield* askedDimensions)
  return { apiKey, baseURL, model: model.value, ...defined({ dimensions }) }
})

type KeyedEmbedder = Omit<ServerEmbedder, "apiKey"> & { readonly apiKey: Redacted.Redacted }

const serverEmbedder = (options: KeyedEmbedder) =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("@reverie/model-openai")),
      ({ openAiEmbedderLayer }) => {
        const dimensions = options.dimensions ?? nativeDimensions[options.model]
        return openAiEmbedderLayer({ ...options, ...defined({ dimensions }) })
      }
    )
  )

// Objects: one batch through code that is not ours.

/** The lists of numbers of an answer, or what is wrong with it. */
const vectorsIn = (answer: unknown, count: number): ReadonlyArray<Vector> | string => {
  if (!Array.isArray(answer)) return "its answer is no list of vectors"
  if (answer.length !== count) return `${count} texts were answered with ${answer.length} vectors`
  const vectors = answer.map((each: unknown) =>
    Array.isArray(each) || each instanceof Float32Array || each instanceof Float64Array ? Array.from(each) : []
  )
  const wrong = vectors.findIndex((each) => each.length === 0 || !each.every(Number.isFinite))
  return wrong < 0 ? vectors : `vector ${wrong} is not a list of numbers`
}

interface ObjectEmbedder {
  readonly provider: string
  readonly model: string
  readonly dimensions?: number | undefined
  readonly mostTexts?: number | undefined
  readonly call: (texts: Array<string>, signal: AbortSignal) => unknown
}

const objectEmbedder = ({ call, ...who }: ObjectEmbedder): Embedder["Service"] => {
  const context = walkContext(who.provider, who.model, [])
  const { failures, limits } = context
  const attempt = Effect.fnUntraced(function* (texts: Array<string>, until: number) {
    const clock = yield* Clock.Clock
    const asked = Effect.flatMap(
      promised(failures, async (signal) => ({ vectors: vectorsIn(await call(texts, signal), texts.length) })),
      (answer) => {
        if (isBroken(answer)) return Effect.fail({ ...failures.unavailable("malformed", answer.broken), again: false })
        const { vectors } = answer
        return typeof vectors === "string"
          ? Effect.fail(failures.unavailable("malformed", vectors))
          : Effect.succeed(vectors)
      }
    )
    const inTime = Effect.timeoutOrElse(asked, {
      duration: Math.max(1, until - clock.currentTimeMillisUnsafe()),
      orElse: () => Effect.fail(failures.unavailable("timeout", "no answer in time"))
    })
    return yield* throughBreaker(context, clock, inTime)
  })
  const ask = Effect.fnUntraced(function* (texts: Array<string>) {
    const until = (yield* Clock.currentTimeMillis) + limits.timeoutMs
    return yield* retried(attempt(texts, until), until, context)
  })
  return embedderOver({ ...who, ask })
}

const ownEmbedder = ({ dimensions, embed, maxTexts, name }: PromiseEmbedder): Embedder["Service"] =>
  objectEmbedder({
    provider: name,
    model: name,
    dimensions,
    mostTexts: maxTexts,
    call: (texts, signal) => embed(texts, { signal })
  })

/** For what a model says of itself. */
const LONGEST_WAIT = "5 seconds"

/** One that names no most takes what any server takes. */
const mostOf = (given: unknown): number => {
  const most = typeof given === "number" && given >= 1 ? Math.floor(given) : MAX_BATCH_TEXTS
  return Math.min(most, MAX_BATCH_TEXTS)
}

const sdkEmbedder = Effect.fnUntraced(function* (sdk: EmbeddingModelObject) {
  const { maxEmbeddingsPerCall, modelId, provider } = sdk
  const most = yield* Effect.tryPromise(async () => maxEmbeddingsPerCall).pipe(
    Effect.timeout(LONGEST_WAIT),
    Effect.orElseSucceed(() => undefined)
  )
  return objectEmbedder({
    provider,
    model: modelId,
    mostTexts: mostOf(most),
    call: async (values, abortSignal) =>
      fieldsOf(await sdk.doEmbed({ values, abortSignal } as unknown as never))["embeddings"]
  })
})

/** The embedder of a directory, of a server, or none, as the environment says. */
const embedderOfEnvironment = Effect.gen(function* () {
  const named = Option.getOrElse(yield* Config.option(Config.String("OPENAI_EMBEDDING_MODEL")), () => "")
  if (isDirectory(named)) {
    const flaw = flawOfDirectory(named)
    if (flaw === undefined) return Layer.succeed(Embedder, ownEmbedder(embedderIn(named)))
    return yield* new FleetDefinitionInvalid({ subject: "fleet", message: `OPENAI_EMBEDDING_MODEL ${flaw}` })
  }
  const options = yield* embedderFromConfig
  return options === undefined ? Layer.empty : serverEmbedder(options)
})

/** The embedder of a choice, which may be none; without a choice, whatever the environment names. */
export const embedderLayer = (
  choice: EmbedderChoice | undefined,
  model?: ModelChoice
): Layer.Layer<never, Config.ConfigError | FleetDefinitionInvalid> => {
  if (choice === "none" || (choice === undefined && model === "offline")) return Layer.empty
  if (typeof choice === "string") {
    if (isDirectory(choice)) return Layer.succeed(Embedder, ownEmbedder(embedderIn(choice)))
    return Layer.unwrap(
      Effect.map(serverNamed(choice), (found) => (found === undefined ? Layer.empty : serverEmbedder(found)))
    )
  }
  if (choice !== undefined) {
    if (isOfSdk(choice)) return Layer.effect(Embedder, sdkEmbedder(choice))
    if (isService(choice)) return Layer.succeed(Embedder, choice)
    if (isPromise(choice)) return Layer.succeed(Embedder, ownEmbedder(choice))
    const { apiKey = "none", ...options } = choice
    return serverEmbedder({ ...options, apiKey: Redacted.make(apiKey) })
  }
  return Layer.unwrap(embedderOfEnvironment)
}
