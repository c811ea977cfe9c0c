// Tracing: where the spans of a fleet go, and what they may say.
// Owns the choice, by options first and by the environment (through Config) second; nothing set means nowhere.
// Leaves sending them to trace-export.ts, which is loaded when it is needed.
// T1  A header or a password for the collector goes to the collector and is never printed.
// T2  What a span says of content, where that is wanted at all, is cut, and holds none of the secrets that the fleet knows.

import { secretsOfHeaders } from "@reverie/model/wire"
import { type ContentRequest, hiding, Secrets, Telemetry } from "@reverie/runtime"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import type { ModelChoice } from "../models/model-choice.ts"
import { ADDRESS_VARIABLES, KEY_VARIABLES } from "../models/model-names.ts"
import type { ProfileOptions } from "./profile.ts"
import type { Collector } from "./trace-export.ts"

export interface TracingOptions {
  /**
   * Where spans go; every verb of the walk is one. When not said they go to the collector that the environment names in
   * `OTEL_EXPORTER_OTLP_ENDPOINT`, if it names one.
   */
  readonly tracing?: Layer.Layer<never>
  /**
   * Whether spans hold prompts, replies, arguments and results, cut to so many characters each (2,000 when only wanted).
   * By default they hold none of it.
   */
  readonly traceContent?: boolean | { readonly maxChars: number }
}

const DEFAULT_MAX_CHARS = 2_000
const DEFAULT_SERVICE = "reverie"

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** `key=value,key=value`, as the environment has it; what is no pair is passed over. */
export const headersIn = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text.split(",").flatMap((pair) => {
      const place = pair.indexOf("=")
      const name = pair.slice(0, Math.max(0, place)).trim()
      return /^[\w!#$%&'*+.^`|~-]+$/.test(name) ? [[name.toLowerCase(), decoded(pair.slice(place + 1).trim())]] : []
    })
  )

/** A name and password that stand in the URL, where no request may have them, as a header. */
const credentialsIn = ({ password, username }: URL): Readonly<Record<string, string>> =>
  username === "" && password === ""
    ? {}
    : { authorization: `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString("base64")}` }

const collectorFromConfig = Effect.gen(function* () {
  const endpoint = yield* Config.option(Config.Redacted("OTEL_EXPORTER_OTLP_ENDPOINT"))
  const ofTraces = yield* Config.option(Config.Redacted("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"))
  const isDisabled = yield* Config.Boolean("OTEL_SDK_DISABLED").pipe(Config.withDefault(false))
  const headers = yield* Config.option(Config.Redacted("OTEL_EXPORTER_OTLP_HEADERS"))
  const service = yield* Config.String("OTEL_SERVICE_NAME").pipe(Config.withDefault(DEFAULT_SERVICE))
  const said = Option.orElse(ofTraces, () => endpoint)
  if (Option.isNone(said) || isDisabled) return undefined
  const url = URL.parse(Redacted.value(said.value))
  if (url === null || !/^https?:$/.test(url.protocol)) {
    yield* Effect.logWarning("OTEL_EXPORTER_OTLP_ENDPOINT is no http or https URL: no spans are exported")
    return undefined
  }
  if (Option.isNone(ofTraces)) url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/traces`
  const sent = { ...credentialsIn(url), ...headersIn(Option.isNone(headers) ? "" : Redacted.value(headers.value)) }
  url.username = ""
  url.password = ""
  return { url: url.href, service, headers: sent } satisfies Collector
})

const exported = Layer.unwrap(
  Effect.gen(function* () {
    const collector = yield* collectorFromConfig
    if (collector === undefined) return Layer.empty
    const { traceExport } = yield* Effect.promise(() => import("./trace-export.ts"))
    return traceExport(collector)
  })
  // Standard output belongs to the program.
).pipe(Layer.provide(Layer.succeed(References.LogToStderr, true)))

const contentOf = (request: TracingOptions["traceContent"], holders: SecretHolders) => {
  if (request === undefined || request === false) return Layer.empty
  const maxChars = Math.max(1, Math.floor(request === true ? DEFAULT_MAX_CHARS : request.maxChars))
  return Layer.effect(
    Telemetry,
    Effect.map(secretsOf(holders), (secrets) => ({ content: { maxChars, secrets } satisfies ContentRequest }))
  )
}

/** What the fleet was given as a secret stands in nothing that it writes down. */
const hidden = (holders: SecretHolders) => Layer.effect(Secrets, Effect.map(secretsOf(holders), hiding))

/** What the options and the environment make of the spans of a fleet. */
export const tracingLayer = (options: TracingOptions & SecretHolders): Layer.Layer<never, Config.ConfigError> =>
  Layer.mergeAll(options.tracing ?? exported, contentOf(options.traceContent, options), hidden(options))

// Secrets: the passwords and keys that a fleet is given.
// Owns finding them in options and in the environment (through Config). Leaves keeping them out of texts to the code that writes.

interface SecretHolders extends Pick<Partial<ProfileOptions>, "deployment" | "embedder" | "recall"> {
  /** Every model that is chosen anywhere. */
  readonly chosen?: ReadonlyArray<ModelChoice>
}

/** Names of the environment whose whole value is a secret, and those that hold a URL with one in it. */
const KEYS = ["DATABASE_PASSWORD", "QDRANT_API_KEY", "OTEL_EXPORTER_OTLP_HEADERS", ...KEY_VARIABLES]
const URLS = ["DATABASE_URL", "REDIS_URL", "QDRANT_URL", "OTEL_EXPORTER_OTLP_ENDPOINT", ...ADDRESS_VARIABLES]

/** The password in a URL, as it stands there and as it is meant. */
const passwordIn = (text: string): ReadonlyArray<string> => {
  const password = URL.parse(text)?.password ?? ""
  if (password === "") return []
  try {
    return [password, decodeURIComponent(password)]
  } catch {
    return [password]
  }
}

const keyOf = (choice: unknown): ReadonlyArray<string> =>
  Array.isArray(choice) ? choice.flatMap(keyOf) : keyIn(choice)

const keyIn = (choice: unknown): ReadonlyArray<string> => {
  if (typeof choice !== "object" || choice === null) return []
  const { apiKey, headers } = choice as { readonly apiKey?: unknown; readonly headers?: object }
  return [...(typeof apiKey === "string" ? [apiKey] : []), ...secretsOfHeaders({ ...headers })]
}

/** Every secret that the options or the environment name. */
const secretsOf = Effect.fnUntraced(function* ({ chosen = [], deployment, embedder, recall }: SecretHolders) {
  const read = (name: string) =>
    Effect.map(Config.option(Config.Redacted(name)), (value) =>
      Option.isNone(value) ? [] : [Redacted.value(value.value)]
    )
  const keys = (yield* Effect.all(KEYS.map(read))).flat()
  const urls = (yield* Effect.all(URLS.map(read))).flat()
  const named = [deployment?.database, deployment?.redis].flatMap((url) => url ?? [])
  const password = deployment?.password ?? ""
  const all = [
    ...keys,
    password,
    ...[...urls, ...named].flatMap(passwordIn),
    ...[embedder, chosen, recall].flatMap(keyOf)
  ]
  return [...new Set(all.filter((secret) => secret !== ""))]
})
