// AgentMessages: what an agent of Letta said and heard, as messages of a history.
// Owns the reading of roles, contents and calls. Leaves counting their tokens to the commit.
// G1  Every call that is kept has exactly one result behind it; calls and results without the other are left out.
// G2  What was said by `send_message` is said; what was thought is left behind, and reported.
// G3  No role but user, assistant and tool comes through: a system message of a file is dropped.

import { isJsonObject, type Json, type Message, parseJson, type ToolCall, defined } from "@reverie/protocol"
import * as Result from "effect/Result"
import { type Leave, listIn, objectIn, textIn } from "./reading.ts"

/** The newest are kept. */
const MAX_MESSAGES = 1_000
const SPEAKING = "send_message"

type JsonObject = { readonly [key: string]: Json }
type Drafted = Omit<Message, "tokens">

const partText = (part: Json): string => {
  if (typeof part === "string") return textIn(part)
  const { text, type } = objectIn(part)
  return type === undefined || type === "text" ? textIn(text) : ""
}

const contentOf = (message: JsonObject): string => {
  const content = message["content"] ?? message["text"]
  return typeof content === "string"
    ? textIn(content)
    : listIn(content)
        .map(partText)
        .filter((text) => text !== "")
        .join("\n")
}

/** Letta wraps what people say in an object with the time; heartbeats and logins are nothing that was said. */
const saidIn = (content: string): string | undefined => {
  if (!content.startsWith("{")) return content
  const wrapped = Result.getOrElse(parseJson(content), () => null)
  if (!isJsonObject(wrapped) || typeof wrapped["type"] !== "string") return content
  return wrapped["type"] === "user_message" ? textIn(wrapped["message"]) : undefined
}

interface Asked {
  readonly id: string
  readonly tool: string
  readonly text: string
}

const asked = (call: Json): Asked | undefined => {
  const { function: called, id } = objectIn(call)
  const { arguments: text, name } = objectIn(called)
  if (typeof id !== "string" || typeof name !== "string") return undefined
  return {
    id,
    tool: textIn(name)
      .replaceAll(/[^A-Za-z0-9_-]+/g, "_")
      .slice(0, 64),
    text: textIn(text)
  }
}

const argumentsIn = (text: string): Json => Result.getOrElse(parseJson(text), () => null)

const callOf = (given: Asked, id: string): ToolCall => {
  const value = argumentsIn(given.text)
  return isJsonObject(value)
    ? { id, tool: given.tool, arguments: value }
    : { id, tool: given.tool, arguments: {}, malformed: "its arguments are no object" }
}

const timeOf = (message: JsonObject): number => {
  const at = typeof message["created_at"] === "string" ? Date.parse(message["created_at"]) : Number.NaN
  return Number.isFinite(at) && at >= 0 ? at : 0
}

/** Why messages were left behind, and how many. */
class Totals {
  readonly #counts = new Map<string, number>()
  add(why: string): void {
    this.#counts.set(why, (this.#counts.get(why) ?? 0) + 1)
  }
  tell(leave: Leave): void {
    for (const [why, count] of this.#counts) leave(`${count} messages`, why)
  }
}

const resultsIn = (messages: ReadonlyArray<JsonObject>): ReadonlyMap<string, number> =>
  new Map(
    messages.flatMap((message, index) =>
      message["role"] === "tool" && typeof message["tool_call_id"] === "string"
        ? [[message["tool_call_id"], index]]
        : []
    )
  )

class Conversation {
  readonly #results: ReadonlyMap<string, number>
  readonly #kept = new Map<string, ToolCall>()
  readonly #totals = new Totals()
  readonly said: Array<Drafted> = []
  #thoughts = 0

  constructor(messages: ReadonlyArray<JsonObject>) {
    this.#results = resultsIn(messages)
    for (const [index, message] of messages.entries()) this.#take(message, index)
  }

  tell(leave: Leave): void {
    this.#totals.tell(leave)
    if (this.#thoughts > 0) leave(`${this.#thoughts} inner thoughts`, "only what was said aloud is history here")
  }

  #take(message: JsonObject, index: number): void {
    switch (message["role"]) {
      case "user":
        return this.#user(message)
      case "assistant":
        return this.#assistant(message, index)
      case "tool":
        return this.#tool(message, index)
      case "system":
        return this.#totals.add("system messages are written anew from the definition")
      default:
        return this.#totals.add("of a role that is not known here")
    }
  }

  #user(message: JsonObject): void {
    const content = saidIn(contentOf(message))
    if (content === undefined || content === "") return this.#totals.add("nothing was said in them")
    const name = textIn(message["name"]).slice(0, 64)
    this.said.push({ role: "user", content, ...defined({ name: name === "" ? undefined : name }), at: timeOf(message) })
  }

  #assistant(message: JsonObject, index: number): void {
    const calls = listIn(message["tool_calls"]).flatMap((call) => asked(call) ?? [])
    const spoken = calls
      .filter(({ tool }) => tool === SPEAKING)
      .map(({ text }) => textIn(objectIn(argumentsIn(text))["message"]))
    const content = contentOf(message)
    const isThought = content !== "" && calls.length > 0
    if (isThought) this.#thoughts++
    const kept = calls
      .filter(({ id, tool }) => tool !== SPEAKING && (this.#results.get(id) ?? -1) > index && !this.#kept.has(id))
      .map((each, place) => {
        const call = callOf(each, `0.${this.said.length + 1}.${place}`)
        this.#kept.set(each.id, call)
        return call
      })
    const text = isThought ? spoken.join("\n") : content
    if (text === "" && kept.length === 0) return this.#totals.add("nothing was said in them")
    this.said.push({
      role: "assistant",
      content: text,
      ...defined({ calls: kept.length === 0 ? undefined : kept }),
      at: timeOf(message)
    })
  }

  #tool(message: JsonObject, index: number): void {
    const id = typeof message["tool_call_id"] === "string" ? message["tool_call_id"] : ""
    const call = this.#kept.get(id)
    // Of several results the last one counts.
    if (call === undefined || this.#results.get(id) !== index)
      return this.#totals.add("results of calls that are not carried over")
    this.said.push({ role: "tool", content: contentOf(message), name: call.tool, call: call.id, at: timeOf(message) })
  }
}

/** The messages of an agent, oldest first. */
export const messagesOf = (agent: JsonObject, leave: Leave): ReadonlyArray<Drafted> => {
  const given = listIn(agent["messages"]).filter(isJsonObject)
  if (given.length > MAX_MESSAGES)
    leave(`${given.length - MAX_MESSAGES} older messages`, `the newest ${MAX_MESSAGES} are carried over`)
  const conversation = new Conversation(given.slice(-MAX_MESSAGES))
  conversation.tell(leave)
  return conversation.said
}
