// Envelope: the durable wrapper of one event.
// Owns its shape and its format version. Leaves acceptance to the mailbox.
// I1  `id` is the idempotency key within the assistant it is sent to.
// I2  `seq` grows along each lane of one mailbox, in the order of acceptance.

import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Result from "effect/Result"
import { type AnswerForm, Event, type Lane, laneOf } from "./event.ts"
import { Address, EnvelopeId, isJsonObject, type Json, parseJson } from "../json.ts"
import { senderName } from "../spoken.ts"
import type { ContentPart } from "./part.ts"

export const ENVELOPE_VERSION = 1

/** How an assistant is named as the sender of an envelope. */
export const assistantSender = (assistant: string): string => `assistant:${assistant}`

/** The assistant that a sender names; undefined for everybody else. */
export const sendingAssistant = (from: string): string | undefined => {
  const name = senderName(from)
  return name === from ? undefined : name
}

export const Envelope = Schema.Struct({
  v: Schema.Literal(ENVELOPE_VERSION),
  id: EnvelopeId,
  to: Address,
  /** Who sent it, for people and prompts; `assistant:<id>` when another assistant did. */
  from: Schema.String.check(Schema.isMaxLength(256)),
  event: Event,
  /** How many assistants have passed this on; stops two of them from talking for ever. */
  hops: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
  /** W3C trace context of the sender. */
  traceparent: Schema.optionalKey(Schema.String)
})
export type Envelope = typeof Envelope.Type

/** An envelope in a mailbox. Times are milliseconds since the epoch. */
export interface AcceptedEnvelope extends Envelope {
  readonly lane: Lane
  readonly seq: number
  readonly acceptedAt: number
}

/** A row that cannot be read as an envelope: it keeps its place so that it can be dead-lettered with a reason. */
export interface UnreadableEnvelope {
  readonly unreadable: string
  readonly id: EnvelopeId
  readonly lane: Lane
  readonly seq: number
}

/** What `accept` answers. A duplicate was accepted before: nothing new was written. */
export interface Receipt {
  /** `duplicate`: the same id was accepted before, with the same content. */
  readonly outcome: "accepted" | "duplicate"
  /** The id under which it was sent. */
  readonly envelope: EnvelopeId
  /** The assistant that has it in its mailbox. */
  readonly to: Address
}

/** How far each lane has been handled: the `seq` of the last acknowledged envelope. */
export type Cursors = Readonly<Record<Lane, number>>

export const NO_CURSORS: Cursors = { control: 0, reply: 0, mail: 0 }

// Message: one line of an assistant's history, and the tool calls it may carry.
// I1  Every tool call of an assistant message has one tool message with the same `call`, later in the history.
// I2  Call ids are ours (`<tick>.<iteration>.<index>`), never the provider's, so two can not collide.

export type Role = "system" | "user" | "assistant" | "tool"

export interface ToolCall {
  readonly id: string
  readonly tool: string
  /** Arguments as parsed, or why they could not be. */
  readonly arguments: Json
  readonly malformed?: string
}

/** Reasoning of a model, as its provider wants it back. It is of use to that provider alone, and no one else is sent it. */
export interface ReasoningPart {
  /** Whose it is: the wire and the place of the server. */
  readonly provider: string
  readonly model: string
  /** Opaque. */
  readonly part: Json
  /** How much of what was said and called came before it: a text is one, and each call is one. */
  readonly at: number
  readonly tokens: number
}

/** What a person wrote to a decision about a tool call. */
export interface DecisionNote {
  /** Who decided. */
  readonly by: string
  readonly decision: "approved" | "denied"
  readonly text: string
}

/** Stands in the place of a text that was forgotten. */
export const FORGOTTEN = "[forgotten]"

export interface Message {
  readonly role: Role
  readonly content: string
  /** Who speaks, for user messages; the tool, for tool messages. */
  readonly name?: string
  /** Images, files and audio that belong to it. */
  readonly parts?: ReadonlyArray<ContentPart>
  readonly calls?: ReadonlyArray<ToolCall>
  /** The call that this tool message answers. */
  readonly call?: string
  /** What a model thought before it said this. */
  readonly reasoning?: ReadonlyArray<ReasoningPart>
  /** Ids of memory blocks that a user message refers to. */
  readonly blocks?: ReadonlyArray<string>
  /** The form that the answer to a user message must have, as JSON Schema. */
  readonly output?: AnswerForm
  /** What the model reads after an answer of its own that had another form than it must have. */
  readonly rejected?: string
  /** What the person wrote who decided about the call that a tool message answers. The model reads it behind the content. */
  readonly note?: DecisionNote
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Counted once, when the message was committed. */
  readonly tokens: number
  /** What Reverie knows of it; no model learns it. Its `type` says what the message is besides something said. */
  readonly meta?: { readonly [key: string]: Json }
}

