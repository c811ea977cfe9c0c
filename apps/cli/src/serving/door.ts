// Door: the HTTP face of a running process: whether it lives, what it measures, and, for an API, messages in and states out.
// Owns routes, limits and status codes. Leaves durability to the fleet, and who may come in to guard.ts.
// D1  A message is answered with 202 only after it is durable; the same id again is the same answer.
// D2  Whatever is asked wrongly is answered with one JSON object that says so; nothing of a stack is in it.
// D3  No body beyond its limit is read to its end.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AssistantView, Event, Receipt, SendOptions } from "reverie"
import { failureOf } from "../failure.ts"
import { type Guard, refusalOf } from "./guard.ts"
import { statusPage } from "./status-page.ts"

/** What the door needs of a fleet. */
export interface Behind {
  readonly views: (after: string | undefined, limit: number) => Promise<ReadonlyArray<AssistantView>>
  readonly post: (to: string, event: Event, options: SendOptions) => Promise<Receipt>
  readonly ready: () => Promise<unknown>
  readonly metrics: () => Promise<string>
}

export interface DoorOptions extends Guard {
  /** A worker answers only whether it lives and what it measures. */
  readonly withApi: boolean
}

const MAX_BODY_BYTES = 2_000_000
const PAGE = 100
const MAX_PAGE = 500

interface Answer {
  readonly status: number
  readonly type?: string
  readonly body: string
}

const json = (status: number, value: unknown): Answer => ({ status, body: `${JSON.stringify(value)}\n` })

const refuse = (status: number, code: string, message: string): Answer =>
  json(status, { ok: false, error: { code, message } })

const notFound = refuse(404, "not-found", "there is nothing here; see /v1/assistants")

const statusByExit: Readonly<Record<number, number>> = { 2: 400, 3: 403, 4: 404, 5: 409, 6: 503, 7: 504, 8: 429 }

const failed = (error: unknown): Answer => {
  const { code, exit, message } = failureOf(error)
  return exit === 1 ? refuse(500, "unexpected", "it went wrong here") : refuse(statusByExit[exit] ?? 500, code, message)
}

const bodyOf = async (request: IncomingMessage): Promise<string | undefined> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8")
}

const parsed = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined
  } catch {
    return undefined
  }
}

const textIn = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

const optionsOf = (body: Readonly<Record<string, unknown>>, request: IncomingMessage): SendOptions => {
  const id = textIn(body["id"]) ?? textIn(request.headers["idempotency-key"])
  const from = textIn(body["from"])
  return { ...(id === undefined ? {} : { id }), ...(from === undefined ? {} : { from }) }
}

/** The event of a request: a message's text, or an event as it crosses the wire. */
const eventOf = (what: string, body: Readonly<Record<string, unknown>>): Event | undefined => {
  if (what === "messages") {
    const text = textIn(body["text"])
    return text === undefined ? undefined : { type: "message", text }
  }
  const event = body["event"]
  return typeof event === "object" && event !== null ? (event as Event) : undefined
}

const receive = async (behind: Behind, to: string, what: string, request: IncomingMessage): Promise<Answer> => {
  const text = await bodyOf(request)
  if (text === undefined) return refuse(413, "too-large", `a body has at most ${MAX_BODY_BYTES} bytes`)
  const body = parsed(text)
  const event = body === undefined ? undefined : eventOf(what, body)
  if (body === undefined || event === undefined) {
    const wanted = what === "messages" ? '{"text": "..."}' : '{"event": {"type": "..."}}'
    return refuse(400, "malformed", `the body must be a JSON object like ${wanted}`)
  }
  return json(202, { ok: true, ...(await behind.post(to, event, optionsOf(body, request))) })
}

const list = async (behind: Behind, query: URLSearchParams): Promise<Answer> => {
  const asked = Number(query.get("limit") ?? PAGE)
  const limit = Number.isSafeInteger(asked) && asked > 0 ? Math.min(asked, MAX_PAGE) : PAGE
  const assistants = await behind.views(query.get("after") ?? undefined, limit)
  return json(200, { ok: true, assistants, next: assistants.length < limit ? null : (assistants.at(-1)?.id ?? null) })
}

const withApi = async (behind: Behind, request: IncomingMessage, url: URL): Promise<Answer> => {
  const [, version, room, id, what] = url.pathname.split("/").map((part) => decodeURIComponent(part))
  if (url.pathname === "/" && request.method === "GET") {
    return { status: 200, type: "text/html; charset=utf-8", body: statusPage(await behind.views(undefined, MAX_PAGE)) }
  }
  if (version !== "v1" || room !== "assistants") return notFound
  if (id === undefined && request.method === "GET") return list(behind, url.searchParams)
  if (id !== undefined && (what === "messages" || what === "events") && request.method === "POST") {
    return receive(behind, id, what, request)
  }
  return notFound
}

const answerTo = async (behind: Behind, options: DoorOptions, request: IncomingMessage): Promise<Answer> => {
  const url = new URL(request.url ?? "/", "http://door")
  if (url.pathname === "/livez") return { status: 200, type: "text/plain", body: "ok\n" }
  if (url.pathname === "/readyz") {
    await behind.ready()
    return { status: 200, type: "text/plain", body: "ok\n" }
  }
  const refusal = refusalOf(options, request.headers)
  if (refusal !== undefined) return refuse(refusal.status, refusal.code, refusal.message)
  if (url.pathname === "/metrics") {
    return { status: 200, type: "text/plain; version=0.0.4", body: await behind.metrics() }
  }
  return options.withApi ? withApi(behind, request, url) : notFound
}

const write = (response: ServerResponse, { body, status, type = "application/json" }: Answer): void => {
  response.writeHead(status, {
    "content-type": type,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
  })
  response.end(body)
}

/** A server that is not listening yet. */
export const openDoor = (behind: Behind, options: DoorOptions): Server =>
  createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, (request, response) => {
    answerTo(behind, options, request)
      .catch((error: unknown) => (error instanceof URIError ? notFound : failed(error)))
      .then((answer) => write(response, answer))
      // Whoever asked has left.
      .catch(() => response.destroy())
  })
