// QdrantServer: Qdrant on the loopback, as far as recall needs it.
// Owns the listening, the record of requests, and when a request fails on purpose. Leaves answers to `routes.ts`.
// S1  It listens on 127.0.0.1 only, and after `close` nothing of it is left: no socket, no timer.
// S2  With a contract, a request that breaks it is refused and told in `faults`, and so is an answer that breaks it.
// S3  Like the server, it takes no text with half a surrogate pair.
// S4  A request that fails on purpose has changed nothing, unless the mode says that only its answer is lost.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { Contract } from "./contract.ts"
import { type QdrantMode, qdrantModes } from "./modes.ts"
import { answerTo, PointStore } from "./routes.ts"
import { type Fields, isRefusal, type QdrantRequest, refusal, type Refusal } from "./wire.ts"

/**
 * What becomes of a request: undefined serves it; `after` carries it out and then answers like that; `before` is waited
 * for, and then it is served: so another request comes in between.
 */
export type Fate = QdrantMode | { readonly after: QdrantMode } | { readonly before: () => Promise<unknown> } | undefined

export interface QdrantServerOptions {
  readonly contract?: Contract | undefined
  /** The key that a request must carry. */
  readonly apiKey?: string
}

export interface QdrantServer {
  readonly url: string
  readonly requests: ReadonlyArray<QdrantRequest>
  /** What broke the contract, request and fault. */
  readonly faults: ReadonlyArray<string>
  /** From now on this decides what becomes of each request. */
  readonly decide: (fate: (request: QdrantRequest) => Fate) => void
  /** From now on collections report this of themselves. */
  readonly tell: (condition: Fields) => void
  readonly close: () => Promise<void>
}

/** Whether every text in a value is one, with no half of a pair in it. */
const isWhole = (value: unknown): boolean => {
  if (typeof value === "string") return value.isWellFormed()
  if (typeof value !== "object" || value === null) return true
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && isWhole(inner))
}

const read = (text: string, { headers, method = "", url = "" }: IncomingMessage): QdrantRequest => {
  const { pathname, searchParams } = new URL(url, "http://127.0.0.1")
  let body: unknown = text === "" ? undefined : text
  try {
    if (text !== "") body = JSON.parse(text)
  } catch {
    // It stays the text that it is.
  }
  return { method, path: pathname, query: new Map(searchParams), headers, body }
}

const respond = (response: ServerResponse, result: unknown): void => {
  const { error, status }: Refusal = isRefusal(result) ? result : { status: 200, error: "" }
  const body = status === 200 ? { result, status: "ok", time: 0 } : { status: { error }, time: 0 }
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
}

export const startQdrantServer = async ({ apiKey, contract }: QdrantServerOptions = {}): Promise<QdrantServer> => {
  const requests: Array<QdrantRequest> = []
  const faults: Array<string> = []
  const points = new PointStore()
  let fateOf: (request: QdrantRequest) => Fate = () => undefined

  const judged = (request: QdrantRequest): unknown => {
    const broken = contract?.requestFaults(request) ?? []
    const where = `${request.method} ${request.path}: `
    faults.push(...broken.map((fault) => where + fault))
    if (broken.length > 0) return refusal(400, `Format error in JSON body: ${broken.join("; ")}`)
    if (!isWhole(request.body)) return refusal(400, "Format error in JSON body: lone surrogate in hex escape")
    const result = answerTo(points, request)
    if (isRefusal(result)) return result
    const strange = contract?.answerFaults(request, { result, status: "ok", time: 0 }) ?? []
    faults.push(...strange.map((fault) => where + fault))
    return result
  }

  const serve = async (request: QdrantRequest, response: ServerResponse): Promise<void> => {
    requests.push(request)
    const fate = fateOf(request)
    if (typeof fate === "string") return qdrantModes[fate](response)
    if (fate !== undefined && "before" in fate) await fate.before()
    if (apiKey !== undefined && request.headers["api-key"] !== apiKey) {
      return respond(response, refusal(401, "Must provide an API key or an Authorization bearer token"))
    }
    const result = judged(request)
    if (fate === undefined || "before" in fate) respond(response, result)
    else qdrantModes[fate.after](response)
  }

  const server = createServer((incoming, response) => {
    const chunks: Array<Buffer> = []
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
    incoming.on("end", () => {
      // What breaks before a request is served is reported by a server that answers nothing.
      serve(read(Buffer.concat(chunks).toString("utf8"), incoming), response).catch(() => response.destroy())
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(0, "127.0.0.1", resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    faults,
    decide: (fate) => {
      fateOf = fate
    },
    tell: (condition) => {
      points.condition = condition
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
