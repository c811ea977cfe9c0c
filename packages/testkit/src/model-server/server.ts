// ModelServer: an OpenAI-compatible server on the loopback, scripted or hostile.
// Owns the listening, the record of requests and the change of behaviour. Leaves what is said to scripts, vectors
// and modes.
// M1  It listens on 127.0.0.1 only, and after `close` nothing of it is left: no socket, no timer.
// M2  It thinks for no time unless the script says so: an answer is written in the turn in which the request was read.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { hostileModes, type HostileModeName } from "./hostile-modes.ts"
import type { HostileMode, Serve } from "./hostile-mode.ts"
import { said, type Script } from "./script.ts"
import { inResponses, responsesMessages, responsesTool } from "./responses.ts"
import { serveVectors, type VectorModeName, vectorModes, type VectorOf } from "./vectors.ts"
import { completion, isObject, type ModelRequest, stream, type WireMessage } from "./wire.ts"

export type Behaviour =
  /** The script answers completions; texts are embedded by their words, or as `vectorOf` says. */
  | { readonly script: Script; readonly vectorOf?: VectorOf }
  /** Whatever was asked for. */
  | { readonly mode: HostileModeName }
  | { readonly vectors: VectorModeName }
  /** Anything at all, for what no script and no mode says. */
  | { readonly serve: Serve }
  /** One after the other, request by request; the last one stays. */
  | { readonly sequence: ReadonlyArray<Behaviour> }

export type ModelServerOptions = Behaviour & {
  /** Port to listen on; a free one when absent. */
  readonly port?: number
  /** False keeps no requests, for servers that answer millions. */
  readonly record?: boolean
}

export interface ModelServer {
  /** What a client takes as baseURL. */
  readonly url: string
  readonly requests: ReadonlyArray<ModelRequest>
  readonly become: (behaviour: Behaviour) => void
  /** Resolves with the next request to arrive. */
  readonly nextRequest: () => Promise<ModelRequest>
  /** Resolves when a reader next leaves before its answer was finished. */
  readonly nextDeparture: () => Promise<void>
  /** Drops the connections that carry no request, as servers do to those they have kept long enough. */
  readonly dropIdle: () => void
  readonly close: () => Promise<void>
}

const toolName = (tool: unknown): string => {
  const asked = isObject(tool) ? tool["function"] : undefined
  return isObject(asked) ? String(asked["name"]) : ""
}

const ofResponses = (path: string | undefined): boolean => path?.endsWith("/responses") === true

const readRequest = (text: string, incoming: IncomingMessage): ModelRequest => {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    body = undefined
  }
  const fields = isObject(body) ? body : {}
  const { input } = fields
  const isResponses = ofResponses(incoming.url)
  return {
    path: incoming.url ?? "",
    input: isResponses ? [] : (Array.isArray(input) ? input : input === undefined ? [] : [input]).map(String),
    model: String(fields["model"]),
    stream: fields["stream"] === true,
    messages: isResponses
      ? responsesMessages(input)
      : Array.isArray(fields["messages"])
        ? (fields["messages"] as ReadonlyArray<WireMessage>)
        : [],
    tools: Array.isArray(fields["tools"]) ? fields["tools"].map(isResponses ? responsesTool : toolName) : [],
    headers: incoming.headers,
    body
  }
}

const play = (script: Script, request: ModelRequest, response: ServerResponse): void => {
  const reply = script(request)
  if (reply.refuse !== undefined) {
    response.writeHead(reply.status ?? 400, { "content-type": "application/json" })
    response.end(JSON.stringify({ error: { message: reply.refuse, type: "invalid_request_error", code: null } }))
    return
  }
  const text = request.stream ? stream(request.model, said(reply)) : completion(request.model, said(reply))
  const answer = (): void => {
    const type = { "content-type": request.stream ? "text/event-stream; charset=utf-8" : "application/json" }
    // Of a translation the length is another one.
    const length = ofResponses(request.path) ? {} : { "content-length": Buffer.byteLength(text) }
    response.writeHead(200, { ...type, ...length })
    response.end(text)
  }
  if (reply.afterMillis === undefined) return answer()
  const timer = setTimeout(answer, reply.afterMillis)
  response.on("close", () => clearTimeout(timer))
}

const misbehave = (mode: HostileMode, request: ModelRequest, response: ServerResponse): void => {
  const serve = (request.stream ? mode.stream : mode.plain) ?? mode.plain ?? mode.stream
  serve?.(request, response)
}

const waiters = <A>() => {
  const waiting: Array<(value: A) => void> = []
  return {
    next: () => new Promise<A>((resolve) => waiting.push(resolve)),
    tell: (value: A) => {
      for (const resolve of waiting.splice(0)) resolve(value)
    }
  }
}

export const startModelServer = async (options: ModelServerOptions): Promise<ModelServer> => {
  const requests: Array<ModelRequest> = []
  const arrivals = waiters<ModelRequest>()
  const departures = waiters<void>()
  let behaviour: Behaviour = options

  const behave = (now: Behaviour, request: ModelRequest, response: ServerResponse): void => {
    if ("script" in now) {
      if (!request.path.endsWith("/embeddings")) return play(now.script, request, response)
      return serveVectors(now.vectorOf)(request, response)
    }
    if ("vectors" in now) return vectorModes[now.vectors].serve(request, response)
    if ("serve" in now) return now.serve(request, response)
    if ("mode" in now) return misbehave(hostileModes[now.mode], request, response)
    const [first, ...rest] = now.sequence
    if (first === undefined) throw new Error("a sequence of behaviours must not be empty")
    if (rest.length > 0) behaviour = { sequence: rest }
    behave(first, request, response)
  }

  const server = createServer((incoming, response) => {
    const chunks: Array<Buffer> = []
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
    incoming.on("end", () => {
      const request = readRequest(Buffer.concat(chunks).toString("utf8"), incoming)
      if (options.record !== false) requests.push(request)
      arrivals.tell(request)
      behave(behaviour, request, ofResponses(request.path) ? inResponses(response) : response)
    })
    response.on("close", () => {
      if (!response.writableFinished) departures.tell()
    })
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(options.port ?? 0, "127.0.0.1", resolve)
  })
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    become: (next) => {
      behaviour = next
    },
    nextRequest: arrivals.next,
    nextDeparture: departures.next,
    dropIdle: () => server.closeIdleConnections(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
