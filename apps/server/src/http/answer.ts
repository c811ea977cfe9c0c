// Answer: an answer that is written without the router: a failure, a page, a measurement.
// Owns the form of a failure on the wire. Leaves which one it is to the code that refuses.
// N1  A failure looks the same whether the router wrote it or not: status, `_tag`, `message`, `hint`.
// N2  A connection that never sent a byte ends without an answer.
// N3  A refusal has the same headers whether a server or a mounted handler writes it.

import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { packed } from "./packing.ts"
import { type ApiFailure, Malformed, type MethodNotAllowed, TooLarge, type Unauthorized } from "../api/index.ts"

// SecurityHeaders: what stands on every answer, so that a browser can be made to do nothing with it but show our own page.
// B1  Every answer has them, a failure too.
// B2  The page runs only scripts that this server serves as files; nothing may frame it or send a form from it.

const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

/** An answer of the API is no page: whatever is in it, nothing of it is run or loaded. */
const API_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Of an answer of the API. */
export const securing: ReadonlyArray<readonly [name: string, value: string]> = [
  ["x-content-type-options", "nosniff"],
  ["referrer-policy", "no-referrer"],
  ["cross-origin-opener-policy", "same-origin"],
  ["cross-origin-resource-policy", "same-origin"],
  ["x-frame-options", "DENY"],
  ["content-security-policy", API_POLICY],
  ["cache-control", "no-store"]
]

/** As an answer of the API; `asPage` and `asDocs` change what a page needs otherwise. */
export const secure = (response: ServerResponse): void => {
  for (const [name, value] of securing) response.setHeader(name, value)
}

export const asPage = (response: ServerResponse): void => {
  response.setHeader("content-security-policy", PAGE_POLICY)
}

/** `scripts` are the hashes of the scripts that stand in the page itself. */
export const asDocs = (response: ServerResponse, scripts: ReadonlyArray<string>): void => {
  const allowed = scripts.map((hash) => `'sha256-${hash}'`).join(" ")
  response.setHeader("content-security-policy", PAGE_POLICY.replace("script-src 'self'", `script-src ${allowed}`))
}

export type Refusal = ApiFailure | MethodNotAllowed | TooLarge | Unauthorized

const statusByTag: Readonly<Record<Refusal["_tag"], number>> = {
  Malformed: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  Conflict: 409,
  TooLarge: 413,
  LimitReached: 429,
  Unexpected: 500,
  Unavailable: 503
}

const fields = ["_tag", "message", "hint", "issues", "retryAfterSeconds"] as const

export const failureBody = (refusal: Refusal): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    fields.flatMap((name) => {
      const value: unknown = Reflect.get(refusal, name)
      return value === undefined ? [] : [[name, value]]
    })
  )

export const statusOf = ({ _tag }: Refusal): number => statusByTag[_tag]

export const write = (response: ServerResponse, status: number, type: string, body: string | Buffer): void => {
  if (response.headersSent || response.destroyed) return
  response.setHeader("content-type", type)
  response.setHeader("content-length", Buffer.byteLength(body))
  response.writeHead(status)
  // HEAD is answered as GET is, without the body; node itself leaves it out.
  response.end(body)
}

/** The same, as short as its client reads it. */
export const writePacked = async (
  request: IncomingMessage,
  response: ServerResponse,
  type: string,
  body: string
): Promise<void> => {
  const { bytes, headers } = await packed(Buffer.from(body), type, request.headers["accept-encoding"])
  if (response.headersSent || response.destroyed) return
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  write(response, 200, type, Buffer.from(bytes))
}

const writeJson = (response: ServerResponse, status: number, value: unknown): void =>
  write(response, status, "application/json", JSON.stringify(value))

/** What a client needs besides the body: how to name itself, when to ask again. */
export const refusalHeaders = (refusal: Refusal): ReadonlyArray<readonly [name: string, value: string]> => {
  if (refusal._tag === "Unauthorized") return [["www-authenticate", "Bearer"]]
  if (refusal._tag !== "LimitReached" || refusal.retryAfterSeconds === undefined) return []
  return [["retry-after", String(refusal.retryAfterSeconds)]]
}

/** What is not read to its end would be taken for the next request: the connection ends with the answer. */
export const refuse = (request: IncomingMessage, response: ServerResponse, refusal: Refusal): void => {
  if (!request.complete && !response.headersSent) response.setHeader("connection", "close")
  for (const [name, value] of refusalHeaders(refusal)) response.setHeader(name, value)
  writeJson(response, statusOf(refusal), failureBody(refusal))
}

const unread = (code: string | undefined): { readonly status: string; readonly refusal: Refusal } => {
  if (code === "HPE_HEADER_OVERFLOW") {
    return {
      status: "431 Request Header Fields Too Large",
      refusal: new TooLarge({ message: "the headers are too long" })
    }
  }
  if (code === TOO_LATE) {
    return { status: "408 Request Timeout", refusal: new Malformed({ message: "the request took too long to come" }) }
  }
  return { status: "400 Bad Request", refusal: new Malformed({ message: "this is no HTTP request" }) }
}

const TOO_LATE = "ERR_HTTP_REQUEST_TIMEOUT"

/**
 * Refuses what could not be read as a request. A connection that a browser opened in advance and did not use ends
 * without a word: an answer on it would be taken for that to the request which the browser is just writing. A request
 * that waits unread because this process was busy is read in the next turn of the loop, and served.
 */
export const refuseUnread = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy()
  if (error.code === TOO_LATE && socket.bytesRead === 0) {
    setImmediate(() => {
      if (socket.bytesRead === 0) socket.destroy()
    })
    return
  }
  const { refusal, status } = unread(error.code)
  const body = JSON.stringify(failureBody(refusal))
  const headers = [
    ...securing,
    ["content-type", "application/json"],
    ["content-length", String(Buffer.byteLength(body))],
    ["connection", "close"]
  ]
  socket.end(`HTTP/1.1 ${status}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`)
}
