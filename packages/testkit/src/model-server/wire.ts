// Wire: chat completions as a server says them.
// Owns the two forms of an answer, one JSON object or a stream of events. Leaves what is said to scripts and modes.
// W1  Both forms of one message say the same.

import type { IncomingHttpHeaders } from "node:http"

/** A request as it arrived, with the parts that scripts look at taken out. */
export interface ModelRequest {
  /** `/v1/chat/completions` or `/v1/embeddings`, or whatever was asked for. */
  readonly path: string
  readonly model: string
  readonly stream: boolean
  readonly messages: ReadonlyArray<WireMessage>
  /** Names of the tools offered, in order. */
  readonly tools: ReadonlyArray<string>
  /** The texts to be embedded. */
  readonly input: ReadonlyArray<string>
  readonly headers: IncomingHttpHeaders
  /** The body as parsed; undefined when it was no JSON. */
  readonly body: unknown
}

export interface WireMessage {
  readonly role: string
  readonly content?: unknown
  readonly tool_calls?: ReadonlyArray<unknown>
  readonly tool_call_id?: string
}

/** What a message of the model holds. Hostile modes put anything here. */
export interface SaidMessage {
  readonly [key: string]: unknown
  readonly tool_calls?: ReadonlyArray<unknown>
}

export interface Said {
  readonly message: SaidMessage
  /** Undefined leaves the field out. */
  readonly finish?: string | null | undefined
  /** Undefined leaves the field out. */
  readonly usage?: unknown
}

export const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null

export const USAGE = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 }

const head = (object: string, model: string) => ({ id: "chatcmpl-1", object, created: 1_700_000_000, model })

/** One JSON object. */
export const completion = (model: string, { message, finish, usage }: Said): string =>
  JSON.stringify({
    ...head("chat.completion", model),
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }],
    usage
  })

/** One event of a stream. */
export const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`

export const DONE = "data: [DONE]\n\n"

/** One event that carries a piece of the answer. */
export const piece = (model: string, delta: unknown, finish: string | null = null): string =>
  event({ ...head("chat.completion.chunk", model), choices: [{ index: 0, delta, finish_reason: finish }] })

const PIECE_CHARS = 24

/** The events of one message: its text in pieces, each call as a name and then its arguments in two halves. */
const deltas = (message: SaidMessage): ReadonlyArray<unknown> => {
  const { content, tool_calls: calls, ...rest } = message
  const said: Array<unknown> = [{ role: "assistant", ...rest, ...(typeof content === "string" ? {} : { content }) }]
  if (typeof content === "string") {
    for (let from = 0; from < content.length; from += PIECE_CHARS) {
      said.push({ content: content.slice(from, from + PIECE_CHARS) })
    }
  }
  for (const [index, call] of (calls ?? []).entries()) {
    const asked = isObject(call) ? call["function"] : undefined
    const text = isObject(asked) ? asked["arguments"] : undefined
    if (!isObject(call) || !isObject(asked) || typeof text !== "string") {
      said.push({ tool_calls: [isObject(call) ? { index, ...call } : call] })
      continue
    }
    const middle = text.length >> 1
    said.push({ tool_calls: [{ index, ...call, function: { ...asked, arguments: text.slice(0, middle) } }] })
    said.push({ tool_calls: [{ index, function: { arguments: text.slice(middle) } }] })
  }
  return said
}

/** The whole stream of one message, closed by `[DONE]`. */
export const stream = (model: string, { message, finish, usage }: Said): string => {
  let text = ""
  for (const delta of deltas(message)) text += piece(model, delta)
  if (finish !== undefined) text += piece(model, {}, finish)
  if (usage !== undefined) text += event({ ...head("chat.completion.chunk", model), choices: [], usage })
  return text + DONE
}
