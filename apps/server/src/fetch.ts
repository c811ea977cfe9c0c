// Fetch: the HTTP contract of a fleet as one function from a web Request to a Response, for any web framework.
// Owns what it is mounted with, and the order in which a request is judged. Leaves tokens and foreign pages to guard.ts, the
// body to body.ts, routes to the groups: the same ones that a server of ours has.
// W1  Without `authorize`, `tokens` or `open` it answers 401 to all: a mounted fleet is closed until someone says otherwise.
// W2  Nothing of a body is read before the request was let in, and nothing beyond the limit of its route.
// W3  A stream ends with its Response or with the signal of its Request, and leaves no listener behind.
// W4  It opens with the first request, and again when its fleet has ended and a function can bring another one.

import { Readable } from "node:stream"
import { SHORT_TEXT } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as OpenApi from "effect/http-api/OpenApi"
import type { Fleet } from "reverie"
import {
  Api,
  Forbidden,
  isApiFailure,
  LimitReached,
  Malformed,
  MethodNotAllowed,
  type Principal,
  Unauthorized,
  Unavailable,
  Unexpected
} from "./api/index.ts"
import { apiFailureOf } from "./failure.ts"
import { admit } from "./http/admitted.ts"
import { failureBody, type Refusal, refusalHeaders, securing, statusOf } from "./http/answer.ts"
import { bodyLimitOf, type JsonBody, judgedBody, readWebBody, roomFor } from "./http/body.ts"
import { endWithSignal } from "./http/connection.ts"
import { find, nowhere, streams, targetOf } from "./http/front.ts"
import { Guard, type Token } from "./http/guard.ts"
import { Patience } from "./http/patience.ts"
import { Traffic } from "./http/traffic.ts"
import { openParts } from "./open-server.ts"
import { twoKeys } from "./views/acceptance.ts"

/** Who asks, as the program that mounts the fleet knows it. */
export interface Authorized {
  /** Its name in the audit log. */
  readonly name: string
  /** The tenant whose assistants it reaches; that of the fleet when not said. */
  readonly tenant?: string
  /** May look and change nothing; false when not said. */
  readonly readOnly?: boolean
}

export interface FetchOptions {
  /** The path that it is mounted under, e.g. "/api/reverie": taken away before a route is looked for. */
  readonly basePath?: string
  /** Decides who asks; undefined is answered with 401. */
  readonly authorize?: (request: Request) => Authorized | undefined | Promise<Authorized | undefined>
  /** Bearer tokens, as on a server. */
  readonly tokens?: ReadonlyArray<Token>
  /** Everyone who reaches it may do everything: something else guards it. */
  readonly open?: boolean
  /** Names under which pages of a browser ask, where a proxy changes the Host header. With them it is asked under these alone. */
  readonly hosts?: ReadonlyArray<string>
  /** Event streams of one principal at once; 256 when not said. */
  readonly maxStreams?: number
  /** Told of what went wrong while answering, without secrets. */
  readonly onError?: (line: string) => void
}

export interface FetchHandler {
  (request: Request): Promise<Response>
  /** Ends its streams and refuses what comes; leaves the fleet open. */
  readonly close: () => Promise<void>
}

const MAX_STREAMS = 256

const closedToAll = new Unauthorized({
  message:
    "this handler lets no one in: give fetchHandler `authorize` or `tokens`, or `open: true` where something else guards it"
})
const notAuthorized = new Unauthorized({ message: "`authorize` lets this request in to nothing" })
const nameHost = "ask from a page of the same origin, or name the host in `hosts` of fetchHandler"
const ending = new Unavailable({ message: "this process is about to end; ask again" })

/** The status that a client which has left would have received. */
const GONE = 499

const secured = (response: Response): Response => {
  for (const [name, value] of securing) if (!response.headers.has(name)) response.headers.set(name, value)
  return response
}

const refused = (refusal: Refusal, extra: Readonly<Record<string, string>> = {}): Response => {
  const headers = { "content-type": "application/json", ...Object.fromEntries(refusalHeaders(refusal)), ...extra }
  return new Response(JSON.stringify(failureBody(refusal)), { status: statusOf(refusal), headers })
}

/** A refusal on its way out of what is judged. */
class Refused {
  readonly response: Response
  constructor(refusal: Refusal, extra?: Readonly<Record<string, string>>) {
    this.response = refused(refusal, extra)
  }
}

const encoder = new TextEncoder()

/** A node stream as the body of a Response: read as it is asked for, ended from either side. */
const webBodyOf = (source: Readable, leaving: AbortSignal): ReadableStream<Uint8Array> => {
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Uint8Array | string>
  endWithSignal(leaving, source)
  // The reader learns of it by reading; before that no one listens, and it would end the process.
  source.on("error", () => {})
  return new ReadableStream<Uint8Array>(
    {
      pull: async (to) => {
        try {
          const { done, value } = await chunks.next()
          if (done === true) to.close()
          else to.enqueue(typeof value === "string" ? encoder.encode(value) : value)
        } catch (error) {
          if (!leaving.aborted) throw error
          to.close()
        }
      },
      cancel: () => {
        source.destroy()
      }
    },
    { highWaterMark: 0 }
  )
}

