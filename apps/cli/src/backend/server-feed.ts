// ServerFeed: what a server tells by itself: notices, and the answer to one message.
// Owns asking again where a stream broke off. Leaves the form of events to event-stream.ts and ag-ui.ts.
// W1  A stream that breaks is asked again from the last event that was read, so that nothing is lost and nothing comes twice.

import type { Notice, Part } from "reverie"
import { CommandFailed } from "../failure.ts"
import { AnswerReader } from "./ag-ui.ts"
import { eventsIn, type StreamEvent } from "./event-stream.ts"

const AGAIN_MILLIS = 500
const LOOK_AGAIN_MILLIS = 2_000

const later = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

export class ServerFeed {
  readonly #url: string
  readonly #token: string | undefined
  readonly #ending = new AbortController()
  readonly #listeners = new Set<(notice: Notice) => void>()
  #isReading = false

  constructor(url: string, token: string | undefined) {
    this.#url = url.replace(/\/+$/, "")
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
  async *answers(id: string, envelope: string): AsyncGenerator<Part> {
    const path = `/v1/assistants/${encodeURIComponent(id)}/answers/${encodeURIComponent(envelope)}`
    const reader = new AnswerReader()
    while (!this.#ending.signal.aborted) {
      // Told from its beginning again; what was read before is passed over.
      const told = reader.begin()
      for await (const { data } of this.#events(path)) {
        for (const part of told(JSON.parse(data))) {
          yield part
          if (part.type === "done" || part.type === "failed" || part.type === "halted") return
        }
      }
      await later(AGAIN_MILLIS)
    }
  }

  close(): void {
    this.#ending.abort()
  }

  async *#events(path: string, headers: Readonly<Record<string, string>> = {}): AsyncGenerator<StreamEvent> {
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
      // It broke off; whoever reads asks again.
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
