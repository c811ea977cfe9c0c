// ModelName: a model as one text: `provider/model`, `http://host/v1#model`, or `offline`.
// Owns the providers that are known by name, and where their keys and addresses stand in the environment (through Config).
// N1  A key is sent to the address of its own provider and nowhere else, and is in no text.
// N2  A text that names no model is refused with a sentence that says what to write.

import { defined } from "@reverie/protocol"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { FleetDefinitionInvalid } from "../errors.ts"

interface Provider {
  readonly baseURL: string
  /** The variable that may hold another address. */
  readonly address: string
  /** Variables that may hold its key, the usual one first; none of a server on one's own machine. */
  readonly keys: ReadonlyArray<string>
  /** A model to begin with, as an example. */
  readonly example: string
}

const provider = (name: string, baseURL: string, keys: ReadonlyArray<string>, example: string): [string, Provider] => [
  name,
  { baseURL, address: `${name.toUpperCase()}_BASE_URL`, keys, example }
]

/** Each of them speaks the chat completions API of OpenAI; some the Responses API too. */
const providers: ReadonlyMap<string, Provider> = new Map([
  provider("openai", "https://api.openai.com/v1", ["OPENAI_API_KEY"], "gpt-5-mini"),
  provider("anthropic", "https://api.anthropic.com/v1", ["ANTHROPIC_API_KEY"], "claude-sonnet-4-5"),
  provider(
    "google",
    "https://generativelanguage.googleapis.com/v1beta/openai",
    ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
    "gemini-2.5-flash"
  ),
  provider("mistral", "https://api.mistral.ai/v1", ["MISTRAL_API_KEY"], "mistral-medium-latest"),
  provider("groq", "https://api.groq.com/openai/v1", ["GROQ_API_KEY"], "llama-3.3-70b-versatile"),
  provider("deepseek", "https://api.deepseek.com/v1", ["DEEPSEEK_API_KEY"], "deepseek-chat"),
  provider("xai", "https://api.x.ai/v1", ["XAI_API_KEY"], "grok-4"),
  provider("cohere", "https://api.cohere.ai/compatibility/v1", ["COHERE_API_KEY"], "command-a-03-2025"),
  provider("cerebras", "https://api.cerebras.ai/v1", ["CEREBRAS_API_KEY"], "llama-3.3-70b"),
  provider("together", "https://api.together.xyz/v1", ["TOGETHER_API_KEY"], "openai/gpt-oss-120b"),
  provider(
    "fireworks",
    "https://api.fireworks.ai/inference/v1",
    ["FIREWORKS_API_KEY"],
    "accounts/fireworks/models/gpt-oss-120b"
  ),
  provider("openrouter", "https://openrouter.ai/api/v1", ["OPENROUTER_API_KEY"], "anthropic/claude-sonnet-4.5"),
  provider("vercel", "https://ai-gateway.vercel.sh/v1", ["AI_GATEWAY_API_KEY"], "anthropic/claude-sonnet-4.5"),
  provider("ollama", "http://127.0.0.1:11434/v1", [], "qwen3"),
  provider("lmstudio", "http://127.0.0.1:1234/v1", [], "qwen3-8b")
])

/** Variables that hold the key of a provider. */
export const KEY_VARIABLES: ReadonlyArray<string> = [
  "OPENAI_EMBEDDING_API_KEY",
  ...[...providers.values()].flatMap(({ keys }) => keys)
]

/** Of these the address may hold a password. */
export const ADDRESS_VARIABLES: ReadonlyArray<string> = [
  "OPENAI_EMBEDDING_BASE_URL",
  ...[...providers.values()].map(({ address }) => address)
]

const OPENAI = "openai"

/** A text taken apart. */
type Named =
  | { readonly kind: "offline" }
  | { readonly kind: "address"; readonly baseURL: string; readonly model: string }
  | { readonly kind: "provider"; readonly provider: string; readonly model: string; readonly wire?: "responses" }

const quoted = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)

const HOW = `write "openai/gpt-5-mini" (provider/model), "http://127.0.0.1:11434/v1#qwen3" (address#model) or "offline"`

const addressIn = (text: string): Named | string => {
  const at = text.indexOf("#")
  const [baseURL, model] = at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1).trim()]
  const url = URL.parse(baseURL)
  if (url === null) return `is ${quoted(baseURL)}, which is no address of a server`
  // Nothing of the user part of an address is shown.
  if (url.username !== "" || url.password !== "") return "has a key in its address; give it as apiKey beside baseURL"
  return model === ""
    ? `is ${quoted(baseURL)} and names no model: write it behind a #`
    : { kind: "address", baseURL, model }
}

/** Behind the name of a provider: it is asked by its Responses API. */
const OF_RESPONSES = "-responses"

