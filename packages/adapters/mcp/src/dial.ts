// Dial: from a description to a server that answers and has told its tools.
// Owns the handshake in both eras of the protocol and reading the list. Leaves when to dial to connection.ts.
// D1  The newest protocol is tried first (`server/discover`); who does not know it is spoken to as before
//     (`initialize`), in a new process if the question ended the first one.
// D2  The list is read with every connection, and again after the server said that it changed.
// D3  The server is offered nothing of this side: no sampling, no roots, no questions to a person.
// D4  What did not come to be leaves nothing behind.

import { defined } from "@reverie/protocol"
import type { Client } from "@modelcontextprotocol/client"
import { WireEnded } from "./failure.ts"
import { type Listing, MAX_PAGES, readListing } from "./listing.ts"
import type { McpServer } from "./options.ts"
import { openWire, type Wire } from "./wire.ts"

/** How long a local server may be silent to a question that older ones do not know. */
const PROBE_MILLIS = 5_000

export interface Live {
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
  const { Client: McpClient } = await import("@modelcontextprotocol/client")
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
export const listingOf = (live: Live, { maxTools, startMillis }: McpServer): Promise<Listing> => {
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

export const dial = async (server: McpServer): Promise<Live> => {
  try {
    return await attempt(server, false)
  } catch (error) {
    // A process that ended at the first question may be one that knows only the older protocol.
    if ("url" in server.transport || !wasEnded(error)) throw error
    return attempt(server, true)
  }
}
