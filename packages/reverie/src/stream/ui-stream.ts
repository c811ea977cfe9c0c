// UIStream: the parts of an answer as a UI message stream of the AI SDK, which `useChat` reads.
// Owns its chunks, their order and the body of an answer. Leaves what is reported to the parts.
// U1  A text, a reasoning and a step that were opened are closed before the message is; a result comes after the input of its call.
// U2  A model call with its tools is a step. What was shown of a call that is made again stands in a step of its own, which ends
//     with `data-discarded`: the protocol takes nothing back.
// U3  Whatever ends the parts ends the stream: nothing is thrown into the one who reads it.
// U4  One chunk is one line of JSON, and the last line is `[DONE]`.

import { defined, type EnvelopeId, type Json, type Used } from "@reverie/protocol"
import type { AnswerError, Part } from "./parts.ts"

/** A part of a program's own. */
interface Data<Name extends string, Value> {
  readonly type: `data-${Name}`
  /** A later one of the same id takes its place. */
  readonly id?: string
  readonly data: Value
  /** It is shown, and is no part of the message. */
  readonly transient?: true
}

interface SubAgentData {
  readonly id: string
  readonly task: string
  readonly state: string
}

/** One chunk of the UI message stream protocol, version 1. */
export type UIMessageChunk =
  | { readonly type: "start"; readonly messageId: string }
  | { readonly type: "start-step" | "finish-step" }
  | { readonly type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; readonly id: string }
  | { readonly type: "text-delta" | "reasoning-delta"; readonly id: string; readonly delta: string }
  | { readonly type: "tool-input-start"; readonly toolCallId: string; readonly toolName: string }
  | { readonly type: "tool-input-delta"; readonly toolCallId: string; readonly inputTextDelta: string }
  | {
      readonly type: "tool-input-available"
      readonly toolCallId: string
      readonly toolName: string
      readonly input: Json
    }
  | {
      readonly type: "tool-input-error"
      readonly toolCallId: string
      readonly toolName: string
      readonly input: Json
      readonly errorText: string
    }
  | { readonly type: "tool-approval-request"; readonly approvalId: string; readonly toolCallId: string }
  | { readonly type: "tool-output-available"; readonly toolCallId: string; readonly output: Json }
  | { readonly type: "tool-output-error"; readonly toolCallId: string; readonly errorText: string }
  | { readonly type: "tool-output-denied"; readonly toolCallId: string }
  | Data<"discarded", { readonly reason: string }>
  | Data<"sub-agent", SubAgentData>
  | Data<"retry" | "halted", AnswerError>
  | Data<"stopped", { readonly outcome: string; readonly error: AnswerError }>
  | { readonly type: "message-metadata"; readonly messageMetadata: { readonly usage: Used } }
  | { readonly type: "error"; readonly errorText: string }
  | {
      readonly type: "finish"
      readonly finishReason: "stop" | "length" | "content-filter" | "tool-calls" | "other"
      readonly messageMetadata: {
        readonly outcome: string
        readonly usage?: Used
        readonly output?: Json
        /** Where it goes on when a person has decided. */
        readonly place?: string
      }
    }

type Chunks = ReadonlyArray<UIMessageChunk>
type Of<Type extends Part["type"]> = Extract<Part, { readonly type: Type }>

const finishes = {
  "max-iterations": "length",
  cut: "length",
  misshapen: "other",
  refused: "content-filter",
  stopped: "other"
} as const

const ASKED_AGAIN = "the model is asked again"

/** A call as far as it is reported: its input is still coming, or stands. */
interface ShownCall {
  readonly tool: string
  isWhole: boolean
}

/** Puts the parts of one answer into chunks of the UI message stream protocol. */
export class UIChunks {
  readonly #calls = new Map<string, ShownCall>()
  readonly #tasks = new Map<string, string>()
  readonly #said: Array<string> = []
  /** The text or reasoning that is open. */
  #open: { readonly kind: "text" | "reasoning"; readonly id: string } | undefined
  #step: "none" | "model" | "tools" = "none"
  #texts = 0
  /** The text of the model call at hand. */
  #text = ""

  /** `known`: calls of which the message was told before. */
  constructor(known: ReadonlyArray<string> = []) {
    for (const call of known) this.#calls.set(call, { tool: "", isWhole: true })
  }

