// Wire: a prompt as the JSON text of a chat completion request.
// Owns names and ids in their wire form, and the memory of what was rendered. Leaves sending to `attempt.ts`.
// W1  A prompt that goes on where an earlier one ended renders only what is new in it; tools are rendered once.
// W2  Names and ids are those that `@reverie/model/wire` makes.
// W3  The text is well-formed: no half surrogate pair is sent.
// W4  A server gets those hints about prompt caches that it is known to understand: most refuse a field that they do not know.
// W5  A mark for a cache stands on one message and changes no text.
// W6  A form is asked for strictly where the strictest servers take its schema, and loosely elsewhere: the answer is checked anyway.

import { Buffer } from "node:buffer"
import type { OutputForm, PromptMessage, PromptPart, ToolOffer } from "@reverie/model"
import { offersByName, ownReasoning, type Signer, wireId, wireName } from "@reverie/model/wire"
import { defined, isJsonObject, type Json, type ToolCall } from "@reverie/protocol"

/**
 * A text in pieces, one behind the other, each as it is or as bytes of UTF-8. A conversation is long and sent with each call: it
 * is kept as bytes, which are copied once, and no text of its length is ever made.
 */
export type Pieces = ReadonlyArray<string | Uint8Array>

/** Messages as they stand in the body: JSON texts with commas between them. */
export type WireMessages = Pieces

export interface WireTools {
  /** The list as JSON; empty when there are no tools. */
  readonly json: string
  readonly nameByWire: ReadonlyMap<string, string>
}

export const quoted = (text: string): string => JSON.stringify(text.isWellFormed() ? text : text.toWellFormed())

/** Some templates read the arguments again and take nothing but an object. */
export const argumentsText = (args: Json): string => (isJsonObject(args) ? JSON.stringify(args) : "{}")

const callJson = (call: ToolCall, signed = ""): string =>
  `{"id":"${wireId(call.id)}","type":"function"${signed},"function":{"name":"${wireName(call.tool)}","arguments":${quoted(
    argumentsText(call.arguments)
  )}}}`

/** `signed`: what stands beside the call at an index. */
const assistantJson = ({ calls = [], content }: PromptMessage, signed?: ReadonlyMap<number, string>): string => {
  if (calls.length === 0) return `{"role":"assistant","content":${quoted(content)}}`
  const said = content === "" ? "null" : quoted(content)
  const asked = calls.map((call, index) => callJson(call, signed?.get(index)))
  return `{"role":"assistant","content":${said},"tool_calls":[${asked.join(",")}]}`
}

/** Bytes as a `data:` URL. */
export const dataUrl = ({ data = NO_BYTES, mediaType }: PromptPart): string =>
  `data:${mediaType};base64,${base64Of(data)}`

const NO_BYTES = new Uint8Array()

export const base64Of = (data: Uint8Array): string =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64")

/** `wav`, `mp3` and so on. */
export const audioFormat = (mediaType: string): string => {
  const subtype = mediaType.slice(mediaType.indexOf("/") + 1).replace(/^x-/, "")
  return { mpeg: "mp3", wave: "wav", "vnd.wave": "wav" }[subtype] ?? subtype
}

/** A file has to be called something. */
export const fileName = ({ mediaType, name }: PromptPart): string => name ?? `file.${mediaType.split("/").at(-1)}`

const partJson = (part: PromptPart): string => {
  switch (part.type) {
    case "image":
      return `{"type":"image_url","image_url":{"url":"${dataUrl(part)}"}}`
    case "audio":
      return `{"type":"input_audio","input_audio":{"data":"${base64Of(part.data ?? NO_BYTES)}","format":${quoted(audioFormat(part.mediaType))}}}`
    case "file":
      return `{"type":"file","file":{"filename":${quoted(fileName(part))},"file_data":"${dataUrl(part)}"}}`
  }
}

/** A text alone, or with what is loaded beside it. */
const contentJson = ({ content, parts = [] }: PromptMessage): string => {
  const loaded = parts.filter(({ data }) => data !== undefined)
  if (loaded.length === 0) return quoted(content)
  const text = content === "" ? [] : [`{"type":"text","text":${quoted(content)}}`]
  return `[${[...text, ...loaded.map(partJson)].join(",")}]`
}

