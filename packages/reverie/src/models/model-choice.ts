// ModelChoice: which model is asked.
// Owns the forms of a choice, their checks and their words, by options first and by the environment (through Config) second;
// nothing set means offline. Leaves names to model-names.ts, and who chooses for what to models.ts.
// I1  A model key is only ever sent to the base URL it was configured with, and never printed.
// I3  A choice that can not be meant is refused before anything is opened, with one sentence that says what to write.

import { firstOf, Model } from "@reverie/model"
import { defined, type Json } from "@reverie/protocol"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { FleetDefinitionInvalid } from "../errors.ts"
import { amount, flag, flawOfShape, oneOf, type Shape, text, whole } from "../options/shape.ts"
import type { LanguageModel } from "./ai-sdk-model.ts"
import { flawOfName, type NamedServer, serverFromConfig, serverNamed } from "./model-names.ts"
import type { ModelSettings } from "./ai-sdk-prompt.ts"
import type { OwnModel, PromiseModel } from "./promise-model.ts"

/** An OpenAI-compatible server. */
export interface ServerModel {
  /** Where it listens, up to and with `/v1`, e.g. `http://127.0.0.1:11434/v1`. */
  readonly baseURL: string
  /** The name of the model, as the server knows it. */
  readonly model: string
  /** Sent to this URL alone, and never printed; none when left out. */
  readonly apiKey?: string
  /** "json" for servers without native tool calls. */
  readonly tools?: "native" | "json"
  /** "described" for servers that do not know `response_format`; one that refuses it is found out by itself. */
  readonly output?: "native" | "described"
  /** Ask for replies in pieces; true when left out. With false there is no `text` part before the whole reply. */
  readonly stream?: boolean
  /**
   * Mark with `cache_control` what comes again, for gateways to models whose cache asks for it. For openrouter.ai it is always on,
   * and for Claude at ai-gateway.vercel.sh.
   */
  readonly cacheMarks?: boolean
  /** Longest a call may take, with its own tries, in milliseconds; 120,000 when left out. */
  readonly timeoutMs?: number
  /** `responses`: OpenAI's Responses API, without anything being kept there. Chat Completions when left out. */
  readonly wire?: "chat" | "responses"
  /**
   * Which images, files and audio of messages it takes: types (`image`), media types (`application/pdf`) or ranges (`text/*`). What
   * its name is known for when left out; of what it does not take a line of text tells it.
   */
  readonly accepts?: ReadonlyArray<string>
  /** 0 to 2, as the server understands it; what the server takes when left out. */
  readonly temperature?: number
  /** How hard it is to think: `low`, `medium`, `high` and so on, as its server knows them. */
  readonly reasoningEffort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max"
  /** How often a call is tried again after a failure that passes; 2 when left out. */
  readonly retries?: number
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Fields of every request, which stand in place of what would be sent. */
  readonly extraBody?: Readonly<Record<string, Json>>
}

/** A model that is given as an object, with how it is asked. */
export interface ModelObject extends ModelSettings {
  /** The object itself. */
  readonly model: LanguageModel | PromiseModel
  /** Longest a call may take, with its own tries, in milliseconds; 120,000 when left out. */
  readonly timeoutMs?: number
  /** How often a call is tried again after a failure that passes; 2 when left out. */
  readonly retries?: number
}

/**
 * One model. A text: `"openai/gpt-5-mini"` (provider/model), `"openai-responses/gpt-5"` (the same by its Responses API),
 * `"http://127.0.0.1:11434/v1#qwen3"` (address#model), or
 * `"offline"`, the small rule-based stand-in. An object: a server, a language model of the AI SDK, one with an async `infer`,
 * one of these two with options (`{ model, temperature }`), or a service of `effect`.
 */
export type OneModel = string | ServerModel | LanguageModel | OwnModel | ModelObject

/** One model, or several in the order in which they are asked: the first that can, answers. */
export type ModelChoice = OneModel | ReadonlyArray<OneModel>

// Forms: what a choice is.

export const isObject = (choice: unknown): choice is object => typeof choice === "object" && choice !== null

const isList = (choice: ModelChoice): choice is ReadonlyArray<OneModel> => Array.isArray(choice)

const isLanguageModel = (choice: object): choice is LanguageModel => "doGenerate" in choice

const isOwn = (choice: object): choice is OwnModel => "infer" in choice

const isWithOptions = (choice: object): choice is ModelObject =>
  "model" in choice && isObject(choice.model) && !isLanguageModel(choice) && !isOwn(choice)

export const address = (value: unknown): string | undefined => {
  const url = typeof value === "string" ? URL.parse(value) : null
  return url !== null && /^https?:$/.test(url.protocol)
    ? undefined
    : "must be an address that begins with http:// or https://"
}

export const filled = (value: unknown): string | undefined =>
  text(value) ?? (String(value).trim() === "" ? "must name a model" : undefined)

const LONGEST_TIMEOUT_MILLIS = 9 * 60_000

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isObject(value) && !Array.isArray(value)