/** The text taken apart, or what is wrong with it in words that follow on its name. */
const taken = (text: string): Named | string => {
  if (text === "offline") return { kind: "offline" }
  if (/^https?:\/\//i.test(text)) return addressIn(text)
  const at = text.indexOf("/")
  if (at < 0) return `is ${quoted(text)}, which names no provider; ${HOW}`
  const [name, model] = [text.slice(0, at), text.slice(at + 1).trim()]
  const plainName = name.endsWith(OF_RESPONSES) ? name.slice(0, -OF_RESPONSES.length) : name
  if (!providers.has(plainName)) {
    return `is ${quoted(text)} of the unknown provider ${quoted(name)}; there are ${[...providers.keys()].join(", ")}`
  }
  if (model === "") return `is ${quoted(text)} and names no model; ${HOW}`
  const wire = plainName === name ? undefined : ("responses" as const)
  return { kind: "provider", provider: plainName, model, ...defined({ wire }) }
}

export const flawOfName = (text: string): string | undefined => {
  const named = taken(text)
  return typeof named === "string" ? named : undefined
}

/** A server as a wire needs it. */
export interface NamedServer {
  readonly baseURL: string
  readonly model: string
  readonly apiKey: Redacted.Redacted
  readonly wire?: "responses"
}

const firstSet = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  for (const name of names) {
    const found = yield* Config.option(Config.Redacted(name))
    if (Option.isSome(found)) return found.value
  }
  return undefined
})

/** An address that other programs know without a path has that of the provider's own. */
const withPath = (address: string, own: string): string => {
  const url = URL.parse(address)
  return url === null || url.pathname !== "/" ? address : new URL(new URL(own).pathname, url).href
}

const placeOf = Effect.fnUntraced(function* (name: string, { address, baseURL, keys }: Provider) {
  const own = yield* Config.option(Config.String(address))
  const key = yield* firstSet(keys)
  // What OPENAI_BASE_URL says has always been the whole of it.
  const said = Option.map(own, (text) => (name === OPENAI ? text : withPath(text, baseURL)))
  return { baseURL: Option.getOrElse(said, () => baseURL), isOwn: Option.isSome(said), ...defined({ key }) }
})

const NO_KEY = Redacted.make("none")

/** The key of an address, where it is that of a provider: it is sent nowhere else. */
export const keyFor = Effect.fnUntraced(function* (baseURL: string) {
  const isSame = (other: string) => other.replace(/\/$/, "") === baseURL.replace(/\/$/, "")
  for (const [name, each] of providers) {
    const { baseURL: address, key } = yield* placeOf(name, each)
    if (isSame(address) && key !== undefined) return key
  }
  return NO_KEY
})

/** The server that a text names; undefined of the offline model. */
export const serverNamed = Effect.fnUntraced(function* (text: string) {
  const named = taken(text)
  const refuse = (problem: string) => new FleetDefinitionInvalid({ subject: "model", message: `model ${problem}` })
  if (typeof named === "string") return yield* refuse(named)
  if (named.kind === "offline") return undefined
  const { model } = named
  const wire = "wire" in named ? named.wire : undefined
  if (named.kind === "address") return { baseURL: named.baseURL, model, apiKey: yield* keyFor(named.baseURL) }
  const known = providers.get(named.provider)
  if (known === undefined) return yield* refuse(`${quoted(text)} has an unknown provider`)
  const { baseURL, isOwn, key } = yield* placeOf(named.provider, known)
  // A server of one's own may want none.
  if (key === undefined && known.keys.length > 0 && !isOwn) {
    return yield* refuse(`${quoted(text)} needs its key: set ${known.keys.join(" or ")} in the environment`)
  }
  return { baseURL, model, apiKey: key ?? NO_KEY, ...defined({ wire }) } satisfies NamedServer
})

const DEFAULT_MODEL = "gpt-5-mini"

/** The server that OPENAI_* names; undefined when they name none. */
export const serverFromConfig = Effect.gen(function* () {
  const known = providers.get(OPENAI)
  if (known === undefined) return undefined
  const { baseURL, isOwn, key } = yield* placeOf(OPENAI, known)
  const model = yield* Config.option(Config.String("OPENAI_MODEL"))
  if (key === undefined && !isOwn) return undefined
  return { baseURL, model: Option.getOrElse(model, () => DEFAULT_MODEL), apiKey: key ?? NO_KEY } satisfies NamedServer
})

/** What to say where a provider's key is set and the environment names no model; undefined when none is. */
export const unusedKey = Effect.gen(function* () {
  if ((yield* serverFromConfig) !== undefined) return undefined
  for (const [name, { example, keys }] of providers) {
    for (const variable of keys) {
      if (Option.isNone(yield* Config.option(Config.Redacted(variable)))) continue
      return `${variable} is set, and no model is chosen: the offline model answers. To ask it, write model: "${name}/${example}"`
    }
  }
  return undefined
})