export const wireMessage = (message: PromptMessage): string => {
  const content = message.role === "user" ? contentJson(message) : quoted(message.content)
  switch (message.role) {
    case "system":
      return `{"role":"system","content":${content}}`
    case "user":
      return message.name === undefined
        ? `{"role":"user","content":${content}}`
        : `{"role":"user","name":"${wireName(message.name)}","content":${content}}`
    case "tool":
      return `{"role":"tool","tool_call_id":"${wireId(message.call ?? "")}","content":${content}}`
    case "assistant":
      return assistantJson(message)
  }
}

/** The same, with the reasoning of this one: a server wants what it has sent, in the field in which it came. */
export const chatMessage =
  (signer: Signer) =>
  (message: PromptMessage): string => {
    const own = ownReasoning(message, signer)
    if (own.length === 0) return wireMessage(message)
    const details = own.flatMap(({ part }) => (Array.isArray(part) ? part : []))
    const first = message.content === "" ? 0 : 1
    const signed = own.flatMap(({ at, part }): ReadonlyArray<readonly [number, string]> =>
      isJsonObject(part) ? [[at - first, `,"extra_content":${JSON.stringify(part["extra_content"])}`]] : []
    )
    const text = assistantJson(message, new Map(signed))
    return details.length === 0 ? text : `${text.slice(0, -1)},"reasoning_details":${JSON.stringify(details)}}`
  }

/** The same with the mark that a provider keeps everything up to here; undefined for a message that can not carry it. */
const markedMessage = (message: PromptMessage): string | undefined => {
  const { calls = [], parts = [] } = message
  if (message.content === "" || calls.length > 0 || parts.length > 0) return undefined
  const content = quoted(message.content)
  const marked = `"content":[{"type":"text","text":${content},"cache_control":{"type":"ephemeral"}}]`
  const text = wireMessage(message)
  return text.slice(0, text.lastIndexOf(`"content":${content}`)) + marked + "}"
}

/** A conversation as it was sent last. */
interface Sent {
  readonly messages: ReadonlyArray<PromptMessage>
  /** Where the text of each message ends. */
  readonly ends: Array<number>
  /** The text, and room for more. What is written is never written over: a call may yet be sent with it. */
  readonly store: Buffer
}

/** Of conversations that are remembered: some hundred of usual length. */
const MOST_SENT_BYTES = 6_000_000
const LEAST_ROOM_BYTES = 1_024

/** Two lists of messages as one. */
const joined = (before: Pieces, after: Pieces): Pieces =>
  before.length === 0 ? after : after.length === 0 ? before : [...before, ",", ...after]

/**
 * Renders messages, and remembers conversations by the message they begin with. Messages are values: the same object is
 * the same message, so what goes on is known by a look at each, and its text is copied in one piece.
 */
export class Transcripts {
  readonly #rendered: (message: PromptMessage) => string
  readonly #mostBytes: number
  readonly #byFirst = new Map<PromptMessage, Sent>()
  #bytes = 0

  constructor(rendered: (message: PromptMessage) => string = wireMessage, mostBytes: number = MOST_SENT_BYTES) {
    this.#rendered = rendered
    this.#mostBytes = mostBytes
  }

  /** What is remembered, with the room for more of it. */
  get bytes(): number {
    return this.#bytes
  }

