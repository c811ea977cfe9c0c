// Client: the `openai` client, loaded at the first call and kept.
// Owns its configuration. Leaves retries, timeouts, reading of bodies and logging to this package, not to the client.
// C1  It writes nothing to any log, and sends no key, organization or project of the environment.
// C2  Requests with pieces of a text as their body differ in nothing else: the client makes URL and headers of the first one only.

import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as RedactedValue from "effect/Redacted"
import type { OpenAI } from "openai"
import type { ResponseCreateParams } from "openai/resources/responses/responses"
import { carry, type Exchange } from "./wire/exchange.ts"
import type { Pieces } from "./wire/wire.ts"
import { LONGEST_TIMER_MILLIS } from "@reverie/model/wire"

const silent = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }

/** Resolves once the response is there to be read; rejects with what the client makes of a refusal. */
export type Post<Body> = (body: Body, exchange: Exchange) => Promise<unknown>

type Built = Awaited<ReturnType<OpenAI["buildRequest"]>>

/** The client as it is used here. Making the headers of a request costs it more than sending them. */
const clientClass = async (): Promise<typeof OpenAI> => {
  const { OpenAI: Whole } = await import("openai")
  return class extends Whole {
    readonly #known = new Map<string, Built>()

    override async buildRequest(...[options, again]: Parameters<OpenAI["buildRequest"]>): Promise<Built> {
      const { body, fetchOptions, path } = options
      if (!Array.isArray(body)) return withPlainHeaders(await super.buildRequest(options, again))
      const known = this.#known.get(path)
      if (known !== undefined)
        return { ...known, req: { ...known.req, body, ...fetchOptions } as unknown as Built["req"] }
      const built = withPlainHeaders(await super.buildRequest({ ...options, body: "{}" }, again))
      const { headers, method } = built.req
      this.#known.set(path, { ...built, req: { headers, method } as Built["req"] })
      return { ...built, req: { ...built.req, body } as unknown as Built["req"] }
    }

    // The client's own clock never decides: an exchange has clocks of its own.
    override fetchWithTimeout(...[url, init]: Parameters<OpenAI["fetchWithTimeout"]>): Promise<Response> {
      return carry(url as string, init)
    }
  }
}

/** As a record, which is what is sent of them. */
const withPlainHeaders = ({ req, ...built }: Built): Built => ({
  ...built,
  req: { ...req, headers: Object.fromEntries(req.headers) as unknown as Headers }
})

const loadClient = async ({ apiKey, baseURL, headers }: Server): Promise<OpenAI> => {
  const Client = await clientClass()
  return new Client({
    baseURL,
    apiKey: RedactedValue.value(apiKey) || "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: LONGEST_TIMER_MILLIS,
    logLevel: "off",
    logger: silent,
    defaultHeaders: { "X-Stainless-Timeout": null, "Content-Type": "application/json", ...headers }
  })
}

export interface Server {
  readonly baseURL: string
  readonly apiKey: Redacted.Redacted
  readonly headers?: { readonly [name: string]: string }
}

/** The client with one of its calls, loaded when it is first needed. */
const lazy = <Body>(server: Server, call: (client: OpenAI) => Post<Body>): Effect.Effect<Post<Body>> => {
  let loading: Promise<Post<Body>> | undefined
  let loaded: Post<Body> | undefined
  const load = Effect.promise(() => (loading ??= loadClient(server).then(call)))
  const remember = Effect.map(load, (post) => (loaded = post))
  return Effect.suspend(() => (loaded === undefined ? remember : Effect.succeed(loaded)))
}

const carriedBy = (exchange: Exchange) => ({
  headers: { "Content-Type": "application/json" },
  fetchOptions: { exchange } as object
})

/** A body in pieces is sent as it is; `asResponse` leaves reading the answer to the exchange. */
export const lazyCompletions = (server: Server): Effect.Effect<Post<Pieces>> =>
  lazy(
    server,
    (client) => (body, exchange) => client.post("/chat/completions", { body, ...carriedBy(exchange) }).asResponse()
  )

/** The same over the Responses API. */
export const lazyResponses = (server: Server): Effect.Effect<Post<Pieces>> =>
  lazy(
    server,
    (client) => (body, exchange) =>
      client.responses.create(body as unknown as ResponseCreateParams, carriedBy(exchange)).asResponse()
  )

export interface EmbeddingBody {
  readonly model: string
  readonly input: Array<string>
  readonly dimensions?: number
}

/** Floats are asked for by name: left to itself the client asks for base64, which not every server knows. */
export const lazyEmbeddings = (server: Server): Effect.Effect<Post<EmbeddingBody>> =>
  lazy(
    server,
    (client) => (body, exchange) =>
      client.embeddings.create({ ...body, encoding_format: "float" }, carriedBy(exchange)).asResponse()
  )

/** Providers by their hosts, as the GenAI conventions of OpenTelemetry name them. */
const known: Readonly<Record<string, string>> = {
  "api.openai.com": "openai",
  "api.mistral.ai": "mistral_ai",
  "api.deepseek.com": "deepseek",
  "api.groq.com": "groq",
  "api.x.ai": "x_ai",
  "api.perplexity.ai": "perplexity",
  "generativelanguage.googleapis.com": "gcp.gemini"
}

/** What traces and measures call a provider: by its name, or by its host where it has none. */
export const nameOf = (host: string): string =>
  known[host] ?? (host.endsWith(".openai.azure.com") ? "azure.ai.openai" : host)

/** Host and port, as errors name the provider; undefined for what is no URL of a server. */
export const providerOf = (baseURL: string): string | undefined => {
  const url = URL.parse(baseURL)
  return url !== null && (url.protocol === "http:" || url.protocol === "https:") ? url.host : undefined
}
