// Connection: the one connection to a server, and how it comes back.
// Owns who waits for it, the pause after failures, and giving it up. Leaves the handshake to dial.ts, judging the list
// and calling to tools.ts.
// C1  There is one connection at most. Whoever needs it while it opens waits for the same attempt, and no longer than
//     its own signal allows.
// C2  After a failure the next attempt waits; each further one twice as long, up to MAX_PAUSE_MILLIS. What is asked
//     meanwhile fails at once and says so.
// C3  A connection that was lost, or that missed MAX_MISSED answers in a row, is ended; the next call opens another.

import type { Client } from "@modelcontextprotocol/client"
import { dial, type Live, listingOf } from "./dial.ts"
import { McpUnavailable } from "./errors.ts"
import { type Failure, failureOf } from "./failure.ts"
import type { Listing } from "./listing.ts"
import type { McpServer } from "./options.ts"
import { withoutSecrets } from "./secrets.ts"

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