  #listed(messages: ReadonlyArray<PromptMessage>): Pieces {
    return messages.length === 0 ? [] : [messages.map(this.#rendered).join(",")]
  }

  /** The text of all messages. What stands before the conversation is short and may change: it is rendered anew. */
  render(messages: ReadonlyArray<PromptMessage>): WireMessages {
    const begin = messages.findIndex(({ role }) => role !== "system")
    if (begin === -1) return this.#listed(messages)
    return joined(this.#listed(messages.slice(0, begin)), [this.#conversation(messages.slice(begin))])
  }

  /** The same, and the last message that can carry it of so many is marked: the beginning up to there comes again. */
  renderMarked(messages: ReadonlyArray<PromptMessage>, lasting: number): WireMessages {
    for (let at = lasting - 1; at >= 0; at--) {
      const message = messages[at]
      const marked = message === undefined ? undefined : markedMessage(message)
      if (marked === undefined) continue
      return joined(joined(this.render(messages.slice(0, at)), [marked]), this.#listed(messages.slice(at + 1)))
    }
    return this.render(messages)
  }

  #conversation(messages: ReadonlyArray<PromptMessage>): Uint8Array {
    const [first] = messages
    if (first === undefined) return NO_BYTES
    const before = this.#byFirst.get(first)
    const known = before === undefined ? 0 : sameFromStart(before.messages, messages)
    const ends = before?.ends ?? []
    const isContinued = known === ends.length
    ends.length = known
    const kept = ends.at(-1) ?? 0
    let end = kept
    const added = messages.slice(known).map((message) => {
      const text = end === 0 ? this.#rendered(message) : `,${this.#rendered(message)}`
      end += Buffer.byteLength(text)
      ends.push(end)
      return text
    })
    const isRoom = isContinued && before !== undefined && end <= before.store.length
    const store = isRoom ? before.store : Buffer.allocUnsafeSlow(Math.ceil(end * 1.25) + LEAST_ROOM_BYTES)
    if (!isRoom) before?.store.copy(store, 0, 0, kept)
    store.write(added.join(""), kept)
    this.#keep(first, { messages, ends, store }, before)
    return store.subarray(0, end)
  }

  /** The conversation that was sent longest ago is forgotten first. */
  #keep(first: PromptMessage, sent: Sent, before: Sent | undefined): void {
    if (before !== undefined) {
      this.#byFirst.delete(first)
      this.#bytes -= before.store.length
    }
    this.#byFirst.set(first, sent)
    this.#bytes += sent.store.length
    for (const [oldest, { store }] of this.#byFirst) {
      if (this.#bytes <= this.#mostBytes) return
      this.#byFirst.delete(oldest)
      this.#bytes -= store.length
    }
  }
}

/** The name of an offered tool as it was written. */
export const writtenName = ({ nameByWire }: WireTools, name: string): string => {
  for (const [wire, offered] of nameByWire) if (offered === name) return wire
  return wireName(name)
}

const sameFromStart = (some: ReadonlyArray<PromptMessage>, others: ReadonlyArray<PromptMessage>): number => {
  const most = Math.min(some.length, others.length)
  let same = 0
  while (same < most && some[same] === others[same]) same++
  return same
}

const renderedOffers = new WeakMap<ToolOffer, string>()

const offerRest = (offer: ToolOffer): string => {
  let text = renderedOffers.get(offer)
  if (text === undefined) {
    text = `"description":${quoted(offer.description)},"parameters":${JSON.stringify(offer.parameters)}}}`
    renderedOffers.set(offer, text)
  }
  return text
}

const renderedTools = new WeakMap<ReadonlyArray<ToolOffer>, WireTools>()

export const wireTools = (offers: ReadonlyArray<ToolOffer>): WireTools => {
  const known = renderedTools.get(offers)
  if (known !== undefined) return known
  const nameByWire = new Map<string, string>()
  const texts: Array<string> = []
  for (const [name, offer] of offersByName(offers)) {
    nameByWire.set(name, offer.name)
    texts.push(`{"type":"function","function":{"name":"${name}",${offerRest(offer)}`)
  }
  const tools: WireTools = { json: texts.length === 0 ? "" : `[${texts.join(",")}]`, nameByWire }
  renderedTools.set(offers, tools)
  return tools
}

// What OpenAI's strict mode is documented to take; every object closed, every property required.
const strictKeywords: ReadonlySet<string> = new Set([
  "type",
  "description",
  "title",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "anyOf",
  "enum",
  "const",
  "pattern",
  "format",
  "multipleOf",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "minItems",
  "maxItems"
])

const listIn = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])

