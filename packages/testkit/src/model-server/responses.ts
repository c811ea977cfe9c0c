// Responses: the Responses API of a model server, over what speaks Chat Completions.
// Owns the translation of requests and answers, whole and in streams, and what such a server refuses. Leaves what is said to
// scripts and modes: each of them is met on both wires.
// R1  What is no chat completion passes as it is, byte for byte: pages, errors, halves, floods.
// R2  A stream is translated as it is written: nothing waits for what comes later.

import type { ServerResponse } from "node:http"
import { event, isObject, type ModelRequest, type WireMessage } from "./wire.ts"

type Fields = { readonly [key: string]: unknown }

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})

// Request: the items of a request as the messages that scripts look at.

const messageOf = (item: unknown): WireMessage => {
  const fields = fieldsOf(item)
  const { arguments: args, call_id, content, name, output, role, type } = fields
  switch (type) {
    case "function_call":
      return {
        role: "assistant",
        tool_calls: [{ id: call_id, type: "function", function: { name, arguments: args } }]
      }
    case "function_call_output":
      return { role: "tool", content: output, tool_call_id: String(call_id) }
    case "reasoning":
      return { role: "reasoning", content: item }
    default:
      return { role: String(role), content }
  }
}

/** The messages of a request; none for what is no list of items. */
export const responsesMessages = (input: unknown): ReadonlyArray<WireMessage> =>
  Array.isArray(input) ? input.map(messageOf) : []

/** A tool as this wire writes it. */
export const responsesTool = (tool: unknown): string => {
  const { name } = fieldsOf(tool)
  return typeof name === "string" ? name : ""
}

// Strict: what a server refuses of a conversation.
// S1  Reasoning that it did not make; reasoning that nothing follows; a call without its result, and a result without its call.

const refusalOfMessages = ({ messages }: Pick<ModelRequest, "messages">, isOwn: (item: Fields) => boolean) => {
  const open = new Set<unknown>()
  for (const [index, message] of messages.entries()) {
    const {
      reasoning_details: details = [],
      role,
      tool_call_id: result,
      tool_calls: calls = []
    } = message as unknown as Fields
    for (const each of details as ReadonlyArray<unknown>) {
      if (!isOwn(fieldsOf(each))) return `foreign reasoning at ${index}`
    }
    if (role === "user" && open.size > 0) return `no result for ${[...open].join()}`
    for (const call of calls as ReadonlyArray<unknown>) open.add(fieldsOf(call)["id"])
    if (role === "tool" && !open.delete(result)) return `no call for ${String(result)}`
  }
  return open.size > 0 ? `no result for ${[...open].join()}` : undefined
}

/** Why this server refuses a request, over either wire; undefined when it does not. `isOwn` knows its reasoning again. */
export const refusalOf = (request: ModelRequest, isOwn: (item: Fields) => boolean): string | undefined =>
  request.path.endsWith("/responses") ? refusalOfItems(request, isOwn) : refusalOfMessages(request, isOwn)

const refusalOfItems = ({ body }: Pick<ModelRequest, "body">, isOwn: (item: Fields) => boolean): string | undefined => {
  const { include, input, store } = fieldsOf(body)
  const items = Array.isArray(input) ? input.map(fieldsOf) : []
  if (store !== false || !Array.isArray(include)) return "it is not asked for statelessly"
  const open = new Set<unknown>()
  for (const [index, item] of items.entries()) {
    const { call_id: call, role, type } = item
    if (type === "reasoning" && !isOwn(item)) return `invalid_encrypted_content at ${index}`
    const next = items[index + 1]
    const isFollowed = ["reasoning", "function_call"].includes(String(next?.["type"])) || next?.["role"] === "assistant"
    if (type === "reasoning" && !isFollowed) return `reasoning at ${index} without its required following item`
    if (type === "function_call") open.add(call)
    if (type === "function_call_output" && !open.delete(call)) return `no tool call found for ${String(call)}`
    if (type === "message" && role === "user" && open.size > 0) return `no tool output found for ${[...open].join()}`
  }
  return open.size > 0 ? `no tool output found for ${[...open].join()}` : undefined
}

// Answer: a completion as a response.

const statusOf = (finish: unknown): Fields => {
  switch (finish) {
    case undefined:
    case null:
      return {}
    case "stop":
    case "tool_calls":
    case "function_call":
      return { status: "completed" }
    case "length":
      return { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }
    case "content_filter":
      return { status: "incomplete", incomplete_details: { reason: "content_filter" } }
    case "error":
      return { status: "failed", error: null }
    default:
      return { status: finish }
  }
}

const usageOf = (usage: unknown): unknown => {
  if (!isObject(usage)) return usage
  const { completion_tokens: output_tokens, prompt_tokens: input_tokens } = usage
  return { input_tokens, output_tokens, total_tokens: usage["total_tokens"] }
}

const partOf = (part: unknown): unknown => {
  const { text, type } = fieldsOf(part)
  return type === "text" ? { type: "output_text", text, annotations: [] } : part
}

