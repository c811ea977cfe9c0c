// Assembly: one answer put together from a completion, or from the chunks of a stream.
// Owns reading of what a server says, whatever its types are. Leaves judging the answer to `answer.ts` and `@reverie/model/wire`.
// I1  Nothing in the data makes it throw: what has the wrong type is as good as absent.
// I2  A call is distinguished from its neighbours by index and by id; the ids themselves are not kept.
// I3  Reasoning that a server wants back is put together as it came: `reasoning_details`, and `extra_content` of calls.
// I4  An image or audio that comes with an answer is a part of it; a line of text stands for an image at an address.

import { Buffer } from "node:buffer"
import { defined, type GivenPart, isJsonObject, type Json } from "@reverie/protocol"
import type { InferOptions } from "@reverie/model"
import type { Problem, RawReasoning } from "@reverie/model/wire"

export interface RawCall {
  readonly id: string
  name: string
  /** The text to be parsed, or the value when the server sent one. */
  arguments: Json
  /** The signature that a server puts beside a call, and wants back with it. */
  extra?: Json
}

/** Calls beyond this are counted and forgotten. */
const MOST_CALLS_KEPT = 1_024

export type Fields = { readonly [key: string]: Json }

export const textOf = (content: Json | undefined): string => {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  let text = ""
  for (const part of content) {
    const piece = isJsonObject(part) ? part["text"] : undefined
    if (typeof piece === "string") text += piece
  }
  return text
}

export const fieldText = (fields: Fields, name: string): string => {
  const value = fields[name]
  return typeof value === "string" ? value : ""
}

/** What is shown of a piece of arguments. */
export const pieceOf = (args: Json | undefined): string =>
  typeof args === "string" ? args : args === undefined || args === null ? "" : JSON.stringify(args)

/** The address of an image as servers write it: in an object, or alone. */
const imageUrl = (image: Fields): string => {
  const url = image["image_url"]
  return typeof url === "string" ? url : url !== undefined && isJsonObject(url) ? fieldText(url, "url") : ""
}

/** How audio of each format begins, in base64. */
const audioTypes: ReadonlyArray<readonly [begin: string, mediaType: string]> = [
  ["UklGR", "audio/wav"],
  ["SUQz", "audio/mpeg"],
  ["//", "audio/mpeg"],
  ["ZkxhQ", "audio/flac"],
  ["T2dnUw", "audio/ogg"]
]

/** Without a media type where the format is not known: the code that keeps parts says that in the text. */
const audioPart = (pieces: ReadonlyArray<string>): GivenPart => {
  const [first = ""] = pieces
  const mediaType = audioTypes.find(([begin]) => first.startsWith(begin))?.[1]
  const data = Buffer.concat(pieces.map((piece) => Buffer.from(piece, "base64")))
  return { type: "audio", data, ...defined({ mediaType }) }
}

/** What an answer of any wire is put together in. */
export type Assembled = Pick<Assembly, keyof Assembly>

export class Assembly {
  text = ""
  refusal = ""
  readonly calls: Array<RawCall> = []
  callCount = 0
  finish = ""
  model = ""
  usage: Json | undefined
  /** True once any choice was seen. */
  chosen = false
  /** True when there was reasoning. */
  reasoned = false
  /** True once nothing of the answer can come any more. */
  readonly isOver: boolean = false
  problem: Problem | undefined
  readonly #images = new Set<string>()
  readonly #audio: Array<string> = []
  readonly #details: Array<{ [key: string]: Json }> = []
  readonly #byIndex = new Map<number, RawCall>()
  readonly #dropped: RawCall = { id: "", name: "", arguments: "" }
  readonly #shown: InferOptions

  constructor(shown: InferOptions = {}) {
    this.#shown = shown
  }

  /** Takes a whole completion or one chunk. */
  take(data: Json): void {
    if (!isJsonObject(data)) return
    const error = data["error"]
    if (error) {
      this.problem = isJsonObject(error)
        ? { message: error["message"], code: error["code"], type: error["type"] }
        : { message: error }
      return
    }
    if (this.model === "") this.model = fieldText(data, "model")
    if (data["usage"]) this.usage = data["usage"]
    const choices = data["choices"]
    if (!Array.isArray(choices)) return
    for (const choice of choices) {
      if (isJsonObject(choice) && (choice["index"] === 0 || choice["index"] === undefined)) this.#choice(choice)
    }
  }

