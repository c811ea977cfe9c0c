// Exchange: one request and its response on node:http, with every limit of a call.
// Owns sockets, timers and the end of both. Leaves what the bytes mean to the code that reads
// them, and the request to the client.
// I1  It ends exactly once; afterwards nothing of it is left: no timer, no unread body.
// I2  `abort` closes the connection at once, whatever state the exchange is in.
// I3  A silence is a failure only if the event loop was free to hear: a busy process does not blame the server.
//
// The client hands its request over through `fetch`; node:http carries it with less than half the CPU of the built-in
// fetch, can be cut off at any byte, follows no redirect with the key, and asks for no compression.

import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http"
import { Agent as HttpsAgent, request as httpsRequest } from "node:https"
import { urlToHttpOptions } from "node:url"
import type { Ending } from "./answer.ts"
import type { Pieces } from "./wire.ts"

export interface Agents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
}

export const openAgents = (): Agents => ({
  http: new HttpAgent({ keepAlive: true, scheduling: "lifo" }),
  https: new HttpsAgent({ keepAlive: true, scheduling: "lifo" })
})

export const closeAgents = (agents: Agents): void => {
  agents.http.destroy()
  agents.https.destroy()
}

/** What the bytes of a successful response are given to, as they arrive. */
export interface BodyReader {
  /** True once it holds all that it needs; what may still come is not waited for. */
  readonly finished: boolean
  readonly begin: (contentType: string) => void
  readonly take: (chunk: Buffer) => "open" | "done" | "spoilt"
}

/** How an exchange ended: with a body, with a refusal that the client words, or without an answer. */
export type Outcome =
  | { readonly kind: "body"; readonly ending: Ending }
  | { readonly kind: "network"; readonly message: string }
  | { readonly kind: "timeout" }
  | { readonly kind: "broken"; readonly defect: unknown }

export interface ExchangeLimits {
  readonly timeoutMs: number
  readonly idleMs: number
  readonly maxReplyBytes: number
}

const MAX_ERROR_BYTES = 65_536

/** How long a whole answer may take to close its connection. */
const FOLLOW_UP_MILLIS = 1_000

/** A request of the client whose `fetchOptions` name the exchange that carries it. */
interface Carried {
  readonly method?: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Pieces
  readonly exchange: Exchange
}

/** The `fetch` given to the client, which calls it with a text and with what `client.ts` passes on. */
export const carry = (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
  const carried = init as unknown as Carried
  return carried.exchange.open(url as string, carried)
}

interface Place {
  readonly options: ReturnType<typeof urlToHttpOptions>
  /** With the port, where it is not the usual one. */
  readonly host: string
}

/** A server is asked at a handful of addresses, and reading one costs as much as a call's headers. */
const MOST_PLACES = 64
const places = new Map<string, Place>()

const placeOf = (url: string): Place => {
  const known = places.get(url)
  if (known !== undefined) return known
  const read = new URL(url)
  const place = { options: urlToHttpOptions(read), host: read.host }
  if (places.size >= MOST_PLACES) places.clear()
  places.set(url, place)
  return place
}

/** The headers of a call as they go over the wire, name after name: Node.js checks and copies each that is set by its name. */
const linesByHeaders = new WeakMap<Carried["headers"], ReadonlyArray<string>>()

/** Of everything but the length. Calls with one address share a record of headers, so its lines are made once. */
const linesOf = (headers: Carried["headers"], { host }: Place): ReadonlyArray<string> => {
  const known = linesByHeaders.get(headers)
  if (known !== undefined) return known
  const lines = [...("host" in headers ? [] : ["host", host]), ...Object.entries(headers).flat()]
  linesByHeaders.set(headers, lines)
  return lines
}

/** The client asks a response for no more than this; a real Response would copy the body through a web stream. */
class SeenHeaders {
  readonly #response: IncomingMessage

  constructor(response: IncomingMessage) {
    this.#response = response
  }

  get(name: string): string | null {
    const value = this.#response.headers[name.toLowerCase()]
    return (Array.isArray(value) ? value[0] : value) ?? null
  }

  entries(): ReadonlyArray<[string, unknown]> {
    return Object.entries(this.#response.headers)
  }
}

const piecesOf = (body: string | Pieces = ""): Pieces => (typeof body === "string" ? [body] : body)

const lengthOf = (pieces: Pieces): number =>
  pieces.reduce((sum, piece) => sum + (typeof piece === "string" ? Buffer.byteLength(piece) : piece.length), 0)

type Phase = "waiting" | "refusal" | "reading" | "over"

export class Exchange {
  readonly #agents: Agents
  readonly #limits: ExchangeLimits
  readonly #reader: BodyReader
  readonly #ended: (outcome: Outcome) => void
  #phase: Phase = "waiting"
  #deadline: NodeJS.Timeout
  #silence: NodeJS.Timeout | undefined
  #request: ClientRequest | undefined
  #response: IncomingMessage | undefined
  #bytes = 0
  #heard = 0
  /** Ends the wait of the client: for its response, or for the text of a refusal. */
  #release: (() => void) | undefined

  constructor(agents: Agents, limits: ExchangeLimits, reader: BodyReader, ended: (outcome: Outcome) => void) {
    this.#agents = agents
    this.#limits = limits
    this.#reader = reader
    this.#ended = ended
    this.#deadline = setTimeout(() => this.#late(), limits.timeoutMs)
  }

  /** Header of the response, once there is one. */
  readonly header = (name: string): string | undefined => {
    const value = this.#response?.headers[name]
    return Array.isArray(value) ? value[0] : value
  }