const contentOf = (content: unknown): unknown =>
  typeof content === "string"
    ? [{ type: "output_text", text: content, annotations: [] }]
    : Array.isArray(content)
      ? content.map(partOf)
      : content

const callItem = (call: unknown, index: number): unknown => {
  if (!isObject(call)) return call
  const asked = fieldsOf(call["function"])
  const id = call["id"]
  return { type: "function_call", id: `fc_${index}_${String(id)}`, call_id: id, ...asked }
}

/** What a message comes to, in the order in which it is said. */
const itemsOf = (message: Fields): ReadonlyArray<unknown> => {
  const { content, function_call: legacy, reasoning_content: thought, reasoning_details: made, refusal, role } = message
  const { tool_calls: calls } = message
  const said = content === null || content === undefined ? [] : [contentOf(content)]
  const refused = typeof refusal === "string" ? [{ type: "refusal", refusal }] : []
  return [
    ...(Array.isArray(made) ? made : []),
    ...(thought === undefined ? [] : [{ type: "reasoning", id: "rs_0", summary: [], content: null }]),
    ...(refused.length > 0 ? [{ type: "message", id: "msg_0", role: "assistant", content: refused }] : []),
    ...said.map((each) => ({ type: "message", id: "msg_0", role: role ?? "assistant", content: each })),
    ...(Array.isArray(calls) ? calls.map(callItem) : []),
    ...(legacy === undefined ? [] : [callItem({ id: "call_0", function: legacy }, 0)])
  ]
}

/** A whole completion as a whole response; what has the wrong form keeps the wrong form. */
const responseOf = (completion: Fields): Fields => {
  const { choices, model, usage } = completion
  const head = { id: "resp_1", object: "response", created_at: 1_700_000_000, model, usage: usageOf(usage) }
  const [choice] = Array.isArray(choices) ? choices : []
  const { finish_reason: finish, message } = fieldsOf(choice)
  return isObject(message)
    ? { ...head, ...statusOf(finish), output: itemsOf(message) }
    : { ...head, ...statusOf(finish), output: message ?? choices }
}

const MOST_CALLS_IN_PIECES = 16

/** The events of one stream, out of those of a chat completion. */
class EventWriter {
  #finish: unknown
  #usage: unknown
  #model: unknown
  #hasBegun = false
  #hasText = false
  readonly #ids = new Map<number, string>()

  /** The events for one chunk. */
  take(chunk: Fields): string {
    const { choices, model, usage } = chunk
    this.#model ??= model
    if (usage !== undefined) this.#usage = usage
    if (!Array.isArray(choices)) return event({ type: "response.output", output: choices })
    if (usage !== undefined && choices.length === 0) return ""
    const [choice] = choices
    if (!isObject(choice)) return event({ type: "response.output", output: choices })
    const { delta, finish_reason: finish } = choice
    if (finish !== undefined && finish !== null) this.#finish = finish
    return this.#begun() + this.#said(fieldsOf(delta))
  }

  /** The last event, once the end of the answer is known. */
  ended(): string {
    const finish = this.#finish
    if (finish === undefined) return ""
    this.#finish = undefined
    const state = statusOf(finish)
    const kind = ["incomplete", "failed"].find((status) => status === state["status"]) ?? "completed"
    const response = {
      id: "resp_1",
      object: "response",
      model: this.#model,
      output: [],
      ...state,
      usage: usageOf(this.#usage)
    }
    return event({ type: `response.${kind}`, response })
  }

  #begun(): string {
    if (this.#hasBegun) return ""
    this.#hasBegun = true
    return event({ type: "response.created", response: { id: "resp_1", status: "in_progress", model: this.#model } })
  }

  #said(delta: Fields): string {
    const { content, function_call: legacy, reasoning_content: thought, reasoning_details: made, refusal } = delta
    const { tool_calls: calls } = delta
    let text = ""
    for (const item of Array.isArray(made) ? made : []) {
      text += event({ type: "response.output_item.added", output_index: 0, item })
      text += event({ type: "response.output_item.done", output_index: 0, item })
    }
    if (thought !== undefined) text += event({ type: "response.reasoning_text.delta", item_id: "rs_0", delta: thought })
    if (typeof refusal === "string") text += event({ type: "response.refusal.delta", item_id: "msg_0", delta: refusal })
    if (content !== undefined && content !== null) text += this.#text(content)
    const listed: ReadonlyArray<unknown> = Array.isArray(calls) ? calls : []
    for (const call of listed) text += this.#call(call, listed.length > MOST_CALLS_IN_PIECES)
    if (legacy !== undefined) text += this.#call({ index: 0, id: "call_0", function: legacy })
    return text
  }

  #text(content: unknown): string {
    const item = { type: "message", id: "msg_0", role: "assistant" }
    const added = this.#hasText ? "" : event({ type: "response.output_item.added", output_index: 1, item })
    this.#hasText = true
    return typeof content === "string"
      ? added + event({ type: "response.output_text.delta", item_id: "msg_0", output_index: 1, delta: content })
      : added +
          event({ type: "response.output_item.done", output_index: 1, item: { ...item, content: contentOf(content) } })
  }

  /** An item that is announced and comes in pieces, or stands there at once. */
  #call(call: unknown, isWhole = false): string {
    if (!isObject(call)) return event({ type: "response.output_item.added", output_index: 0, item: call })
    const { function: asked, id, index } = fieldsOf(call)
    const at = typeof index === "number" ? index + 2 : 2
    const { arguments: args, name } = fieldsOf(asked)
    if (id === undefined && name === undefined) {
      const item_id = this.#ids.get(at)
      return event({ type: "response.function_call_arguments.delta", output_index: at, item_id, delta: args })
    }
    const item_id = `fc_${at}_${String(id)}`
    this.#ids.set(at, item_id)
    const item = { type: "function_call", id: item_id, call_id: id, name, arguments: "" }
    const done = event({ type: "response.output_item.done", output_index: at, item: { ...item, arguments: args } })
    if (isWhole) return done
    const added = event({ type: "response.output_item.added", output_index: at, item })
    return typeof args === "string"
      ? added + event({ type: "response.function_call_arguments.delta", output_index: at, item_id, delta: args })
      : added + done
  }
}

/** Text between two events beyond which nothing is waited for. */
const MOST_WAITING_CHARS = 20_000

const BLANK = /\r\n\r\n|\r\n\r|\n\n|\r\r/

/** Translates what a server writes as a stream of chat completions. */
class StreamTranslator {
  #rest = ""
  #isRaw = false
  readonly #writer = new EventWriter()