/** What no request can carry would fail each call, long after. */
const headers = (value: unknown): string | undefined =>
  isRecord(value) &&
  Object.entries(value).every(([name, each]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && isHeaderText(each))
    ? undefined
    : "must be an object of headers, names with texts of one line"

const isHeaderText = (value: unknown): boolean => typeof value === "string" && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)

const fields = (value: unknown): string | undefined => (isRecord(value) ? undefined : "must be an object of fields")

/** Types of parts, media types, or ranges of them. */
const acceptsCheck = (value: unknown): string | undefined =>
  Array.isArray(value) &&
  value.every((each) => typeof each === "string" && /^(?:image|file|audio|[a-z]+\/\S+)$/.test(each))
    ? undefined
    : `must be a list of "image", "file", "audio" and media types such as "application/pdf" or "text/*"`

const EFFORT = oneOf("none", "minimal", "low", "medium", "high", "xhigh", "max")

const serverShape: Shape = {
  baseURL: address,
  model: filled,
  apiKey: text,
  tools: oneOf("native", "json"),
  output: oneOf("native", "described"),
  stream: flag,
  cacheMarks: flag,
  timeoutMs: whole(1, LONGEST_TIMEOUT_MILLIS),
  wire: oneOf("chat", "responses"),
  accepts: acceptsCheck,
  temperature: amount(0, 2),
  reasoningEffort: EFFORT,
  retries: whole(0, 10),
  headers,
  extraBody: fields
}

/** By the names of providers, and of each an object. */
const byProvider = (value: unknown): string | undefined =>
  isRecord(value) && Object.values(value).every(isRecord)
    ? undefined
    : "must be an object of providers, and of each an object of its options"

const objectShape: Shape = {
  model: () => undefined,
  temperature: amount(0, 2),
  reasoningEffort: EFFORT,
  timeoutMs: whole(1, LONGEST_TIMEOUT_MILLIS),
  retries: whole(0, 10),
  headers,
  providerOptions: byProvider
}

/** Of a shape, without the name of the whole. */
const flawIn = (choice: object, shape: Shape): string | undefined =>
  flawOfShape("model", choice, shape)
    ?.replace(/^model\.(\w+) /, "has a $1 that ")
    .replace(/^model has/, "has")

const flawOfObject = (choice: ModelObject): string | undefined => {
  const { model } = choice
  const isService = "serves" in model || "circuit" in model || "inOrder" in model
  if (isService) return "has options for a service of effect, which has its own"
  if (!isLanguageModel(model) && !isOwn(model)) return "has a model that is no object with doGenerate or infer"
  return flawOfOne(model) ?? flawIn(choice, objectShape)
}

const VERSIONS: ReadonlyArray<unknown> = ["v2", "v3", "v4"]

const flawOfLanguageModel = ({ doGenerate, doStream, modelId, provider, specificationVersion }: LanguageModel) => {
  if (!VERSIONS.includes(specificationVersion)) {
    return `speaks version ${JSON.stringify(specificationVersion)} of the AI SDK's interface; ${VERSIONS.join(", ")} are known`
  }
  const isWhole = [doGenerate, doStream].every((code) => typeof code === "function")
  const isNamed = [provider, modelId].every((name) => typeof name === "string" && name !== "")
  return isWhole && isNamed
    ? undefined
    : "must have provider, modelId, doGenerate and doStream as the AI SDK makes them"
}

export const flawOfServer = (choice: object, shape: Shape = serverShape): string | undefined => {
  const missing = ["baseURL", "model"].find((key) => Reflect.get(choice, key) === undefined)
  const { accepts, tools, wire } = choice as { readonly [Key in "accepts" | "tools" | "wire"]?: unknown }
  if (tools === "json" && accepts !== undefined) return `has accepts, which a server with tools "json" does not have`
  if (tools === "json" && wire === "responses") return `has tools "json", which the wire "responses" does not have`
  return missing === undefined
    ? flawIn(choice, shape)
    : `has no ${missing}; a server is written { baseURL, model }, any other model as "provider/model"`
}

const flawOfOne = (choice: unknown): string | undefined => {
  if (typeof choice === "string") return flawOfName(choice)
  if (!isObject(choice) || Array.isArray(choice)) {
    return `is ${Array.isArray(choice) ? "a list in a list" : JSON.stringify(choice)}, and no model`
  }
  const { accepts } = choice as { readonly accepts?: unknown }
  const flaw = accepts === undefined ? undefined : acceptsCheck(accepts)
  if (flaw !== undefined) return `has accepts that ${flaw}`
  if (isLanguageModel(choice)) return flawOfLanguageModel(choice)
  if (isOwn(choice)) return typeof choice.infer === "function" ? undefined : "has an infer that is no function"
  return isWithOptions(choice) ? flawOfObject(choice) : flawOfServer(choice)
}

/** What is wrong with a choice, in words that follow on its name; undefined when nothing is, or when there is none. */
export const flawOfModel = (choice: unknown): string | undefined => {
  if (choice === undefined) return undefined
  if (!Array.isArray(choice)) return flawOfOne(choice)
  if (choice.length === 0) return "is an empty list"
  const at = choice.findIndex((each) => flawOfOne(each) !== undefined)
  return at < 0 ? undefined : `${flawOfOne(choice[at])} (number ${at + 1} of the list)`
}