  open(url: string, carried: Carried): Promise<Response> {
    return new Promise((resolve, reject) => {
      if (this.#phase === "over") {
        reject(new Error("aborted"))
        return
      }
      this.#release = () => reject(new Error("aborted"))
      const pieces = piecesOf(carried.body)
      const place = placeOf(url)
      const headers = [...linesOf(carried.headers, place), "content-length", String(lengthOf(pieces))]
      const secure = url.startsWith("https:")
      const options = {
        ...place.options,
        method: carried.method ?? "POST",
        headers,
        agent: secure ? this.#agents.https : this.#agents.http
      }
      const send = (isFirst: boolean): void => {
        const request = (secure ? httpsRequest : httpRequest)(options)
        this.#request = request
        request.once("response", (response) => resolve(this.#answered(response)))
        request.on("error", (cause: NodeJS.ErrnoException) => {
          if (this.#phase !== "waiting") return
          // The server may have closed a kept connection in the very moment of its use: that is no failure of anybody.
          if (isFirst && request.reusedSocket && (cause.code === "ECONNRESET" || cause.code === "EPIPE")) send(false)
          else this.#over({ kind: "network", message: cause.code ?? cause.message })
        })
        // They leave together, once there is a connection.
        for (const piece of pieces.slice(0, -1)) request.write(piece)
        request.end(pieces.at(-1))
      }
      send(true)
    })
  }

  /** Reads the body of a response that the client took for a success. */
  read(): void {
    const response = this.#response
    if (this.#phase !== "reading" || response === undefined) return
    this.#reader.begin(this.header("content-type") ?? "")
    response.on("data", (chunk: Buffer) => this.#take(chunk))
    response.once("end", () => this.#over({ kind: "body", ending: "end" }))
  }

  abort(): void {
    this.#over(undefined)
  }

  #answered(response: IncomingMessage): Response {
    const status = response.statusCode ?? 0
    const ok = status >= 200 && status < 300
    this.#response = response
    this.#release = undefined
    this.#phase = ok ? "reading" : "refusal"
    response.on("error", () => this.#broken())
    response.once("close", () => this.#broken())
    this.#listen()
    const seen = {
      ok,
      status,
      // The client would only take it apart for a log that no one reads.
      url: "",
      headers: new SeenHeaders(response),
      body: response,
      text: () => this.#refusal(response)
    }
    return seen as unknown as Response
  }

  /** The text of a refusal, or as much of it as came in time. */
  #refusal(response: IncomingMessage): Promise<string> {
    return new Promise((resolve) => {
      const chunks: Array<Buffer> = []
      const done = (): void => {
        this.#release = undefined
        resolve(Buffer.concat(chunks).toString("utf8"))
      }
      this.#release = done
      response.on("data", (chunk: Buffer) => {
        this.#heard++
        this.#bytes += chunk.length
        chunks.push(chunk)
        if (this.#bytes > MAX_ERROR_BYTES) done()
      })
      response.once("end", done)
    })
  }

  #take(chunk: Buffer): void {
    this.#heard++
    this.#bytes += chunk.length
    if (this.#phase !== "reading") {
      if (this.#bytes > this.#limits.maxReplyBytes) this.#response?.destroy()
      return
    }
    this.#silence?.refresh()
    if (this.#bytes > this.#limits.maxReplyBytes) {
      this.#over({ kind: "body", ending: "too-large" })
      return
    }
    try {
      const state = this.#reader.take(chunk)
      if (state !== "open") this.#over({ kind: "body", ending: state })
      else if (this.#reader.finished) this.#listen(Math.min(this.#limits.idleMs, FOLLOW_UP_MILLIS))
    } catch (defect) {
      this.#over({ kind: "broken", defect })
    }
  }

  #listen(idleMs = this.#limits.idleMs): void {
    clearTimeout(this.#silence)
    this.#silence = setTimeout(() => {
      const heard = this.#heard
      // Data that came while the loop was busy is read before an immediate runs.
      setImmediate(() => {
        if (this.#phase === "over") return
        if (this.#heard !== heard) this.#silence?.refresh()
        else if (this.#phase === "refusal") this.#release?.()
        else this.#over({ kind: "body", ending: "idle" })
      })
    }, idleMs)
  }

  #late(): void {
    if (this.#phase === "waiting") this.#over({ kind: "timeout" })
    else if (this.#phase === "refusal") this.#release?.()
    else this.#over({ kind: "body", ending: "timeout" })
  }

  #broken(): void {
    if (this.#phase === "refusal") this.#release?.()
    else if (this.#phase === "reading") this.#over({ kind: "body", ending: "cut" })
  }

  #over(outcome: Outcome | undefined): void {
    if (this.#phase === "over") return
    this.#phase = "over"
    clearTimeout(this.#deadline)
    clearTimeout(this.#silence)
    if (outcome?.kind === "body" && outcome.ending === "done") this.#drain()
    else if (!(outcome?.kind === "body" && outcome.ending === "end")) this.#request?.destroy()
    this.#release?.()
    if (outcome !== undefined) this.#ended(outcome)
  }

  /** Lets the rest of a whole answer pass, so that its connection can be used again. */
  #drain(): void {
    const response = this.#response
    if (response === undefined || response.complete) return
    const timer = setTimeout(() => response.destroy(), FOLLOW_UP_MILLIS).unref()
    response.once("close", () => clearTimeout(timer))
  }
}