/** Where a message stands in the ledger: the number of its entry, and its index among the messages of that entry. */
export interface MessagePlace {
  readonly no: number
  readonly index: number
}

/** A message of the history, with its place. */
export interface PlacedMessage {
  /** The entry and the index of the message in it. */
  readonly place: MessagePlace
  /** What was said. */
  readonly message: Message
}

/** True when one place lies before another one in the history. */
export const isBefore = (one: MessagePlace, other: MessagePlace): boolean =>
  one.no < other.no || (one.no === other.no && one.index < other.index)

/** Tokens of one model call, as the provider reported them or as we counted them. */
export interface Usage {
  /** Tokens of the prompt. */
  readonly inputTokens: number
  /** Tokens of the reply, reasoning included. */
  readonly outputTokens: number
  /** Among the input, out of the provider's cache. */
  readonly cachedInputTokens?: number
  /** Among the output, of no text that anyone reads. */
  readonly reasoningTokens?: number
  /** Who counted. */
  readonly source: "provider" | "counted"
}

/** What a model may be expected to have stopped for. */
export type FinishReason = "stop" | "tool-calls" | "length" | "content-filter"

export const toolCategories = ["safe_chain", "terminal", "dangerous", "async_required"] as const
/**
 * safe_chain: fast and harmless, chains freely. terminal: speaks, ends the loop. dangerous: changes the world, at most
 * one a tick. async_required: answered by a later envelope.
 */
export type ToolCategory = (typeof toolCategories)[number]

// Ask: what a model is asked for memory's sake while an assistant sleeps or compacts its history.
// A1  The instructions begin with the line `Task: <task>`; what is to be read is data, and never part of them.
// A2  Each thing to be read is one line, `[id] text`, so that no text can pose as another one.
// A3  The answer is one JSON array. What does not fit is dropped and counted, never guessed at.

export const tasks = [
  /**
   * Lines `[id] 2023-05-08T13:56Z speaker: text`. Answer, one object an item that is worth it:
   * `{"id", "importance": 1-10, "facts": [{"text", "entities": ["name"]}]}`.
   */
  "consolidate",
  /**
   * Lines `[fact id] text`, each followed by its nearest neighbours as lines `  [fact id] text`. Answer, one object a
   * fact: `{"fact", "action": "ADD" | "UPDATE" | "IGNORE", "target": id or null}`. UPDATE: the fact takes the place of the
   * target, which it contradicts or renews. IGNORE: the target says it already.
   */
  "route",
  /** Lines as in `route`. Answer: `{"fact", "links": [{"to": id, "why": "few words"}]}`. */
  "link",
  /**
   * First `Entity: name`, then lines `[attribute id] text` under `Known:`, then lines `[fact id] text` under `New:`. Answer:
   * `{"action": "ADD" | "UPDATE" | "IGNORE", "target": attribute id or null, "attribute": "text", "evidence": [fact ids]}`.
   */
  "profile",
  /** The journal and three questions. Answer: `{"insight", "evidence": [entry ids]}`. */
  "reflect",
  /**
   * First, as lines `[summary] text`, what is known of everything before, then the messages that are to be compacted, one a
   * line: `[m/12/0] 2023-05-08T13:56Z speaker: text`. The answer is a plain text, no JSON, and holds what was known too.
   */
  "summarize",
  /** The conversation, with tools. The answer is calls of tools, and `noop` when nothing is left to save. */
  "extract"
] as const
export type Task = (typeof tasks)[number]

export interface Ask {
  readonly task: Task
  /** Instructions, for the system role. */
  readonly instructions: string
  /** What is to be read, for the user role. */
  readonly data: string
}

export const taskLine = (task: Task): string => `Task: ${task}`