/** A base URL may carry a user and a password. */
const withoutCredentials = (url: string): string => url.replace(/\/\/[^/@]*@/, "//")

export const OFFLINE_TEXT = "the offline model"

/** A choice as a person reads it, with nothing of a key. */
export const modelText = (choice: ModelChoice): string => {
  if (isList(choice)) return choice.map(modelText).join(", else ")
  if (choice === "offline") return OFFLINE_TEXT
  if (typeof choice === "string") return choice
  if (isWithOptions(choice)) return modelText(choice.model)
  if (isLanguageModel(choice)) return `${choice.provider}/${choice.modelId} of the AI SDK`
  if (!isOwn(choice)) return `${choice.model} at ${withoutCredentials(choice.baseURL)}`
  const name = choice.name ?? choice.serves?.model
  return name === undefined ? "a model of its own" : `${name}, a model of its own`
}

// Making: the port over a choice.

/** Makes models of choices. Of equal choices it makes one: its connections and its circuit are shared. */
export type ModelMaker = (
  choice: ModelChoice | undefined
) => Effect.Effect<Model["Service"], Config.ConfigError | FleetDefinitionInvalid, Scope.Scope>

// Loaded when chosen: anyone who talks to no server does not wait for its client.
const offline = Effect.map(
  Effect.promise(() => import("@reverie/model-offline")),
  ({ offlineModel }) => offlineModel()
)

/** The rules of the offline model, as what dreams without asking any other: what they read and say is no usage. */
export const rules: Model["Service"] = {
  infer: (prompt, options) =>
    Effect.map(
      Effect.flatMap(offline, (model) => model.infer(prompt, options)),
      (reply) => ({ ...reply, usage: { inputTokens: 0, outputTokens: 0, source: "counted" } })
    )
}

const server = Effect.fnUntraced(function* (options: Omit<ServerModel, "apiKey"> & Pick<NamedServer, "apiKey">) {
  const { timeoutMs, ...rest } = options
  const { makeOpenAiModel } = yield* Effect.promise(() => import("@reverie/model-openai"))
  return yield* makeOpenAiModel({ ...rest, ...defined({ timeoutMs }) })
})

const named = Effect.fnUntraced(function* (found: NamedServer | undefined) {
  return found === undefined ? yield* offline : yield* server(found)
})

const object = Effect.fnUntraced(function* ({ model, retries, timeoutMs, ...settings }: ModelObject | ObjectAlone) {
  const limits = defined({ retries, timeoutMs })
  if (isLanguageModel(model)) {
    const { aiSdkModel } = yield* Effect.promise(() => import("./ai-sdk-model.ts"))
    return aiSdkModel(model, limits, settings)
  }
  const { ownModel } = yield* Effect.promise(() => import("./promise-model.ts"))
  return ownModel(model, limits, settings)
})

/** A model that is given without options may be a service too. */
interface ObjectAlone extends Omit<ModelObject, "model"> {
  readonly model: LanguageModel | OwnModel
}

const madeOf = Effect.fnUntraced(function* (choice: OneModel) {
  if (typeof choice === "string") return yield* named(yield* serverNamed(choice))
  if (isWithOptions(choice)) return yield* object(choice)
  if (isLanguageModel(choice) || isOwn(choice)) return yield* object({ model: choice })
  const { apiKey = "none", ...options } = choice
  return yield* server({ ...options, apiKey: Redacted.make(apiKey) })
})

/** What equal choices have in common: the text of what was written down, and otherwise the object itself. */
const keyOf = (choice: OneModel): unknown => {
  if (typeof choice === "string" || isLanguageModel(choice) || isOwn(choice) || isWithOptions(choice)) return choice
  return JSON.stringify(Object.entries(choice).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

export const modelMaker = (): ModelMaker => {
  const made = new Map<unknown, Model["Service"]>()
  const one = Effect.fnUntraced(function* (choice: OneModel) {
    const known = made.get(keyOf(choice))
    if (known !== undefined) return known
    const model = yield* madeOf(choice)
    made.set(keyOf(choice), model)
    return model
  })
  const environment = Effect.gen(function* () {
    const known = made.get(undefined)
    if (known !== undefined) return known
    const model = yield* named(yield* serverFromConfig)
    made.set(undefined, model)
    return model
  })
  return Effect.fnUntraced(function* (choice) {
    if (choice === undefined) return yield* environment
    if (!isList(choice)) return yield* one(choice)
    const [first, ...others] = yield* Effect.forEach(choice, one)
    return first === undefined ? yield* environment : firstOf([first, ...others])
  })
}

/** The model of a choice; without one, whatever the environment names, and the offline model when it names nothing. */
export const modelLayer = (
  choice: ModelChoice | undefined
): Layer.Layer<Model, Config.ConfigError | FleetDefinitionInvalid> => Layer.effect(Model, modelMaker()(choice))
