// Http: a server that is reached over Streamable HTTP.
// Owns the limits of what it answers. Leaves which hosts are asked to egress.ts, and the protocol to the client.
// H1  Every request goes through the egress guard; the client's own way of following redirects is not used.
// H2  An answer, or one event of a stream, that is too long ends the connection, and so does a flood of events.

import { StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client"
import { openEgress } from "./egress.ts"
import type { McpHttp, Wire } from "../options.ts"

// Traffic: how much a server may say.
// V1  A message of over MAX_MESSAGE_BYTES is never held whole.
// V2  A server that says over MAX_UNASKED things in WINDOW_MILLIS which answer nothing is cut off.

/** Longest message, in bytes. Pictures travel inside messages, so it is well above any text. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024
const MAX_UNASKED = 2_000
const WINDOW_MILLIS = 10_000

export const TOO_LONG = `it sent a message of over ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB`
const FLOODED = `it sent over ${MAX_UNASKED} messages in ${WINDOW_MILLIS / 1_000} s that answer nothing`

/** Counts what answers nothing; gives the reason to end when it is too much. */
export const floodWatch = (now: () => number) => {
  let began = now()
  let count = 0
  return (): string | undefined => {
    if (now() - began > WINDOW_MILLIS) {
      began = now()
      count = 0
    }
    return ++count > MAX_UNASKED ? FLOODED : undefined
  }
}

/** Splits bytes into lines. Gives undefined for a line that is too long; nothing may be fed to it after that. */
export const lineSplitter = (maxBytes: number) => {
  let parts: Array<Buffer> = []
  let held = 0
  return function* (chunk: Buffer): Generator<string | undefined> {
    let rest = chunk
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      if (held + end > maxBytes) return yield undefined
      const line = Buffer.concat([...parts, rest.subarray(0, end)]).toString("utf8")
      parts = []
      held = 0
      rest = rest.subarray(end + 1)
      yield line
    }
    held += rest.length
    if (held > maxBytes) return yield undefined
    if (rest.length > 0) parts.push(rest)
  }
}

/** How long saying goodbye may take. */
const FAREWELL_MILLIS = 1_000

/** Bytes since the last empty line, and whether one has just gone by. */
const eventCounter = () => {
  let held = 0
  let isLineEmpty = true
  /** The longest run of bytes without an empty line so far, and how many empty lines went by. */
  return (chunk: Uint8Array) => {
    let events = 0
    for (const byte of chunk) {
      if (byte === 13) continue
      if (byte !== 10) {
        isLineEmpty = false
        held++
      } else if (isLineEmpty) {
        held = 0
        events++
      } else isLineEmpty = true
    }
    return { held, events }
  }
}

/** The response, whose body is cut off with `cut` when it is too much. */
const bounded = (response: Response, flood: () => string | undefined, cut: (reason: string) => void): Response => {
  if (response.body === null) return response
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
  const count = eventCounter()
  let total = 0
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      total += chunk.length
      const { events, held } = isStream ? count(chunk) : { held: total, events: 0 }
      let reason = held > MAX_MESSAGE_BYTES ? TOO_LONG : undefined
      for (let event = 0; event < events; event++) reason ??= flood()
      if (reason === undefined) return controller.enqueue(chunk)
      cut(reason)
      controller.error(new Error(reason))
    }
  })
  const { headers, status, statusText } = response
  return new Response(response.body.pipeThrough(watch), { headers: [...headers], status, statusText })
}

export const openHttp = (server: McpHttp): Wire => {
  const url = new URL(server.url)
  const { allowHosts = [], allowPrivate = [], headers = {} } = server
  const egress = openEgress({ allowHosts: [url.hostname, ...allowHosts], allowPrivate })
  const flood = floodWatch(Date.now)
  let why: string | undefined
  const cut = (reason: string): void => {
    why ??= reason
    // Not from within the stream that is being read.
    queueMicrotask(() => void transport.close().catch(() => {}))
  }
  const transport = new StreamableHTTPClientTransport(url, {
    fetch: async (target, init) => bounded(await egress.fetch(target, init), flood, cut),
    requestInit: { headers: { ...headers } },
    redirectPolicy: "follow"
  })
  return {
    // The client's classes are not written for exact optional properties.
    transport: transport as Transport,
    why: () => why,
    end: async () => {
      const farewell = transport.terminateSession().catch(() => {})
      await Promise.race([farewell, new Promise((resolve) => setTimeout(resolve, FAREWELL_MILLIS).unref())])
      await transport.close().catch(() => {})
      await egress.close().catch(() => {})
    }
  }
}
