// Answer: the body of one successful response, read as it arrives.
// Owns the two forms of a body, one JSON text or a stream of events, and the judgement whether it is whole.
// Leaves the sockets to `exchange.ts` and what the answer says to `@reverie/model/wire`.
// I1  An answer without a finish reason is a failure, however it ended; with one it is whole, however it ended.
// I2  A body is taken for what it is, not for what was asked: a stream where JSON was asked for is read as a stream.

import { parseJson } from "@reverie/protocol"
import * as Result from "effect/Result"
import { StringDecoder } from "node:string_decoder"
import type { Assembled } from "./assembly.ts"
import type { Failure, Failures, HeaderReader, UnavailableKind } from "@reverie/model/wire"

// EventStream: server-sent events out of chunks of text.
// I1  The events do not depend on where the text was cut into chunks.
// I2  Work grows with the text: a line is searched once, however many chunks it came in.

export class EventStream {
  #line = ""
  #data: string | undefined
  #afterReturn = false
  readonly #onData: (data: string) => void

  constructor(onData: (data: string) => void) {
    this.#onData = onData
  }

  feed(chunk: string): void {
    if (chunk === "") return
    let text = this.#afterReturn && chunk.startsWith("\n") ? chunk.slice(1) : chunk
    this.#afterReturn = text.endsWith("\r")
    if (text.includes("\r")) text = text.replace(/\r\n?/g, "\n")
    let from = 0
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", from)) {
      const line = text.slice(from, at)
      this.#take(this.#line === "" ? line : this.#line + line)
      this.#line = ""
      from = at + 1
    }
    this.#line += text.slice(from)
  }

  /** What stood at the end without the blank line that closes an event. */
  end(): void {
    if (this.#line !== "") this.#take(this.#line)
    this.#line = ""
    this.#take("")
  }

  #take(line: string): void {
    if (line === "") {
      const data = this.#data
      this.#data = undefined
      if (data !== undefined) this.#onData(data)
    } else if (line.startsWith("data:")) {
      const value = line.slice(line.charCodeAt(5) === 32 ? 6 : 5)
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
    }
  }
}

/** How the body came to its end. */
export type Ending =
  | "end"
  | "cut"
  | "idle"
  | "timeout"
  | "too-large"
  /** The answer said that it is done. */
  | "done"
  /** It holds something that no continuation can mend. */
  | "spoilt"

/** What is said of a body that came to a bad end. */
export const endings: Readonly<Record<"cut" | "idle" | "timeout" | "too-large", string>> = {
  cut: "the answer broke off",
  idle: "the answer stopped coming",
  timeout: "the answer took too long",
  "too-large": "the answer is larger than allowed"
}

const startsAnEvent = /^\s*(data|event|id|retry)?:/

export class Answer {
  readonly assembly: Assembled
  /** True once the finish reason is known. */
  get finished(): boolean {
    return this.assembly.finish !== ""
  }
  readonly #chunks: Array<Buffer> = []
  readonly #failures: Failures
  #decoder: StringDecoder | undefined
  #events: EventStream | undefined
  #form: "unknown" | "json" | "events" = "unknown"
  #state: "open" | "done" | "spoilt" = "open"
  #fault: string | undefined
  #ending = false

  constructor(failures: Failures, assembly: Assembled) {
    this.#failures = failures
    this.assembly = assembly
  }

  begin(contentType: string): void {
    if (contentType.startsWith("text/event-stream")) this.#openEvents()
  }

  take(chunk: Buffer): "open" | "done" | "spoilt" {
    if (this.#form === "unknown") {
      if (startsAnEvent.test(chunk.toString("latin1", 0, 64))) this.#openEvents()
      else this.#form = "json"
    }
    if (this.#events === undefined || this.#decoder === undefined) this.#chunks.push(chunk)
    else this.#events.feed(this.#decoder.write(chunk))
    return this.#state
  }

  /** The failure, or undefined when the assembly holds a whole answer. */
  conclude(ending: Ending, header: HeaderReader, now: number): Failure | undefined {
    const early = ending === "done" || ending === "spoilt" ? "end" : ending
    if (this.#form === "events") {
      this.#ending = true
      this.#events?.end()
    } else if (early === "end") this.#readJson()
    else return this.#unavailable(early, endings[early])

    const { assembly } = this
    if (assembly.problem !== undefined) return this.#failures.answered(assembly.problem, header, now)
    if (this.#fault !== undefined) return this.#unavailable(this.#cutJson() ? "cut" : "not-json", this.#fault)
    if (assembly.finish.toLowerCase() === "error") {
      return this.#unavailable("server-error", "the answer finished with an error")
    }
    if (this.finished && assembly.chosen) return undefined
    if (early !== "end") return this.#unavailable(early, endings[early])
    if (this.#form === "events" && this.#state !== "done") return this.#unavailable("cut", endings.cut)
    return this.#unavailable(
      "malformed",
      assembly.chosen ? "the answer has no finish reason" : "the answer has no choices"
    )
  }

  /** A page, and a body of which nothing came, are no work of a model. */
  #unavailable(kind: UnavailableKind, message: string): Failure {
    const isObject = this.#form === "json" && /^\s*\{/.test(this.#chunks[0]?.toString("latin1", 0, 64) ?? "")
    const begun = this.assembly.chosen || (isObject && kind !== "malformed")
    return this.#failures.unavailable(kind, message, { begun })
  }

  #openEvents(): void {
    this.#form = "events"
    this.#decoder = new StringDecoder("utf8")
    this.#events = new EventStream((data) => this.#event(data))
  }

  #event(data: string): void {
    if (this.#state !== "open") return
    if (data === "[DONE]") {
      this.#state = "done"
      return
    }
    const parsed = parseJson(data)
    if (Result.isSuccess(parsed)) this.assembly.take(parsed.success)
    else if (this.#ending) return // an event that was cut: the missing finish reason tells
    else this.#fault = `an event is not JSON: ${parsed.failure}`
    if (this.#fault !== undefined || this.assembly.problem !== undefined) this.#state = "spoilt"
    else if (this.assembly.isOver) this.#state = "done"
  }

  #readJson(): void {
    const text = this.#text()
    const parsed = parseJson(text)
    if (Result.isSuccess(parsed)) this.assembly.take(parsed.success)
    else this.#fault = text === "" ? "the body is empty" : `the body is not JSON: ${parsed.failure}`
  }

  #text(): string {
    const [first] = this.#chunks
    return (this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks))
      .toString("utf8")
      .trim()
  }

  #cutJson(): boolean {
    if (this.#form !== "json") return false
    const text = this.#text()
    return text.startsWith("{") && !text.endsWith("}")
  }
}
