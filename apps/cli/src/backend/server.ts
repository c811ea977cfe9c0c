// Server: the contract at a running server.
// Owns the way over HTTP, what a failure on it is, and the two streams: notices, and the answer to one message.
// C1  The token stands in the header of requests to this server and nowhere else: no redirect is followed.
// W1  A stream that breaks is asked again from the last event that was read, so that nothing is lost and nothing comes twice.

import { defined, type Json } from "@reverie/protocol"
import { Access, Api } from "@reverie/server/api"
import { createParser, type EventSourceMessage } from "eventsource-parser"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import type { Notice, Part } from "reverie"
import { CommandFailed } from "../failure.ts"
import type { Stop } from "../running/stop.ts"
import { Backend } from "./backend.ts"
import { type Taken, timed } from "./transport.ts"

// AnswerReader: a run of AG-UI as the parts of an answer.
// A1  Events that it does not know mean nothing to it: the protocol may grow.

type Fields = { readonly [key: string]: unknown }

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null
const text = (value: unknown): string => (typeof value === "string" ? value : "")

/** It waits for its model, and goes on by itself. */
const awayIn = (value: unknown): Part => {
  const { others = [], reason, server } = isFields(value) ? value : {}
  return {
    type: "retry",
    error: {
      code: "ModelUnavailable",
      message: `it waits for the model at ${[server].concat(others).map(text).join(" or ")}, which does not answer: ${text(reason)}`
    }
  }
}

type StopOutcome = Extract<Part, { readonly type: "stopped" }>["outcome"]

/** What the SDK calls an end before it was done. */
const stopCodes: Readonly<Record<StopOutcome, string>> = {
  "max-iterations": "StepsSpent",
  cut: "BudgetSpent",
  misshapen: "AnswerMisshapen",
  refused: "AnswerRefused"
}

const isStop = (code: unknown): code is StopOutcome => typeof code === "string" && Object.hasOwn(stopCodes, code)

class AnswerReader {
  /** Of every reading so far, how many parts were told. */
  #told = 0
  #said = ""
  #current = ""
  readonly #tools = new Map<string, string>()