  take(text: string): string {
    if (this.#isRaw) return text
    this.#rest += text
    let out = ""
    for (let found = BLANK.exec(this.#rest); found !== null; found = BLANK.exec(this.#rest)) {
      const block = this.#rest.slice(0, found.index)
      this.#rest = this.#rest.slice(found.index + found[0].length)
      out += this.#event(block, found[0])
    }
    if (this.#rest.length > MOST_WAITING_CHARS) {
      this.#isRaw = true
      return out + this.end()
    }
    return out + this.#writer.ended()
  }

  end(): string {
    const rest = this.#rest
    this.#rest = ""
    return this.#writer.ended() + rest
  }

  #event(block: string, blank: string): string {
    if (block === "data: [DONE]") return `${this.#writer.ended()}${block}${blank}`
    if (!block.startsWith("data: ")) return block + blank
    try {
      const chunk: unknown = JSON.parse(block.slice("data: ".length))
      if (!isObject(chunk) || !("choices" in chunk || "usage" in chunk)) return block + blank
      return this.#writer.take(chunk).replaceAll("\n\n", blank)
    } catch {
      return block + blank
    }
  }
}

const translatedBody = (text: string): string => {
  try {
    const body: unknown = JSON.parse(text)
    return isObject(body) && ("choices" in body || body["object"] === "chat.completion")
      ? JSON.stringify(responseOf(body))
      : text
  } catch {
    return text
  }
}

type Chunk = string | Buffer

/** Bytes keep their values, whatever they are in. */
const translated = (chunk: Chunk, translate: (text: string) => string): Chunk =>
  typeof chunk === "string" ? translate(chunk) : Buffer.from(translate(chunk.toString("latin1")), "latin1")

/** The response, with what is written to it as the Responses API says it. */
export const inResponses = (response: ServerResponse): ServerResponse => {
  let stream: StreamTranslator | undefined
  let hasWritten = false
  const writeHead = response.writeHead.bind(response)
  const write: (...args: ReadonlyArray<unknown>) => boolean = response.write.bind(response) as never
  const end: (...args: ReadonlyArray<unknown>) => ServerResponse = response.end.bind(response) as never
  const overriding = {
    writeHead: (status: number, headers: { readonly [name: string]: string } = {}) => {
      if (headers["content-type"]?.startsWith("text/event-stream") === true) stream = new StreamTranslator()
      return writeHead(status, headers)
    },
    write: (chunk: Chunk, ...more: ReadonlyArray<unknown>) => {
      hasWritten = true
      const text = stream === undefined ? chunk : translated(chunk, (each) => stream?.take(each) ?? each)
      // A byte at a time stays a byte at a time.
      if (typeof text === "string" && text.includes("\r")) for (const char of text) write(char, "utf8")
      else return write(text, ...more)
      return true
    },
    end: (chunk: Chunk = "", ...more: ReadonlyArray<unknown>) => {
      const text =
        stream !== undefined
          ? translated(chunk, (each) => `${stream?.take(each) ?? ""}${stream?.end() ?? ""}`)
          : hasWritten
            ? chunk
            : translated(chunk, translatedBody)
      return end(text, ...more)
    }
  }
  return Object.assign(response, overriding)
}
