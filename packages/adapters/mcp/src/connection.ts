// Connection: the one connection to a server, and how it comes back.
// Owns the handshake, who waits for it, the pause after failures, and giving it up. Leaves judging the list and calling to
// tools.ts.
// C1  There is one connection at most. Anyone who needs it while it opens waits for the same attempt, and no longer than
//     its own signal allows.
// C2  After a failure the next attempt waits; each further one twice as long, up to MAX_PAUSE_MILLIS. What is asked
//     meanwhile fails at once and says so.
// C3  A connection that was lost, or that missed MAX_MISSED answers in a row, is ended; the next call opens another.

import type { Client } from "@modelcontextprotocol/client"
import { defined, loadWith } from "@reverie/protocol"
import { EgressRefused, McpUnavailable } from "./errors.ts"
import { type Listing, MAX_PAGES, oneLine, readListing } from "./listing.ts"
import type { McpServer, Wire } from "./options.ts"
import { withoutSecrets } from "./secrets.ts"

/** The way to one server, over HTTP or to a process. Loads neither before it is used. */
const openWire = async ({ transport }: McpServer): Promise<Wire> => {
  if ("url" in transport) return (await import("./transport/http.ts")).openHttp(transport)
  const { StdioWire } = await import("./transport/stdio.ts")
  const wire = new StdioWire(transport)
  return { transport: wire, why: () => wire.why, end: () => wire.close().catch(() => {}) }
}

// Failure: what went wrong between here and a server, in words.
// K1  Words of the server are plain, on one line and short; nothing of a stack or of a header is reported.

interface Failure {
  /** answer: the server refused. silence: it did not answer in time. lost: the connection is gone. stopped: by us. */
  readonly kind: "answer" | "silence" | "lost" | "stopped"
  readonly words: string
}

/** A connection that its server ended, or that was ended because of what came over it. The message says why. */
class WireEnded extends Error {}

const MAX_CHARS = 500

const fieldsOf = (thrown: unknown): { readonly [key: string]: unknown } =>
  typeof thrown === "object" && thrown !== null ? { ...thrown, ...named(thrown) } : {}

const named = (thrown: object) => ({
  name: "name" in thrown ? thrown.name : undefined,
  message: "message" in thrown ? thrown.message : undefined
})

/** The innermost message: the outer ones of a failed fetch say nothing. */
const messageIn = (thrown: unknown): string => {
  let words = oneLine(String(fieldsOf(thrown)["message"] ?? thrown), MAX_CHARS)
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth++) {
    if (error.message !== "") words = oneLine(error.message, MAX_CHARS)
  }
  return words
}

const within = (millis: unknown): string => (typeof millis === "number" ? ` within ${millis} ms` : " in time")

const lost = (words: string): Failure => ({ kind: "lost", words })
const answer = (words: string): Failure => ({ kind: "answer", words })

const failureOf = (thrown: unknown, why: string | undefined): Failure => {
  if (thrown instanceof McpUnavailable || thrown instanceof WireEnded) return lost(thrown.message)
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth++) {
    if (error instanceof EgressRefused) return lost(error.message)
  }
  if (thrown instanceof RangeError) return answer("it sent something that is nested too deeply")
  const { code, data, name } = fieldsOf(thrown)
  if (name === "AbortError") return { kind: "stopped", words: "the call was stopped" }
  switch (code) {
    case "REQUEST_TIMEOUT":
      return { kind: "silence", words: `it did not answer${within(fieldsOf(data)["timeout"])}` }
    case "CONNECTION_CLOSED":
    case "NOT_CONNECTED":
      return lost(why ?? "the connection was closed")
    case "UNSUPPORTED_RESULT_TYPE":
      return answer(
        "it asks for something in return (input from a person, a model or a file list), and gets nothing here"
      )
    case "INVALID_RESULT":
      return answer(`its answer can not be read: ${messageIn(thrown)}`)
    default:
  }
  if (typeof code === "number") return answer(`it refused: ${messageIn(thrown)} (code ${code})`)
  const status = fieldsOf(data)["status"]
  if (typeof status === "number") return lost(`it answered with HTTP status ${status}`)
  return lost(why ?? messageIn(thrown))
}

// Dial: from a description to a server that answers and has told its tools.
// D1  The newest protocol is tried first (`server/discover`); who does not know it is spoken to as before
//     (`initialize`), in a new process if the question ended the first one.
// D2  The list is read with every connection, and again after the server said that it changed.
// D3  The server is offered nothing of this side: no sampling, no roots, no questions to a person.
// D4  What did not come to be leaves nothing behind.

/** How long a local server may be silent to a question that older ones do not know. */
const PROBE_MILLIS = 5_000

interface Live {
  readonly client: Client
  readonly wire: Wire
  /** Of the last reading. */
  listing: Promise<Listing>
  isStale: boolean
  isLost: boolean
}

const deadline = <A>(promise: Promise<A>, millis: number): Promise<A> => {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`it did not answer within ${millis} ms`)), millis)
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

const unconnected = async (server: McpServer): Promise<Live> => {
  const { Client: McpClient } = await loadWith(
    "an MCP server",
    ["@modelcontextprotocol/client"],
    () => import("@modelcontextprotocol/client")
  )
  const probe = { timeoutMs: Math.min(PROBE_MILLIS, Math.ceil(server.startMillis / 2)) }
  const client = new McpClient(
    { name: "reverie", version: "0.1.0" },
    {
      capabilities: {},
      versionNegotiation: { mode: "auto", ...defined({ probe: "url" in server.transport ? undefined : probe }) },
      inputRequired: { autoFulfill: false },
      listMaxPages: MAX_PAGES,
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => (live.isStale = true) } }
    }
  )
  const wire = await openWire(server)
  const live: Live = { client, wire, listing: Promise.resolve(new Map()), isStale: true, isLost: false }
  // What matters of its errors, the request that they spoil rejects with.
  Object.assign(client, { onclose: () => (live.isLost = true), onerror: () => {} })
  return live
}

