// ResponsesAnswer: one answer of the Responses API, put together from an object or from the events of a stream.
// Owns reading of what a server says, whatever its types are. Leaves judging the answer to `answer.ts` and `@reverie/model/wire`.
// I1  Nothing in the data makes it throw: what has the wrong type is as good as absent.
// I2  Items are distinguished by their ids, else by their index; what the last event holds stands in place of what came in pieces.
// I3  An image that comes with an answer is a part of it.

import { type GivenPart, isJsonObject, type Json } from "@reverie/protocol"
import type { InferOptions } from "@reverie/model"
import type { Problem, RawReasoning } from "@reverie/model/wire"
import { type Assembled, fieldText, type Fields, pieceOf, type RawCall, textOf } from "./assembly.ts"
import { keptItem, responsesUsage } from "./responses.ts"

interface Item {
  kind: string
  text: string
  refusal: string
  readonly call: { id: string; name: string; arguments: Json }
  part: Json | undefined
  /** A `data:` URL. */
  image: string
}

/** Items beyond this are counted and forgotten. */
const MOST_ITEMS_KEPT = 2_048

const finishes: Readonly<Record<string, string>> = {
  completed: "stop",
  failed: "error",
  cancelled: "error",
  in_progress: "",
  queued: ""
}

const finishOf = (response: Fields): string => {
  const status = fieldText(response, "status")
  if (status !== "incomplete") return finishes[status] ?? status
  const details = response["incomplete_details"]
  const reason = isJsonObject(details) ? fieldText(details, "reason") : ""
  return reason === "content_filter" ? reason : "length"
}

const objectIn = (value: Json | undefined): Fields => (value !== undefined && isJsonObject(value) ? value : {})

const problemIn = (error: Json): Problem =>
  isJsonObject(error) ? { message: error["message"], code: error["code"], type: error["type"] } : { message: error }

export class ResponsesAnswer implements Assembled {
  finish = ""
  model = ""
  usage: Json | undefined
  chosen = false
  problem: Problem | undefined
  isOver = false
  #items: Array<Item> = []
  #left = 0
  readonly #byKey = new Map<string, Item>()
  readonly #shown: InferOptions

  constructor(shown: InferOptions = {}) {
    this.#shown = shown
  }

  get text(): string {
    return this.#items.map(({ text }) => text).join("")
  }

  get refusal(): string {
    return this.#items.map(({ refusal }) => refusal).join("")
  }

  get parts(): ReadonlyArray<GivenPart> {
    return this.#items.flatMap(({ image }) => (image === "" ? [] : [{ type: "image", data: image }]))
  }

  get calls(): Array<RawCall> {
    return this.#items.filter(({ kind }) => kind === "function_call").map(({ call }) => call)
  }

  get callCount(): number {
    return this.calls.length + this.#left
  }

  get reasoned(): boolean {
    return this.#items.some(({ kind }) => kind === "reasoning")
  }

  get reasoning(): ReadonlyArray<RawReasoning> {
    const kept: Array<RawReasoning> = []
    let hasText = 0
    let calls = 0
    for (const { kind, part, refusal, text } of this.#items) {
      if (kind === "function_call") calls++
      else if (text !== "" || refusal !== "") hasText = 1
      if (part !== undefined) kept.push({ part, at: hasText + calls })
    }
    return kept
  }

  get reasoningTokens(): number | undefined {
    const tokens = responsesUsage(this.usage).reasoning
    return typeof tokens === "number" && Number.isInteger(tokens) && tokens >= 0 ? tokens : undefined
  }

  /** Takes a whole response or one event. */
  take(data: Json): void {
    if (!isJsonObject(data)) return
    const type = fieldText(data, "type")
    if (type === "error" || data["error"]) {
      this.problem = problemIn(data["error"] || data)
      return
    }
    if (type.startsWith("response.")) this.#event(type.slice("response.".length), data)
    else this.#response(data)
  }

  addCall(name: string, args: Json): void {
    const item = this.#begin("function_call")
    item.call.name = name
    item.call.arguments = args
  }