const webResponseOf = (answer: HttpServerResponse.HttpServerResponse, request: Request): Response => {
  const { body } = answer
  const isHead = request.method === "HEAD"
  if (body._tag !== "Raw" || !(body.body instanceof Readable)) {
    return HttpServerResponse.toWeb(answer, { withoutBody: isHead })
  }
  const headers = new Headers(answer.headers)
  if (body.contentType !== undefined) headers.set("content-type", body.contentType)
  if (isHead) body.body.destroy()
  return new Response(isHead ? null : webBodyOf(body.body, request.signal), { status: answer.status, headers })
}

const bodyOf = async (request: Request, maxBytes: number): Promise<JsonBody> => {
  const bytes = request.body === null ? undefined : await readWebBody(request, maxBytes)
  if (bytes === undefined) return { text: "", value: undefined }
  if (!Buffer.isBuffer(bytes)) throw new Refused(bytes)
  if (bytes.length === 0) return { text: "", value: undefined }
  if (bytes.length > SHORT_TEXT) await roomFor(bytes.length)
  const judged = judgedBody(bytes, request.headers.get("content-type") ?? undefined)
  if ("_tag" in judged) throw new Refused(judged)
  return judged
}

/** The base path without a slash at its end. */
const baseOf = (basePath: string): string => {
  const base = basePath.replace(/\/+$/, "")
  if (base === "" || base.startsWith("/")) return base
  throw new TypeError(`fetchHandler: basePath ${JSON.stringify(basePath)} must begin with a slash`)
}

/** The path and query within the base path. */
const urlWithin = (base: string, url: string): string => {
  const { pathname, search } = new URL(url)
  if (pathname !== base && !pathname.startsWith(`${base}/`)) throw new Refused(nowhere)
  return `${pathname.slice(base.length) || "/"}${search}`
}

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))

type Parts = Awaited<ReturnType<typeof openParts>>

interface Opened {
  readonly fleet: Fleet
  readonly guard: Guard
  readonly parts: Parts
}

class Mounting {
  readonly #source: Fleet | (() => Fleet | Promise<Fleet>)
  readonly #options: FetchOptions
  readonly #base: string
  readonly #patience = new Patience()
  #opened: Promise<Opened> | undefined
  #isClosing = false
  #contract: string | undefined

  constructor(source: Fleet | (() => Fleet | Promise<Fleet>), options: FetchOptions) {
    const { authorize, open = false, tokens = [] } = options
    if ([authorize !== undefined, tokens.length > 0, open].filter(Boolean).length > 1) {
      throw new TypeError("fetchHandler: say one of `authorize`, `tokens` and `open`")
    }
    this.#source = source
    this.#options = options
    this.#base = baseOf(options.basePath ?? "")
  }

  async answer(request: Request): Promise<Response> {
    try {
      return secured(await this.#answer(request))
    } catch (error) {
      if (error instanceof Refused) return secured(error.response)
      if (request.signal.aborted) return new Response(null, { status: GONE })
      if (isApiFailure(error)) return secured(refused(error))
      this.#trouble(stackOf(error))
      return secured(refused(new Unexpected({ message: "it went wrong here; the log of the server says more" })))
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true
    const opened = this.#opened
    this.#opened = undefined
    await opened?.then(({ parts }) => ended(parts)).catch(() => {})
  }

  #trouble(line: string): void {
    this.#options.onError?.(line)
  }

  async #answer(request: Request): Promise<Response> {
    const { authorize, open, tokens = [] } = this.#options
    if (authorize === undefined && tokens.length === 0 && open !== true) throw new Refused(closedToAll)
    const url = urlWithin(this.#base, request.url)
    const target = targetOf(url)
    if (target === undefined) {
      throw new Refused(new Malformed({ message: "the path or the query is not well encoded" }))
    }
    if (this.#isClosing) throw new Refused(ending)
    const opened = await this.#open()
    const principal = await this.#principalOf(request, opened)
    if (target.path === "/openapi.json" && request.method === "GET") return this.#contractText()
    const found = find(request.method, target.path)
    if (found === undefined) throw new Refused(nowhere)
    if ("allow" in found) {
      const message = `${request.method} means nothing here; what does: ${found.allow.join(", ")}`
      throw new Refused(new MethodNotAllowed({ message }), { allow: found.allow.join(", ") })
    }
    // The web's own headers join two of a name.
    if (request.headers.get("idempotency-key")?.includes(", ") === true) throw new Refused(twoKeys)
    const { name } = found.route
    const body = await bodyOf(request, bodyLimitOf(name))
    request.signal.throwIfAborted()
    admit(request, { principal, ...body, leaving: request.signal })
    const asked = HttpServerRequest.fromWeb(request).modify({ url })
    const answering = opened.parts.api.contract.pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, asked),
      Effect.scoped
    )
    // What opens a stream is done to its end, so that the stream can be ended.
    const isStream = streams.has(name) || name === "messages.run"
    return webResponseOf(await Effect.runPromise(answering, isStream ? {} : { signal: request.signal }), request)
  }