/** The tools as the server tells them now. */
const listingOf = (live: Live, { maxTools, startMillis }: McpServer): Promise<Listing> => {
  if (live.isStale) {
    live.isStale = false
    live.listing = deadline(readListing(live.client, { maxTools, millis: startMillis }), startMillis)
    live.listing.catch(() => (live.isStale = true))
  }
  return live.listing
}

const attempt = async (server: McpServer, isOlder: boolean): Promise<Live> => {
  const live = await unconnected(server)
  const prior = isOlder ? { prior: { kind: "legacy" as const } } : {}
  try {
    await deadline(
      live.client.connect(live.wire.transport, { timeout: server.startMillis, ...prior }),
      server.startMillis
    )
    await listingOf(live, server)
    return live
  } catch (error) {
    const why = live.wire.why()
    await live.wire.end()
    throw why === undefined ? error : new WireEnded(why, { cause: error })
  }
}

/** The process went away by itself while it was asked. */
const wasEnded = (error: unknown): boolean =>
  error instanceof WireEnded && error.message.startsWith("its process ended")

const dial = async (server: McpServer): Promise<Live> => {
  try {
    return await attempt(server, false)
  } catch (error) {
    // A process that ended at the first question may be one that knows only the older protocol.
    if ("url" in server.transport || !wasEnded(error)) throw error
    return attempt(server, true)
  }
}

const FIRST_PAUSE_MILLIS = 500
const MAX_PAUSE_MILLIS = 30_000
const MAX_MISSED = 3

/** The open connection, and the list as it is now. */
export interface Link {
  readonly client: Client
  readonly listing: Listing
}

/** Rejects when the signal says so, whatever the promise does. */
const unlessStopped = async <A>(promise: Promise<A>, signal: AbortSignal): Promise<A> => {
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const stop = () => reject(new Error("the call was stopped while it waited for the server"))
  if (signal.aborted) stop()
  signal.addEventListener("abort", stop)
  try {
    return await Promise.race([promise, stopped])
  } finally {
    signal.removeEventListener("abort", stop)
  }
}

export class Connection {
  #server: McpServer
  #live: Live | undefined
  #opening: Promise<Live> | undefined
  #failures = 0
  #retryAt = 0
  #missed = 0
  #isClosed = false

  constructor(server: McpServer) {
    this.#server = server
  }

  /** Rejects with McpUnavailable, or when it is stopped. */
  ready(signal: AbortSignal): Promise<Link> {
    return unlessStopped(this.#ready(), signal)
  }

  /** What an error of the client means. What it says about the connection is taken to heart. */
  judge(thrown: unknown, { client }: Link): Failure {
    const live = this.#live?.client === client ? this.#live : undefined
    const failure = failureOf(thrown, live?.wire.why())
    if (failure.kind === "answer") this.answered()
    const isGivenUp = failure.kind === "silence" && ++this.#missed >= MAX_MISSED
    if (live !== undefined && (failure.kind === "lost" || isGivenUp)) this.#drop(live)
    return failure
  }

  answered(): void {
    this.#missed = 0
  }

  /** Never rejects. */
  readonly close = async (): Promise<void> => {
    this.#isClosed = true
    await this.#opening?.catch(() => {})
    await this.#live?.wire.end()
    this.#live = undefined
  }

  async #ready(): Promise<Link> {
    if (this.#isClosed) throw this.#unavailable("it was closed")
    if (this.#live?.isLost === true) this.#drop(this.#live)
    this.#opening ??= this.#live === undefined ? this.#open().finally(() => (this.#opening = undefined)) : undefined
    const live = this.#live ?? (await this.#opening)
    if (live === undefined) throw this.#unavailable("it was closed")
    try {
      return { client: live.client, listing: await listingOf(live, this.#server) }
    } catch (error) {
      const { words } = failureOf(error, live.wire.why())
      this.#drop(live)
      throw this.#unavailable(`its list of tools can not be read: ${words}`)
    }
  }

  async #open(): Promise<Live> {
    const wait = this.#retryAt - Date.now()
    if (wait > 0) throw this.#unavailable(`it failed before and is asked again in ${Math.ceil(wait / 1_000)} s`)
    try {
      const live = await dial(this.#server)
      this.#failures = 0
      this.#missed = 0
      // Even when it was closed meanwhile: `close` waits for this and ends it.
      this.#live = live
      return live
    } catch (error) {
      this.#retryAt = Date.now() + Math.min(MAX_PAUSE_MILLIS, FIRST_PAUSE_MILLIS * 2 ** this.#failures++)
      throw this.#unavailable(`it can not be used: ${failureOf(error, undefined).words}`)
    }
  }

  #drop(live: Live): void {
    live.isLost = true
    if (this.#live === live) this.#live = undefined
    void live.wire.end()
  }

  #unavailable(message: string): McpUnavailable {
    const { name } = this.#server
    const words = withoutSecrets(this.#server, message)
    return new McpUnavailable({ server: name, message: `MCP server ${name}: ${words}` })
  }
}