  #event(type: string, data: Fields): void {
    switch (type) {
      case "completed":
      case "incomplete":
      case "failed": {
        const response = objectIn(data["response"])
        this.#response(response["status"] === undefined ? { ...response, status: type } : response)
        this.isOver = true
        return
      }
      case "created":
      case "in_progress":
        this.#named(objectIn(data["response"]))
        return
      case "output_item.added": {
        const item = this.#begin("", data)
        this.#fill(item, objectIn(data["item"]))
        if (item.kind === "function_call") this.#showCall(item.call, pieceOf(item.call.arguments))
        return
      }
      case "output_item.done": {
        const item = objectIn(data["item"])
        this.#fill(this.#known(data, fieldText(item, "id")) ?? this.#begin("", data), item)
        return
      }
      default:
        this.#piece(type, data)
    }
  }

  #piece(type: string, data: Fields): void {
    const piece = fieldText(data, "delta")
    switch (type) {
      case "output_text.delta":
        this.#found("message", data).text += piece
        if (piece !== "") this.#shown.onText?.(piece)
        return
      case "refusal.delta":
        this.#found("message", data).refusal += piece
        return
      case "reasoning_text.delta":
      case "reasoning_summary_text.delta":
        this.#found("reasoning", data)
        if (piece !== "") this.#shown.onReasoning?.(piece)
        return
      case "reasoning_summary_part.added":
        // Its parts are paragraphs.
        if (data["summary_index"] !== 0) this.#shown.onReasoning?.("\n\n")
        return
      case "function_call_arguments.delta": {
        const { call } = this.#found("function_call", data)
        if (typeof call.arguments === "string") call.arguments += piece
        this.#showCall(call, piece)
        return
      }
      case "function_call_arguments.done": {
        const args = data["arguments"]
        if (args !== undefined && args !== null) this.#found("function_call", data).call.arguments = args
      }
    }
  }

  #showCall(call: Item["call"], piece: string): void {
    const at = this.calls.indexOf(call)
    if (at >= 0) this.#shown.onCall?.({ call: at, tool: call.name, arguments: piece })
  }

  #named(response: Fields): void {
    if (this.model === "") this.model = fieldText(response, "model")
  }

  #response(response: Fields): void {
    this.#named(response)
    if (response["error"]) this.problem = problemIn(response["error"])
    if (response["usage"]) this.usage = response["usage"]
    const output = response["output"]
    if (Array.isArray(output)) {
      this.chosen = this.chosen || output.length === 0 || output.some((each) => isJsonObject(each))
      if (output.length > 0) this.#whole(output)
    }
    this.finish = finishOf(response)
  }

  /** What came in pieces is put aside for it. */
  #whole(output: ReadonlyArray<Json>): void {
    const said = this.text
    this.#items = []
    this.#byKey.clear()
    this.#left = 0
    for (const each of output) if (isJsonObject(each)) this.#fill(this.#begin(""), each)
    if (said === "" && this.text !== "") this.#shown.onText?.(this.text)
  }

  #begin(kind: string, data: Fields = {}): Item {
    this.chosen = true
    const item: Item = {
      kind,
      text: "",
      refusal: "",
      call: { id: "", name: "", arguments: "" },
      part: undefined,
      image: ""
    }
    if (this.#items.length >= MOST_ITEMS_KEPT) this.#left++
    else this.#items.push(item)
    const id = fieldText(data, "item_id") || fieldText(objectIn(data["item"]), "id")
    if (id !== "") this.#byKey.set(id, item)
    const index = data["output_index"]
    if (typeof index === "number") this.#byKey.set(`#${index}`, item)
    return item
  }

  #known(data: Fields, id: string): Item | undefined {
    const named = id === "" ? undefined : this.#byKey.get(id)
    const index = data["output_index"]
    return named ?? (typeof index === "number" ? this.#byKey.get(`#${index}`) : undefined)
  }

  /** The item that a piece belongs to; begun where nothing has announced it. */
  #found(kind: string, data: Fields): Item {
    const item = this.#known(data, fieldText(data, "item_id")) ?? this.#begin(kind, data)
    if (item.kind === "") item.kind = kind
    return item
  }

  #fill(item: Item, data: Fields): void {
    item.kind = fieldText(data, "type") || item.kind
    switch (item.kind) {
      case "message": {
        const content = data["content"]
        item.text = textOf(content) || item.text
        const refusals = Array.isArray(content) ? content.map((part) => fieldText(objectIn(part), "refusal")) : []
        item.refusal = refusals.join("") || item.refusal
        return
      }
      case "function_call": {
        item.call.name = fieldText(data, "name") || item.call.name
        const args = data["arguments"]
        if (args !== undefined && args !== null && args !== "") item.call.arguments = args
        return
      }
      case "image_generation_call": {
        const made = fieldText(data, "result")
        if (made !== "") item.image = `data:image/${fieldText(data, "output_format") || "png"};base64,${made}`
        return
      }
      case "reasoning":
        item.part = keptItem(data) ?? item.part
    }
  }
}