  /** The first chunks, for the message of that id. */
  begin(messageId: string): Chunks {
    return [{ type: "start", messageId }]
  }

  /** The chunks that tell a part; parts come in their order. */
  of(part: Part): Chunks {
    switch (part.type) {
      case "text":
        this.#text += part.text
        return this.#say("text", part.text)
      case "reasoning":
        return this.#say("reasoning", part.text)
      case "tool-start":
        return this.#start(part)
      case "tool-arguments":
        return this.#calls.has(part.call)
          ? [{ type: "tool-input-delta", toolCallId: part.call, inputTextDelta: part.text }]
          : []
      case "tool-call":
        return this.#call(part)
      case "discarded":
        return this.#discard()
      case "usage":
        return this.#replied(part)
      case "retry":
        return [{ type: "data-retry", data: part.error, transient: true }]
      case "approval":
        return this.#ofCall(part.call, {
          type: "tool-approval-request",
          approvalId: part.approval,
          toolCallId: part.call
        })
      case "tool-result":
        return this.#result(part)
      case "tool-refused":
        return this.#refused(part)
      case "sub-agent-start":
        this.#tasks.set(part.id, part.task)
        return [this.#subAgent(part.id, "working")]
      case "sub-agent-end":
        return [this.#subAgent(part.id, part.end)]
      case "approval-decided":
        return []
      default:
        return this.#end(part)
    }
  }

  /** It can not be read on. */
  failed(message: string): Chunks {
    return [...this.#closeStep(), { type: "error", errorText: message }]
  }

  /** Nothing goes on before a person has acted: the message ends here, and is gone on with behind `place`. */
  interrupted(place: string): Chunks {
    const messageMetadata = { outcome: "interrupted", place }
    return [...this.#closeStep(), { type: "finish", finishReason: "tool-calls", messageMetadata }]
  }

  #beginStep(): Chunks {
    if (this.#step === "model") return []
    const before = this.#closeStep()
    this.#step = "model"
    return [...before, { type: "start-step" }]
  }

  #closeStep(): Chunks {
    const before = this.#close()
    if (this.#step === "none") return before
    this.#step = "none"
    return [...before, { type: "finish-step" }]
  }

  #close(): Chunks {
    if (this.#open === undefined) return []
    const { id, kind } = this.#open
    this.#open = undefined
    return [{ type: `${kind}-end`, id }]
  }

  #say(kind: "text" | "reasoning", delta: string): Chunks {
    const begun = this.#beginStep()
    if (this.#open?.kind === kind) return [...begun, { type: `${kind}-delta`, id: this.#open.id, delta }]
    const before = this.#close()
    const id = `${kind}-${++this.#texts}`
    this.#open = { kind, id }
    return [...begun, ...before, { type: `${kind}-start`, id }, { type: `${kind}-delta`, id, delta }]
  }

  #start({ call, tool }: Of<"tool-start">): Chunks {
    const before = [...this.#beginStep(), ...this.#close()]
    this.#calls.set(call, { tool, isWhole: false })
    return [...before, { type: "tool-input-start", toolCallId: call, toolName: tool }]
  }

  #call({ arguments: input, call: toolCallId, malformed, tool: toolName }: Of<"tool-call">): Chunks {
    const before = [...this.#beginStep(), ...this.#close()]
    this.#calls.set(toolCallId, { tool: toolName, isWhole: true })
    return malformed === undefined
      ? [...before, { type: "tool-input-available", toolCallId, toolName, input }]
      : [...before, { type: "tool-input-error", toolCallId, toolName, input: malformed, errorText: malformed }]
  }

  #discard(): Chunks {
    const open = [...this.#calls].filter(([, { isWhole }]) => !isWhole)
    for (const [call] of open) this.#calls.delete(call)
    const errors = open.map(([toolCallId, { tool: toolName }]): UIMessageChunk => {
      return { type: "tool-input-error", toolCallId, toolName, input: null, errorText: ASKED_AGAIN }
    })
    this.#text = ""
    if (this.#step === "none") return []
    return [
      ...this.#close(),
      ...errors,
      { type: "data-discarded", data: { reason: ASKED_AGAIN } },
      ...this.#closeStep()
    ]
  }

  #replied({ iteration: _, model: __, type: ___, ...usage }: Of<"usage">): Chunks {
    if (this.#text !== "") this.#said.push(this.#text)
    this.#text = ""
    const closed = this.#close()
    if (this.#step === "model") this.#step = "tools"
    return [...closed, { type: "message-metadata", messageMetadata: { usage } }]
  }

  /** Of a call that was told: the protocol knows no other. */
  #ofCall(call: string, chunk: UIMessageChunk): Chunks {
    return this.#calls.has(call) ? [chunk] : []
  }

  #result({ call: toolCallId, content, ok }: Of<"tool-result">): Chunks {
    if (!ok) return this.#ofCall(toolCallId, { type: "tool-output-error", toolCallId, errorText: content })
    // Its report comes later.
    return content === ""
      ? []
      : this.#ofCall(toolCallId, { type: "tool-output-available", toolCallId, output: content })
  }

  #refused({ by, call: toolCallId, reason }: Of<"tool-refused">): Chunks {
    return this.#ofCall(
      toolCallId,
      by === "person"
        ? { type: "tool-output-denied", toolCallId }
        : { type: "tool-output-error", toolCallId, errorText: reason }
    )
  }

