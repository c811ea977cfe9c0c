// HostileMode: one way in which a model server can misbehave, and what a client must make of it.
// Owns the shape of a mode and the building blocks they share. Leaves the list to `hostile-modes.ts`.
// H1  A verdict is data: one table-driven test judges every mode.

import type { ServerResponse } from "node:http"
import { completion, type ModelRequest, type Said, type SaidMessage, stream, USAGE } from "./wire.ts"

/** The tool that calling modes name when the request offers it first; the verdicts expect this name. */
export const HOSTILE_TOOL = "look"

export interface ExpectedCall {
  readonly tool: string
  readonly arguments?: unknown
  readonly malformed?: true
}

/** What a client must make of a mode that does not get better. */
export type Verdict =
  | { readonly error: "ModelUnavailable"; readonly kind: string; readonly status?: number }
  | { readonly error: "ModelParked"; readonly retryAfterMs: number }
  | { readonly error: "ModelDenied"; readonly status: number }
  | { readonly error: "ModelRefused"; readonly kind: string }
  | { readonly error: "ReplyUnusable" }
  | {
      readonly reply: {
        readonly text?: string
        readonly finish?: string
        readonly calls?: ReadonlyArray<ExpectedCall>
        readonly callCount?: number
        readonly usage?: "provider" | "counted"
      }
    }

export type Serve = (request: ModelRequest, response: ServerResponse) => void

export interface HostileMode {
  readonly says: string
  /** How it answers a request for one JSON object; absent when it makes sense for streams only. */
  readonly plain?: Serve
  /** How it answers a request for a stream; absent when it makes sense for one JSON object only. */
  readonly stream?: Serve
  readonly leadsTo: Verdict
}

export const JSON_TYPE = { "content-type": "application/json" }
export const STREAM_TYPE = { "content-type": "text/event-stream; charset=utf-8" }

export const answer =
  (status: number, body: string | Buffer, headers: { readonly [name: string]: string } = JSON_TYPE): Serve =>
  (_request, response) => {
    response.writeHead(status, headers).end(body)
  }

/** The same answer whether a stream was asked for or not. */
export const either = (serve: Serve): Pick<HostileMode, "plain" | "stream"> => ({ plain: serve, stream: serve })

/** A whole answer in both forms. */
export const saying = (message: SaidMessage, rest: Omit<Said, "message"> = { finish: "stop", usage: USAGE }) => ({
  plain: ((request, response) => {
    response.writeHead(200, JSON_TYPE).end(completion(request.model, { message, ...rest }))
  }) satisfies Serve,
  stream: ((request, response) => {
    response.writeHead(200, STREAM_TYPE).end(stream(request.model, { message, ...rest }))
  }) satisfies Serve
})

export const aCall = (args: unknown, tool: unknown = HOSTILE_TOOL, id: unknown = "call_0") => ({
  id,
  type: "function",
  function: { name: tool, arguments: args }
})

/** An answer that is nothing but calls, in both forms. */
export const calling = (...calls: ReadonlyArray<{ readonly [key: string]: unknown }>) =>
  saying({ content: null, tool_calls: calls }, { finish: "tool_calls", usage: USAGE })

/** Starts a stream, says `text`, and leaves the rest to `after`. */
export const begin =
  (text: (model: string) => string, after: (response: ServerResponse) => void): Serve =>
  (request, response) => {
    response.writeHead(200, STREAM_TYPE)
    response.write(text(request.model), () => after(response))
  }

export const drop = (response: ServerResponse): void => {
  response.destroy()
}

export const hang = (): void => {}

/** Writes the same chunk until `bytes` are out or the reader has gone, as fast as it reads. */
export const flood = (response: ServerResponse, chunk: string, bytes: number, end: string): void => {
  let left = bytes
  const more = (): void => {
    while (left > 0) {
      left -= chunk.length
      if (!response.write(chunk)) {
        response.once("drain", more)
        return
      }
    }
    response.end(end)
  }
  more()
}

/** Writes one chunk every `everyMillis` until the reader has gone. */
export const drip = (response: ServerResponse, chunk: string, everyMillis: number): void => {
  const timer = setInterval(() => response.write(chunk), everyMillis)
  response.once("close", () => clearInterval(timer))
}