  /** Begins a reading; parts of an earlier one are not told again. */
  begin(): (event: unknown) => ReadonlyArray<Part> {
    let seen = 0
    this.#said = ""
    return (event) => {
      const parts = isFields(event) ? this.#partsOf(event) : []
      return parts.filter(() => {
        seen++
        if (seen <= this.#told) return false
        this.#told = seen
        return true
      })
    }
  }

  #partsOf(event: Fields): ReadonlyArray<Part> {
    switch (event["type"]) {
      case "TEXT_MESSAGE_START":
        this.#current = ""
        return []
      case "TEXT_MESSAGE_CONTENT":
      case "TEXT_MESSAGE_CHUNK": {
        const piece = text(event["delta"])
        this.#current += piece
        return piece === "" ? [] : [{ type: "text", text: piece }]
      }
      case "TEXT_MESSAGE_END":
        this.#said = this.#current
        return []
      case "TOOL_CALL_START":
        this.#tools.set(text(event["toolCallId"]), text(event["toolCallName"]))
        return []
      case "TOOL_CALL_RESULT": {
        const call = text(event["toolCallId"])
        const content = text(event["content"])
        return [{ type: "tool-result", tool: this.#tools.get(call) ?? "tool", call, ok: true, content }]
      }
      case "CUSTOM":
        return event["name"] === "reverie.model-away" ? [awayIn(event["value"])] : []
      case "RUN_ERROR":
        if (event["code"] === "halted")
          return [{ type: "halted", error: { code: "Halted", message: text(event["message"]) } }]
        if (isStop(event["code"])) return [this.#stopOf(event["code"], event)]
        return [
          {
            type: "failed",
            error: { code: "Failed", message: text(event["message"]) || "the run ended with an error" }
          }
        ]
      case "RUN_FINISHED":
        return [this.#endOf(event)]
      default:
        return []
    }
  }

  /** A run that was ended before it was done. */
  #stopOf(outcome: StopOutcome, event: Fields): Part {
    const told = isFields(event["result"]) ? event["result"] : {}
    const error = { code: stopCodes[outcome], message: text(event["message"]) }
    return { type: "stopped", outcome, reply: text(told["reply"]) || this.#said, error }
  }

  #endOf(event: Fields): Part {
    const { outcome, result } = event
    const how = isFields(outcome) ? outcome : { type: outcome }
    if (how["type"] === "interrupt") {
      const [first] = Array.isArray(how["interrupts"]) ? (how["interrupts"] as ReadonlyArray<unknown>) : []
      const asked = isFields(first) ? first : {}
      const call = text(asked["toolCallId"])
      const tool = this.#tools.get(call) ?? "a tool"
      return { type: "approval", approval: text(asked["id"]), tool, call }
    }
    const told = isFields(result) ? result : {}
    const reply = text(told["reply"]) || (typeof result === "string" ? result : this.#said || this.#current)
    const output = told["output"] as Json | undefined
    return { type: "done", outcome: (text(told["outcome"]) || "answered") as "answered", reply, ...defined({ output }) }
  }
}

/** The events of a body, as they come. */
async function* eventsIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<EventSourceMessage> {
  const decoder = new TextDecoder()
  const ready: Array<EventSourceMessage> = []
  const parser = createParser({ onEvent: (event) => ready.push(event) })
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    yield* ready.splice(0)
  }
}

const ends: ReadonlySet<Part["type"]> = new Set(["done", "stopped", "failed", "halted"])

const AGAIN_MILLIS = 500
const LOOK_AGAIN_MILLIS = 2_000

const later = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

class Feed {
  readonly #url: string
  readonly #token: string | undefined
  readonly #ending = new AbortController()
  readonly #listeners = new Set<(notice: Notice) => void>()
  #isReading = false

  constructor(url: string, token: string | undefined) {
    this.#url = url
    this.#token = token
  }

  listen(listener: (notice: Notice) => void): () => void {
    this.#listeners.add(listener)
    if (!this.#isReading) void this.#read()
    this.#isReading = true
    return () => this.#listeners.delete(listener)
  }

  /** Resolves with the next notices; after two seconds in any case. */
  async changed(): Promise<void> {
    const heard = Promise.withResolvers<void>()
    const leave = this.listen(() => heard.resolve())
    await Promise.race([heard.promise, later(LOOK_AGAIN_MILLIS)])
    leave()
  }

  /** What comes back for a message, to its end. */
  async *answers(id: string, send: () => Promise<Taken>): AsyncGenerator<Part> {
    const { envelope } = await send()
    const path = `/v1/assistants/${encodeURIComponent(id)}/answers/${encodeURIComponent(envelope)}`
    const reader = new AnswerReader()
    while (!this.#ending.signal.aborted) {
      // Told from its beginning again; what was read before is left out.
      const told = reader.begin()
      for await (const { data } of this.#events(path)) {
        for (const part of told(JSON.parse(data))) {
          yield part
          if (ends.has(part.type)) return
        }
      }
      await later(AGAIN_MILLIS)
    }
  }

  close(): void {
    this.#ending.abort()
  }

  async *#events(path: string, headers: Readonly<Record<string, string>> = {}): AsyncGenerator<EventSourceMessage> {
    const token = this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }
    let response: Response
    try {
      response = await fetch(`${this.#url}${path}`, {
        headers: { accept: "text/event-stream", ...token, ...headers },
        redirect: "error",
        signal: this.#ending.signal
      })
    } catch {
      if (this.#ending.signal.aborted) return
      throw new CommandFailed("server-unreachable", `${this.#url} can not be reached`)
    }
    if (!response.ok || response.body === null) {
      throw new CommandFailed("server-unreadable", `${this.#url} answered ${response.status} where a stream was asked`)
    }
    try {
      yield* eventsIn(response.body)
    } catch {
      // It broke off; anyone who reads asks again.
    }
  }

  async #read(): Promise<void> {
    let last: string | undefined
    while (!this.#ending.signal.aborted) {
      try {
        const headers = last === undefined ? {} : { "last-event-id": last }
        for await (const { data, id } of this.#events("/v1/events", headers)) {
          if (id !== undefined) last = id
          const notice = JSON.parse(data) as Notice
          for (const listener of this.#listeners) listener(notice)
        }
      } catch {
        // What is asked besides tells why; this one goes on trying.
      }
      if (!this.#ending.signal.aborted) await later(AGAIN_MILLIS)
    }
  }
}

const tagOf = (error: unknown): string => (isFields(error) ? text(error["_tag"]) : "")

/** What went wrong, as the table of failures knows it. */
const explained = (error: unknown, url: string): unknown => {
  const tag = tagOf(error)
  if (tag === "HttpClientError") {
    const reason = isFields(error) ? error["reason"] : undefined
    const response = isFields(reason) ? reason["response"] : undefined
    const status = isFields(response) ? response["status"] : 0
    if (status === 401) return new CommandFailed("token-needed", `${url} asks for a token`)
    if (status === 403) return new CommandFailed("forbidden", `${url} refuses this`)
    return tagOf(reason) === "TransportError" || response === undefined
      ? new CommandFailed("server-unreachable", `${url} can not be reached`)
      : new CommandFailed("server-unreadable", `${url} answered ${String(status)} and nothing that we know`)
  }
  if (tag === "SchemaError") return new CommandFailed("server-unreadable", `${url} answered what we do not know`)
  return error
}

/** The way there, the same for every group. */
const httpClientAt = async (url: string): Promise<HttpClient.HttpClient> => {
  const client = await Effect.runPromise(Effect.provide(Effect.service(HttpClient.HttpClient), FetchHttpClient.layer))
  return client.pipe(
    HttpClient.mapRequest(HttpClientRequest.prependUrl(url)),
    HttpClient.transform((asked) => Effect.provideService(asked, FetchHttpClient.RequestInit, { redirect: "error" }))
  )
}

export const atServer = (url: string, token: string | undefined, stop: Stop): Backend => {
  const feed = new Feed(url, token)
  const way = httpClientAt(url)
  const access = HttpApiMiddleware.layerClient(Access, ({ next, request }) =>
    next(token === undefined ? request : HttpClientRequest.bearerToken(request, token))
  )
  return new Backend({
    kind: "server",
    place: `server ${url}`,
    isWorking: true,
    clientOf: async (group) => {
      const httpClient = await way
      return Effect.runPromise(HttpApiClient.group(Api, { group, httpClient }).pipe(Effect.provide(access)))
    },
    explained: (error) => explained(error, url),
    ask: (id, _text, _question, send) => feed.answers(id, send),
    within: (work, timeoutMillis) => timed(stop.orAsked(work), timeoutMillis),
    listen: (listener) => feed.listen(listener),
    changed: () => feed.changed(),
    close: async () => feed.close()
  })
}