export const isStrict = (schema: Json): boolean => {
  if (!isJsonObject(schema) || Object.keys(schema).some((keyword) => !strictKeywords.has(keyword))) return false
  const { additionalProperties, anyOf, items = {}, properties, required, type } = schema
  const named = isJsonObject(properties) ? Object.entries(properties) : []
  const isClosed = type !== "object" || (additionalProperties === false && properties !== undefined)
  if (!isClosed || !named.every(([name]) => listIn(required).includes(name))) return false
  const inner = [...named.map(([, each]) => each), ...listIn(anyOf), ...("items" in schema ? [items] : [])]
  return inner.every(isStrict)
}

const formats = new WeakMap<OutputForm, string>()

/** The form of an answer as a field of the body. */
const formatOf = (output: OutputForm): string => {
  const known = formats.get(output)
  if (known !== undefined) return known
  const { name, schema } = output
  const format = { type: "json_schema", json_schema: { name: wireName(name), strict: isStrict(schema), schema } }
  const text = `,"response_format":${JSON.stringify(format)}`
  formats.set(output, text)
  return text
}

export interface BodyStyle {
  readonly model: string
  readonly baseURL: string
  readonly streamUsage: boolean
  readonly temperature?: number | undefined
  readonly reasoningEffort?: string | undefined
  readonly extraBody: { readonly [key: string]: Json }
}

/** Fields as they stand in a body, each with a comma behind it. */
export const extraOf = (extra: BodyStyle["extraBody"]): string =>
  Object.entries(extra)
    .map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)},`)
    .join("")

/** What goes along with the messages: for a prompt cache, about tools that may not be called now, and the form of the answer. */
export interface Hints {
  readonly cacheKey?: string | undefined
  /** Wire names. */
  readonly allowed?: ReadonlyArray<string> | undefined
  readonly output?: OutputForm | undefined
}

export type BodyWriter = (
  messages: WireMessages,
  tools: string,
  stream: boolean,
  maxOutputTokens: number | undefined,
  hints?: Hints
) => Pieces

/** OpenAI itself knows a key for its cache, and a choice among tools that leaves their list as it is. */
const openAiHints = ({ allowed, cacheKey }: Hints, hasTools: boolean, chosen: BodyStyle["extraBody"]): string => {
  const isKeyed = cacheKey !== undefined && !Object.hasOwn(chosen, "prompt_cache_key")
  const key = isKeyed ? `,"prompt_cache_key":${quoted(cacheKey)}` : ""
  if (allowed === undefined || !hasTools || Object.hasOwn(chosen, "tool_choice")) return key
  const tools = allowed.map((name) => ({ type: "function", function: { name } }))
  const choice = tools.length === 0 ? "none" : { type: "allowed_tools", allowed_tools: { mode: "auto", tools } }
  return `${key},"tool_choice":${JSON.stringify(choice)}`
}

/** Writes request bodies; what is the same in all of them is written once. */
export const makeBodyWriter = (style: BodyStyle): BodyWriter => {
  const { reasoningEffort: reasoning_effort, temperature } = style
  const head = `{${extraOf({ ...defined({ temperature, reasoning_effort }), ...style.extraBody })}"model":${quoted(style.model)},"messages":[`
  const streaming = style.streamUsage ? `,"stream":true,"stream_options":{"include_usage":true}` : `,"stream":true`
  // The newer models of OpenAI refuse the old name; most other servers know only the old one.
  const isOpenAi = URL.parse(style.baseURL)?.hostname === "api.openai.com"
  const limit = isOpenAi ? "max_completion_tokens" : "max_tokens"
  return (messages, tools, stream, maxOutputTokens, hints = {}) => [
    head,
    ...messages,
    "]" +
      (tools === "" ? "" : `,"tools":${tools}`) +
      (isOpenAi ? openAiHints(hints, tools !== "", style.extraBody) : "") +
      (hints.output === undefined || Object.hasOwn(style.extraBody, "response_format") ? "" : formatOf(hints.output)) +
      (stream ? streaming : "") +
      (maxOutputTokens === undefined ? "}" : `,"${limit}":${maxOutputTokens}}`)
  ]
}