/** The task that instructions are for; undefined when they are for none. */
export const taskOf = (instructions: string): Task | undefined => {
  const [, named] = /^Task: (\w+)$/m.exec(instructions) ?? []
  return tasks.find((task) => task === named)
}

/** A text on one line. */
export const onOneLine = (text: string): string => text.replace(/\s+/g, " ").trim()

export const askLine = (id: string, text: string): string => `[${id}] ${onOneLine(text)}`

/** Stands above the lines of one conversation, where an ask has those of several: people of two do not hear each other. */
export const conversationLine = (number: number): string => `Conversation ${number}:`

/** Stands below a line that the assistant answered before anyone else spoke. */
export const ANSWERED = "(answered)"

// Answer: a model's free answer to a question that asked for data.
// I1  Any text gives a value or undefined; none throws.
// I2  What was cut off in the middle of a list still gives the objects that were whole.

/** The JSON between the first opening and the last closing bracket, whatever stands around it. */
export const jsonIn = (answer: string): Json | undefined => {
  const start = answer.search(/[[{]/)
  const end = Math.max(answer.lastIndexOf("]"), answer.lastIndexOf("}"))
  if (start < 0 || end < start) return undefined
  const parsed = parseJson(answer.slice(start, end + 1))
  return Result.isSuccess(parsed) ? parsed.success : undefined
}

/** The array in the answer, bare or as the first one in an object. */
export const listIn = (answer: string): ReadonlyArray<Json> | undefined => {
  const value = jsonIn(answer)
  if (Array.isArray(value)) return value
  return isJsonObject(value) ? Object.values(value).find((each) => Array.isArray(each)) : undefined
}

/** The lines that are numbered or have a bullet, without it. */
export const linesIn = (answer: string): ReadonlyArray<string> =>
  answer.split("\n").flatMap((line) => /^\s*(?:\d{1,2}[.)]|[-*•])\s+(.+)$/.exec(line)?.[1]?.trim() ?? [])

/** Where the object that opens at `start` ends, after its last bracket; -1 when it never does. */
const endOfObject = (text: string, start: number): number => {
  let depth = 0
  let inString = false
  for (let index = start; index < text.length; index++) {
    const char = text[index]
    if (inString) {
      if (char === "\\") index++
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === "{") depth++
    else if (char === "}" && --depth === 0) return index + 1
  }
  return -1
}

/** A stray bracket costs one look at the rest of the text; an answer has few, and garbage is given up. */
const MAX_STRAY_BRACKETS = 32

const wholeObjects = (answer: string): ReadonlyArray<Json> => {
  const found: Array<Json> = []
  let strays = 0
  for (let at = answer.indexOf("{"); at >= 0 && strays <= MAX_STRAY_BRACKETS;) {
    const end = endOfObject(answer, at)
    const parsed = end < 0 ? Result.fail("cut off") : parseJson(answer.slice(at, end))
    if (Result.isSuccess(parsed)) found.push(parsed.success)
    else strays++
    at = answer.indexOf("{", Result.isSuccess(parsed) ? end : at + 1)
  }
  return found
}

const rowsOf = (value: Json, key: string): ReadonlyArray<Json> => {
  if (Array.isArray(value)) return value
  if (!isJsonObject(value)) return []
  return Object.hasOwn(value, key) ? [value] : (Object.values(value).find((each) => Array.isArray(each)) ?? [])
}

/**
 * The rows of the list in the answer, each of which should have the key: a bare array, the array in an object, a single
 * row, and when nothing of it can be read as a whole, the objects in it that can.
 */
export const rowsIn = (answer: string, key: string): ReadonlyArray<Json> => {
  const value = jsonIn(answer)
  return value === undefined ? wholeObjects(answer).flatMap((each) => rowsOf(each, key)) : rowsOf(value, key)
}

// Urgency: who waits for what an envelope brings.

/** order: halt and its like. person: someone waits for an answer. routine: no one does. The most urgent first. */
export const URGENCIES = ["order", "person", "routine"] as const
export type Urgency = (typeof URGENCIES)[number]

/** People before timers, and before what assistants tell each other. */
export const urgencyOf = ({ event, from }: Envelope): Urgency => {
  if (laneOf(event) === "control") return "order"
  const isRoutine = event.type === "timer" || event.type === "sleep" || sendingAssistant(from) !== undefined
  return isRoutine ? "routine" : "person"
}