  /** Images and audio that it made. */
  get parts(): ReadonlyArray<GivenPart> {
    const images = [...this.#images].filter((url) => url.startsWith("data:"))
    return [
      ...images.map((data): GivenPart => ({ type: "image", data })),
      ...(this.#audio.length === 0 ? [] : [audioPart(this.#audio)])
    ]
  }

  get reasoning(): ReadonlyArray<RawReasoning> {
    const details = this.#details.length === 0 ? [] : [{ part: this.#details as Json, at: 0 }]
    const first = this.text === "" ? 0 : 1
    const signed = this.calls.flatMap(({ extra }, index) =>
      extra === undefined ? [] : [{ part: { extra_content: extra }, at: first + index }]
    )
    return [...details, ...signed]
  }

  get reasoningTokens(): number | undefined {
    const details = isJsonObject(this.usage ?? null) ? (this.usage as Fields)["completion_tokens_details"] : undefined
    const tokens = details !== undefined && isJsonObject(details) ? details["reasoning_tokens"] : undefined
    return typeof tokens === "number" && Number.isInteger(tokens) && tokens >= 0 ? tokens : undefined
  }

  /** `isSaid`: the same words stand beside it, as some servers send both. */
  #detail(piece: Fields, isDelta: boolean, isSaid: boolean): void {
    this.reasoned = true
    const thought = fieldText(piece, "text") || fieldText(piece, "summary")
    if (!isSaid && thought !== "") this.#shown.onReasoning?.(thought)
    const known = this.#details.find(({ index, type }) => index === piece["index"] && type === piece["type"])
    if (known === undefined || !isDelta) {
      if (this.#details.length < MOST_CALLS_KEPT) this.#details.push({ ...piece })
      return
    }
    for (const [name, value] of Object.entries(piece)) {
      const before = known[name]
      const isGrowing = ["text", "summary", "data"].includes(name)
      if (isGrowing && typeof before === "string" && typeof value === "string") known[name] = before + value
      else if (value !== null) known[name] = value
    }
  }

  #choice(choice: Fields): void {
    const delta = choice["delta"]
    const part = isJsonObject(delta) ? delta : choice["message"]
    if (isJsonObject(part)) {
      this.chosen = true
      this.#part(part, part === delta)
    }
    const finish = choice["finish_reason"]
    if (typeof finish === "string" && finish !== "") this.finish = finish
  }

  #part(part: Fields, isDelta: boolean): void {
    this.#say(textOf(part["content"]))
    this.#media(part)
    this.refusal += fieldText(part, "refusal")
    const thought = fieldText(part, "reasoning_content") || fieldText(part, "reasoning")
    if (thought !== "") {
      this.reasoned = true
      this.#shown.onReasoning?.(thought)
    }
    const details = part["reasoning_details"]
    if (Array.isArray(details)) {
      for (const each of details) if (isJsonObject(each)) this.#detail(each, isDelta, thought !== "")
    }
    const calls = part["tool_calls"]
    if (Array.isArray(calls)) {
      for (const call of calls) if (isJsonObject(call)) this.#call(call, isDelta)
    }
    const legacy = part["function_call"]
    if (isJsonObject(legacy)) this.#call({ index: 0, function: legacy }, isDelta)
  }

  #say(piece: string): void {
    if (piece === "") return
    this.text += piece
    this.#shown.onText?.(piece)
  }

  /** Images stand beside the text, or in it; audio brings its words along. */
  #media(part: Fields): void {
    for (const images of [part["images"], part["content"]]) {
      if (Array.isArray(images)) for (const image of images) if (isJsonObject(image)) this.#image(imageUrl(image))
    }
    const audio = part["audio"]
    if (audio === undefined || !isJsonObject(audio)) return
    this.#say(fieldText(audio, "transcript"))
    const data = fieldText(audio, "data")
    if (data !== "") this.#audio.push(data)
  }

  /** A server may send it with more than one chunk. */
  #image(url: string): void {
    if (url === "" || this.#images.has(url)) return
    this.#images.add(url)
    if (!url.startsWith("data:")) this.#say(`${this.text === "" ? "" : "\n"}[image at ${url}]`)
  }

  #call(item: Fields, isDelta: boolean): void {
    const asked = item["function"]
    const fields = isJsonObject(asked) ? asked : {}
    const id = fieldText(item, "id")
    const name = fieldText(fields, "name")
    const index = typeof item["index"] === "number" ? item["index"] : undefined
    const known = isDelta ? this.#continued(index, id, name) : undefined
    const call = known ?? this.#begin(index, id, name)
    if (call === this.#dropped) return
    // A name may come in pieces, or be repeated with every piece of the arguments.
    if (known !== undefined && name !== "" && name !== call.name) call.name = id === "" ? call.name + name : name
    const extra = item["extra_content"]
    if (extra !== undefined && isJsonObject(extra)) call.extra = extra
    const args = fields["arguments"]
    if (typeof args === "string" && typeof call.arguments === "string") call.arguments += args
    else if (args !== undefined && args !== null) call.arguments = args
    this.#shown.onCall?.({ call: this.calls.indexOf(call), tool: call.name, arguments: pieceOf(args) })
  }

  /** A call that was found elsewhere than among the calls. */
  addCall(name: string, args: Json): void {
    this.#begin(undefined, "", name).arguments = args
  }

  /** The call that a piece of a stream goes on with; undefined when it begins one. */
  #continued(index: number | undefined, id: string, name: string): RawCall | undefined {
    const call = index === undefined ? this.calls.at(-1) : this.#byIndex.get(index)
    if (call === undefined || call === this.#dropped) return call
    if (index === undefined) return id === call.id || (id === "" && name === "") ? call : undefined
    // Some servers put every parallel call at index 0; only the id tells that another one begins.
    return id !== "" && name !== "" && call.id !== "" && id !== call.id ? undefined : call
  }

  #begin(index: number | undefined, id: string, name: string): RawCall {
    this.callCount++
    const call = this.calls.length < MOST_CALLS_KEPT ? { id, name, arguments: "" } : this.#dropped
    if (call !== this.#dropped) this.calls.push(call)
    if (index !== undefined) this.#byIndex.set(index, call)
    return call
  }
}