  #contractText(): Response {
    this.#contract ??= JSON.stringify(OpenApi.fromApi(Api))
    return new Response(this.#contract, { headers: { "content-type": "application/json" } })
  }

  async #principalOf(request: Request, { fleet, guard }: Opened): Promise<Principal["Service"]> {
    const headers = Object.fromEntries(request.headers)
    headers["host"] ??= new URL(request.url).host
    const judged = guard.judge({ method: request.method, headers, socket: {} }, "fleet")
    if ("_tag" in judged) {
      if (judged._tag === "Unauthorized") await this.#wait()
      throw new Refused(
        judged._tag === "Forbidden" ? new Forbidden({ message: judged.message, hint: nameHost }) : judged
      )
    }
    const { authorize } = this.#options
    if (authorize === undefined) return judged
    const who = await authorize(request)
    if (who === undefined) throw new Refused(notAuthorized)
    return { tenant: who.tenant ?? fleet.tenant, name: who.name, readOnly: who.readOnly ?? false }
  }

  /** A Request does not say where it comes from: all who guess wait together. */
  async #wait(): Promise<void> {
    const millis = this.#patience.after("", Date.now())
    if (millis === undefined) {
      throw new Refused(new LimitReached({ message: "too many wrong tokens", retryAfterSeconds: 60 }))
    }
    await new Promise<void>((resolve) => this.#patience.wait(millis, resolve))
  }

  #open(): Promise<Opened> {
    if (this.#opened !== undefined) return this.#opened
    const opened = this.#begin().catch((error: unknown) => {
      this.#forget(opened)
      throw apiFailureOf(error, (line) => this.#trouble(line))
    })
    this.#opened = opened
    return opened
  }

  #forget(opened: Promise<Opened>): void {
    if (this.#opened === opened) this.#opened = undefined
  }

  async #begin(): Promise<Opened> {
    const fleet = typeof this.#source === "function" ? await this.#source() : this.#source
    const { hosts = [], maxStreams = MAX_STREAMS, tokens = [] } = this.#options
    const onTrouble = (line: string) => this.#trouble(line)
    const parts = await openParts({ fleet, role: "all", maxStreams, onTrouble }, new Traffic())
    const guard = new Guard({ tokens, tenant: fleet.tenant, open: true, hosts })
    const opened = this.#opened
    const end = async (): Promise<void> => {
      await fleet.ended
      if (opened !== undefined) this.#forget(opened)
      await ended(parts)
    }
    void end()
    return { fleet, guard, parts }
  }
}

const ended = async (parts: Parts): Promise<void> => {
  parts.silence()
  await parts.close()
}

/**
 * The HTTP contract of a fleet (messages, event streams, approvals, AG-UI and the rest) as a fetch handler. It answers 401 to
 * everyone until one of `authorize`, `tokens` and `open` is said. A function instead of a fleet is called with the first
 * request, and again after its fleet has ended.
 *
 * A failure is answered as the contract says it (`_tag`, `message`): 400 what does not fit, 401 and 403 who may not, 404, 405,
 * 409, 413 too large a body, 429 too much at once, 503 a store or a fleet that does not answer. Throws a TypeError for options
 * that contradict each other.
 *
 * @example
 * ```ts
 * // Next.js: app/api/reverie/[...path]/route.ts
 * const handler = fetchHandler(() => Fleet.shared({ data: ".reverie", fleet: harbor }), {
 *   basePath: "/api/reverie",
 *   authorize: async (request) => ((await userOf(request)) === undefined ? undefined : { name: "web" })
 * })
 * export { handler as GET, handler as POST, handler as PUT, handler as PATCH, handler as DELETE }
 * // Hono: app.all("/api/reverie/*", (c) => handler(c.req.raw)); Bun and Deno: serve({ fetch: handler })
 * // Express: through any adapter that makes a Request with its signal, before a parser has read the body
 * ```
 */
export const fetchHandler = (
  fleet: Fleet | (() => Fleet | Promise<Fleet>),
  options: FetchOptions = {}
): FetchHandler => {
  const mounting = new Mounting(fleet, options)
  return Object.assign((request: Request) => mounting.answer(request), { close: () => mounting.close() })
}

export { type Token, tokensFrom } from "./http/guard.ts"
