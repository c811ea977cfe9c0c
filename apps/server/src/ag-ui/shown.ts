// Shown: what AG-UI was told of a reply before it was committed, besides its text.
// Owns reasoning messages, and the calls that were begun early. Leaves text and order to teller.ts.
// S1  A call is reported under its own id, and once. What was told of an attempt that was given up ends with a result that says so, and the
//     call itself is reported under an id with a number behind it.
// S2  Arguments that were told in pieces and mean what was committed are not told again.

import { isDeepStrictEqual } from "node:util"
import { type Json, parseJson, type ToolCall } from "@reverie/protocol"
import * as Result from "effect/Result"
import { clip, WHOLE_CHARS } from "../views/message-view.ts"
import type { AgUiEvent } from "./events.ts"

const GIVEN_UP = "Not called: the model was asked again."

interface Begun {
  readonly id: string
  readonly tool: string
  text: string
}

/** What is said of a call besides itself. */
interface Beside {
  readonly timestamp: number
  readonly parentMessageId?: string
}

const isSame = (text: string, args: Json): boolean => {
  const read = parseJson(text.trim() === "" ? "{}" : text)
  return Result.isSuccess(read) && isDeepStrictEqual(read.success, args)
}

export class ShownCalls {
  readonly #prefix: string
  /** Begun early, by the ids of calls. */
  readonly #begun = new Map<string, Begun>()
  readonly #given = new Map<string, number>()
  #results = 0

  /** `prefix`: of the ids of messages that are made here. */
  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** The id under which a call is reported. */
  idOf(call: string): string {
    const times = this.#given.get(call) ?? 0
    return times === 0 ? call : `${call}~${times + 1}`
  }

  begin(call: string, tool: string, beside: Beside): ReadonlyArray<AgUiEvent> {
    const before = this.#begun.has(call) ? this.#giveUp(call) : []
    const id = this.idOf(call)
    this.#begun.set(call, { id, tool, text: "" })
    return [...before, { type: "TOOL_CALL_START", toolCallId: id, toolCallName: tool, ...beside }]
  }

  goOn(call: string, text: string): ReadonlyArray<AgUiEvent> {
    const begun = this.#begun.get(call)
    if (begun === undefined || text === "") return []
    begun.text += text
    return [{ type: "TOOL_CALL_ARGS", toolCallId: begun.id, delta: text }]
  }

  /** Those that were begun and are not among the calls of the reply. */
  drop(calls: ReadonlyArray<ToolCall> = []): ReadonlyArray<AgUiEvent> {
    const wanted = new Set(calls.map(({ id }) => id))
    return [...this.#begun.keys()].filter((call) => !wanted.has(call)).flatMap((call) => this.#giveUp(call))
  }

  /** A call of the reply; `beside` is said where it was not begun early. */
  whole({ arguments: args, id: call, malformed, tool }: ToolCall, beside: Beside): ReadonlyArray<AgUiEvent> {
    const begun = this.#begun.get(call)
    if (begun !== undefined && begun.tool === tool && malformed === undefined) {
      const rest: ReadonlyArray<AgUiEvent> =
        begun.text === ""
          ? [{ type: "TOOL_CALL_ARGS", toolCallId: begun.id, delta: clip(JSON.stringify(args), WHOLE_CHARS) }]
          : []
      if (begun.text === "" || isSame(begun.text, args)) {
        this.#begun.delete(call)
        return [...rest, { type: "TOOL_CALL_END", toolCallId: begun.id }]
      }
    }
    const before = begun === undefined ? [] : this.#giveUp(call)
    const toolCallId = this.idOf(call)
    const delta = clip(malformed ?? JSON.stringify(args), WHOLE_CHARS)
    return [
      ...before,
      { type: "TOOL_CALL_START", toolCallId, toolCallName: tool, ...beside },
      { type: "TOOL_CALL_ARGS", toolCallId, delta },
      { type: "TOOL_CALL_END", toolCallId }
    ]
  }

  #giveUp(call: string): ReadonlyArray<AgUiEvent> {
    const id = this.#begun.get(call)?.id ?? call
    this.#begun.delete(call)
    this.#given.set(call, (this.#given.get(call) ?? 0) + 1)
    const messageId = `${this.#prefix}/given-up/${++this.#results}`
    return [
      { type: "TOOL_CALL_END", toolCallId: id },
      { type: "TOOL_CALL_RESULT", messageId, toolCallId: id, role: "tool", content: GIVEN_UP }
    ]
  }
}

export class ShownThoughts {
  readonly #prefix: string
  #open: string | undefined
  #count = 0

  /** `prefix`: of the ids of messages that are made here. */
  constructor(prefix: string) {
    this.#prefix = prefix
  }

  say(delta: string): ReadonlyArray<AgUiEvent> {
    if (this.#open !== undefined) return [{ type: "REASONING_MESSAGE_CONTENT", messageId: this.#open, delta }]
    const messageId = `${this.#prefix}/reasoning/${++this.#count}`
    this.#open = messageId
    return [
      { type: "REASONING_START", messageId },
      { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
      { type: "REASONING_MESSAGE_CONTENT", messageId, delta }
    ]
  }

  close(): ReadonlyArray<AgUiEvent> {
    if (this.#open === undefined) return []
    const messageId = this.#open
    this.#open = undefined
    return [
      { type: "REASONING_MESSAGE_END", messageId },
      { type: "REASONING_END", messageId }
    ]
  }
}
