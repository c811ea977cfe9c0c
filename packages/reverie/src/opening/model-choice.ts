// ModelChoice: which model a fleet asks, and which embedder.
// Owns the choice, by options first and by the environment (through Config) second; nothing set means offline.
// I1  A model key is only ever sent to the base URL it was configured with, and never printed.
// I2  Texts are embedded only where someone has said with which model; a fleet that is asked to stay offline asks no one.

import { Embedder, Model } from "@reverie/model"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

/** An OpenAI-compatible server. */
export interface ServerModel {
  readonly baseURL: string
  readonly model: string
  readonly apiKey?: string
  /** "json" for servers without native tool calls. */
  readonly tools?: "native" | "json"
  /** "described" for servers that do not know `response_format`; one that refuses it is found out by itself. */
  readonly output?: "native" | "described"
  readonly stream?: boolean
  /** Mark with `cache_control` what comes again, for gateways to models whose cache asks for it; openrouter.ai is told anyway. */
  readonly cacheMarks?: boolean
}

/** `offline`: the small rule-based stand-in. A service: one of your own. */
export type ModelChoice = "offline" | ServerModel | Model["Service"]

type ServerOptions = Omit<ServerModel, "apiKey"> & { readonly apiKey: Redacted.Redacted }

const DEFAULT_BASE_URL = "https://api.openai.com/v1"
const DEFAULT_MODEL = "gpt-5-mini"

/** The server that the environment names; undefined when it names none. */
export const serverFromConfig = Effect.gen(function* () {
  const apiKey = yield* Config.option(Config.Redacted("OPENAI_API_KEY"))
  const baseURL = yield* Config.option(Config.String("OPENAI_BASE_URL"))
  const model = yield* Config.option(Config.String("OPENAI_MODEL"))
  if (Option.isNone(apiKey) && Option.isNone(baseURL)) return undefined
  return {
    baseURL: Option.getOrElse(baseURL, () => DEFAULT_BASE_URL),
    model: Option.getOrElse(model, () => DEFAULT_MODEL),
    apiKey: Option.getOrElse(apiKey, () => Redacted.make("none"))
  }
})

export const isService = (choice: ModelChoice): choice is Model["Service"] =>
  typeof choice === "object" && "infer" in choice

// Loaded when chosen: anyone who talks to no server does not wait for its client.
const offline = Layer.unwrap(
  Effect.map(
    Effect.promise(() => import("@reverie/model-offline")),
    ({ offlineModel }) => Layer.succeed(Model, offlineModel())
  )
)

const server = (options: ServerOptions) =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("@reverie/model-openai")),
      ({ openAiModelLayer }) => openAiModelLayer(options)
    )
  )

/** The model of a choice; without one, whatever the environment names, and the offline model when it names nothing. */
export const modelLayer = (choice: ModelChoice | undefined): Layer.Layer<Model, Config.ConfigError> => {
  if (choice === "offline") return offline
  if (choice !== undefined && isService(choice)) return Layer.succeed(Model, choice)
  if (choice !== undefined) {
    const { apiKey = "none", ...options } = choice
    return server({ ...options, apiKey: Redacted.make(apiKey) })
  }
  return Layer.unwrap(Effect.map(serverFromConfig, (options) => (options === undefined ? offline : server(options))))
}

/** An OpenAI-compatible server that embeds texts. */
export interface ServerEmbedder {
  readonly baseURL: string
  readonly model: string
  readonly apiKey?: string
  /** The length of its vectors. */
  readonly dimensions: number
}

/** `none`: memory is searched by words alone. A service: one of your own. */
export type EmbedderChoice = "none" | ServerEmbedder | Embedder["Service"]

const nativeDimensions: Readonly<Record<string, number>> = {
  "text-embedding-3-small": 1_536,
  "text-embedding-3-large": 3_072,
  "text-embedding-ada-002": 1_536
}

const dimensionsFor = (model: string): Config.Config<number> => {
  const asked = Config.schema(Schema.Int.check(Schema.isGreaterThan(0)), "OPENAI_EMBEDDING_DIMENSIONS")
  const native = nativeDimensions[model]
  return native === undefined ? asked : asked.pipe(Config.withDefault(native))
}

/** The embedder that the environment names, on the server that it names; undefined when it names none. */
const embedderFromConfig = Effect.gen(function* () {
  const model = yield* Config.option(Config.String("OPENAI_EMBEDDING_MODEL"))
  const found = yield* serverFromConfig
  if (Option.isNone(model) || found === undefined) return undefined
  const { apiKey, baseURL } = found
  return { apiKey, baseURL, model: model.value, dimensions: yield* dimensionsFor(model.value) }
})

const serverEmbedder = (options: Omit<ServerEmbedder, "apiKey"> & { readonly apiKey: Redacted.Redacted }) =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("@reverie/model-openai")),
      ({ openAiEmbedderLayer }) => openAiEmbedderLayer(options)
    )
  )

/** The embedder of a choice, which may be none; without a choice, whatever the environment names. */
export const embedderLayer = (
  choice: EmbedderChoice | undefined,
  model?: ModelChoice
): Layer.Layer<never, Config.ConfigError> => {
  if (choice === "none" || (choice === undefined && model === "offline")) return Layer.empty
  if (choice !== undefined && "embed" in choice) return Layer.succeed(Embedder, choice)
  if (choice !== undefined) {
    const { apiKey = "none", ...options } = choice
    return serverEmbedder({ ...options, apiKey: Redacted.make(apiKey) })
  }
  return Layer.unwrap(
    Effect.map(embedderFromConfig, (options) => (options === undefined ? Layer.empty : serverEmbedder(options)))
  )
}
