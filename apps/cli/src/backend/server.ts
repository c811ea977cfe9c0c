// Server: the contract at a running server.
// Owns the way over HTTP, what a failure on it is, and the two streams: notices, and the answer to one message.
// C1  The token stands in the header of requests to this server and nowhere else: no redirect is followed.
// W1  A stream that breaks is asked again from the last event that was read, so that nothing is lost and nothing comes twice.

import { defined } from "@reverie/protocol"
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
import { plainFetch } from "./plain-fetch.ts"
import { type Taken, timed } from "./transport.ts"

type Fields = { readonly [key: string]: unknown }

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null
const text = (value: unknown): string => (typeof value === "string" ? value : "")

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
    const path = `/v1/assistants/${encodeURIComponent(id)}/answers/${encodeURIComponent(envelope)}?format=parts`
    let last: string | undefined
    while (!this.#ending.signal.aborted) {
      for await (const event of this.#events(path, defined({ "last-event-id": last }))) {
        last = event.id ?? last
        const part = JSON.parse(event.data) as Part
        yield part
        if (ends.has(part.type)) return
      }
      await later(AGAIN_MILLIS)
    }
  }

  close(): void {
    this.#ending.abort()
  }

  async *#events(path: string, headers: Readonly<Record<string, string>> = {}): AsyncGenerator<EventSourceMessage> {
    const token = this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }
    let response: Awaited<ReturnType<typeof plainFetch>>
    try {
      response = await plainFetch(`${this.#url}${path}`, {
        headers: { accept: "text/event-stream", ...token, ...headers },
        signal: this.#ending.signal
      })
    } catch {
      if (this.#ending.signal.aborted) return
      throw new CommandFailed("server-unreachable", `${this.#url} can not be reached`)
    }
    if (!response.ok) {
      response.leave()
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
    HttpClient.transform((asked) =>
      Effect.provideService(asked, FetchHttpClient.Fetch, plainFetch as unknown as typeof fetch)
    )
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
    within: (work, timeoutMs) => timed(stop.orAsked(work), timeoutMs),
    listen: (listener) => feed.listen(listener),
    changed: () => feed.changed(),
    close: async () => feed.close()
  })
}