  #subAgent(id: string, state: string): UIMessageChunk {
    return { type: "data-sub-agent", id, data: { id, task: this.#tasks.get(id) ?? "", state } }
  }

  #end(end: Of<"done" | "stopped" | "failed" | "halted">): Chunks {
    if (end.type === "failed") return this.failed(end.error.message)
    if (end.type === "halted") {
      const { error } = end
      return [{ type: "data-halted", data: error }, ...this.failed(error.message)]
    }
    const { outcome, reply, usage } = end
    // What was said by a tool, or by the members of a team, was no text of the model.
    const isNew = reply !== "" && !this.#said.includes(reply) && this.#said.join("\n\n") !== reply
    const said = isNew ? this.#say("text", reply) : []
    if (end.type === "done") {
      const { output } = end
      const messageMetadata = { outcome, ...defined({ usage, output }) }
      return [...said, ...this.#closeStep(), { type: "finish", finishReason: "stop", messageMetadata }]
    }
    const { error } = end
    return [
      ...said,
      { type: "data-stopped", data: { outcome, error } },
      ...this.#closeStep(),
      { type: "finish", finishReason: finishes[end.outcome], messageMetadata: { outcome, ...defined({ usage }) } }
    ]
  }
}

/** The id of the message that answers one. */
const answerId = (envelope: string): string => `answer-${envelope}`

async function* chunksOf(
  parts: AsyncIterable<Part>,
  envelope: Promise<EnvelopeId | string>
): AsyncGenerator<UIMessageChunk> {
  const chunks = new UIChunks()
  try {
    yield* chunks.begin(answerId(await envelope))
    for await (const part of parts) yield* chunks.of(part)
  } catch (error) {
    yield* chunks.failed(error instanceof Error ? error.message : String(error))
  }
}

/** The parts as chunks, read as far as they are asked for; who cancels the stream stops reading them. */
export const uiStream = (
  parts: AsyncIterable<Part>,
  envelope: Promise<EnvelopeId | string>
): ReadableStream<UIMessageChunk> => {
  const chunks = chunksOf(parts, envelope)
  return new ReadableStream<UIMessageChunk>({
    pull: async (controller) => {
      const { done, value } = await chunks.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
    cancel: async () => {
      await chunks.return(undefined)
    }
  })
}

/** The headers of such a stream as the body of an answer. */
export const UI_STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-vercel-ai-ui-message-stream": "v1",
  "x-accel-buffering": "no"
} as const

/** What stands behind the last chunk. */
export const UI_STREAM_END = "data: [DONE]\n\n"

/** A chunk as an event of a stream. */
export const uiFrame = (chunk: UIMessageChunk): string => `data: ${JSON.stringify(chunk)}\n\n`

export const uiResponse = (stream: ReadableStream<UIMessageChunk>, init: ResponseInit = {}): Response => {
  const encoder = new TextEncoder()
  const frames = new TransformStream<UIMessageChunk, Uint8Array>({
    transform: (chunk, controller) => controller.enqueue(encoder.encode(uiFrame(chunk))),
    flush: (controller) => controller.enqueue(encoder.encode(UI_STREAM_END))
  })
  const headers = new Headers(init.headers)
  for (const [name, value] of Object.entries(UI_STREAM_HEADERS)) if (!headers.has(name)) headers.set(name, value)
  return new Response(stream.pipeThrough(frames), { ...init, headers })
}
