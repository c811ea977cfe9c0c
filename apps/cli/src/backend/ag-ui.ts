// AgUi: a run of AG-UI as the parts of an answer.
// Owns what each event of it means to whoever waits. Leaves the stream to server-feed.ts.
// A1  Events that it does not know mean nothing to it: the protocol may grow.

import type { Part } from "reverie"

type Fields = { readonly [key: string]: unknown }

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null
const text = (value: unknown): string => (typeof value === "string" ? value : "")

/** It waits for its model, and goes on by itself. */
const awayIn = (value: unknown): Part => {
  const { reason, server } = isFields(value) ? value : {}
  return {
    type: "trouble",
    reason: `it waits for the model at ${text(server)}, which does not answer: ${text(reason)}`
  }
}

export class AnswerReader {
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
        return [{ type: "tool", tool: this.#tools.get(call) ?? "tool", call, ok: true, content }]
      }
      case "CUSTOM":
        return event["name"] === "reverie.model-away" ? [awayIn(event["value"])] : []
      case "RUN_ERROR":
        return [{ type: "failed", reason: text(event["message"]) || "the run ended with an error" }]
      case "RUN_FINISHED":
        return [this.#endOf(event)]
      default:
        return []
    }
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
    return { type: "done", outcome: (text(told["outcome"]) || "answered") as "answered", reply }
  }
}
