// Messages: how a message of the history stands in an index.
// Owns which messages are worth it, whom they are from, and their names and bounds. Leaves what was said around them to
// `indexing.ts`.
// M1  Never indexed: what Reverie wrote for the model (markers, timers), what says nothing, and a tool's result that
//     only repeats what the assistant keeps, or that it failed.
// M2  Whatever was said, an index receives at most so many characters of it.

import {
  type AssistantId,
  defined,
  FORGOTTEN,
  type Entry,
  type Message,
  type MessagePlace,
  sendingAssistant,
  textWithParts
} from "@reverie/protocol"
import { cleanText } from "../integrity/clean-text.ts"
import { type Origin, type OriginType, trustOf } from "../fact.ts"

// MemoryEntry: one thing that can be recalled, as an index holds it.
// E1  An entry's id follows from where it is kept, so that indexing the same thing twice is indexing it once.
// E2  Nothing in an index is the only copy of anything.

export const memoryKinds = [
  /** A message of the history: what others said, and what tools answered. */
  "message",
  /** What the assistant itself said: mostly what it has from others. */
  "answer",
  /** A journal entry. */
  "episode",
  /** Semantic memory: a fact with its sources. */
  "fact",
  /** Archival memory: a text that was put away to be searched for. */
  "passage",
  /** A profile of a person or a thing; recalled only when this kind is asked for. */
  "profile",
  /** A memory block that is searchable. */
  "block"
] as const
/** The kinds of memories that are searched. */
export type MemoryKind = (typeof memoryKinds)[number]

/** What a question is answered from when it names no kinds: profiles are looked up apart from episodes. */
export const episodicKinds: ReadonlyArray<MemoryKind> = ["message", "answer", "episode", "fact", "passage", "block"]

/** Besides its owner: no one, those who are named, or every assistant of the tenant. */
export type Readers = "owner" | "fleet" | ReadonlyArray<AssistantId>

/** The thread of what belongs to no conversation, and may come to mind in each. */
export const OF_NO_ONE = ""

/** A memory as it is found. */
export interface MemoryEntry {
  /** Unique within its owner: see `entryId`. */
  readonly id: string
  /** What kind of memory it is. */
  readonly kind: MemoryKind
  /** When it happened or was learnt, in milliseconds since the epoch. */
  readonly at: number
  /** Its words. */
  readonly text: string
  /** Who said it. Searched with the text. */
  readonly speaker?: string
  /** What was said around it: searched with less weight, never shown. */
  readonly context?: string
  /** The conversation it belongs to: the name of who began it; `OF_NO_ONE` for what belongs to none and is no secret. */
  readonly thread?: string
  /** Names of whom and what it is about. */
  readonly entities: ReadonlyArray<string>
  /** Words that it was given to be found by. */
  readonly tags: ReadonlyArray<string>
  /** How far its source is believed, 0 to 1. */
  readonly trust: number
  /** 1 to 10. */
  readonly importance: number
  /** Who may find it, besides its owner. */
  readonly readers: Readers
}

const prefixes = { message: "m", answer: "m", episode: "j", fact: "f", passage: "p", profile: "e", block: "b" } as const

export const messageId = ({ index, no }: MessagePlace): string => `m/${no}/${index}`

/** The id of what is kept under a key of its kind. */
export const entryId = (kind: Exclude<MemoryKind, "message" | "answer">, key: string): string =>
  `${prefixes[kind]}/${key}`

/** The place of the message that an id names; undefined when it names something else. */
export const placeOfId = (id: string): MessagePlace | undefined => {
  const [, no, index] = /^m\/(\d+)\/(\d+)$/.exec(id) ?? []
  return no === undefined || index === undefined ? undefined : { no: Number(no), index: Number(index) }
}

/** The entry of the ledger that a message of this id stands in; undefined where it is no message. */
export const entryNoOfId = (id: string): number | undefined =>
  id.startsWith("m/") ? Number.parseInt(id.slice(2), 10) : undefined

/** The key under which the thing is kept that an id names; undefined for a message and for no id at all. */
export const keyOfId = (id: string): string | undefined => (/^[jfpeb]\//.test(id) ? id.slice(2) : undefined)

/** In UTF-16 units. A result is mostly machine's talk: its beginning says what it is. */
const MAX_TEXT_CHARS = 8_000
const MAX_RESULT_CHARS = 2_000
/** A result shorter than this is an acknowledgement. */
const MIN_RESULT_CHARS = 16
const MAX_NAMES = 8

const importanceOf: Readonly<Record<OriginType, number>> = {
  person: 5,
  assistant: 5,
  tool: 4,
  ambientMessages: 3,
  self: 4
}

/** built-in tools whose results only show what is kept anyway, or say that it was kept. */
export const echoingTools: ReadonlySet<string> = new Set([
  "noop",
  "create_project",
  "list_projects",
  "swap_project",
  "update_project",
  "add_goal",
  "update_goal",
  "decompose_goal",
  "add_session_memory",
  "compact_session_memory",
  "add_journal_entry",
  "review_journal",
  "get_system_status",
  "update_system_prompt",
  "update_entity_observation",
  "recall_memories",
  "store_memory",
  "delete_archival",
  "read_history",
  "block",
  "block_edit",
  "go_to_sleep",
  "set_reminder",
  "list_reminders",
  "cancel_reminder"
])

/** Whom a message is from. */
export const originOf = (message: Message, self: string): Origin => {
  const { name = "", role } = message
  if (role === "tool") return { type: "tool", name: name === "" ? "tool" : name }
  if (role !== "user") return { type: "self", name: self }
  const assistant = sendingAssistant(name)
  return assistant === undefined ? { type: "person", name } : { type: "assistant", name: assistant }
}

/** Refused, failed, or interrupted: it says nothing about the world. */
const isTrouble = (content: string): boolean =>
  /^(?:Refused|Failed): |^The (?:tool|call of|arguments of) "|^There is no tool "/.test(content)

/** True when a message of this entry is worth finding again. */
export const isWorthIndexing = (entry: Entry, message: Message): boolean => {
  const { step } = entry
  const { name = "", parts, rejected, role } = message
  const content = textWithParts(message.content, parts)
  if (content === FORGOTTEN) return false
  switch (role) {
    case "user":
      return content.trim() !== "" && !isTimer(entry)
    case "assistant":
      return content.trim() !== "" && rejected === undefined
    case "tool":
      return (
        content.trim().length >= MIN_RESULT_CHARS &&
        !echoingTools.has(name) &&
        !(step?.kind === "tool" && !step.ok) &&
        !isTrouble(content)
      )
    default:
      return false
  }
}

/** True when a clock and no one else speaks in this entry. */
export const isTimer = ({ event }: Entry): boolean =>
  typeof event === "object" && event !== null && Reflect.get(event, "type") === "timer"

/** At most so many UTF-16 units, never half a character. */
export const bounded = (text: string, maxChars: number): string => {
  if (text.length <= maxChars) return text
  const last = text.charCodeAt(maxChars - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? maxChars - 1 : maxChars)
}

const namePattern = /(?<=[\p{L}\p{N},;:"'’)(-]\s+)\p{Lu}[\p{L}\p{M}'’-]+(?:\s+\p{Lu}[\p{L}\p{M}'’-]+)*/gu

/** Words that are written large in the middle of a sentence: mostly names. */
export const namesIn = (text: string): ReadonlyArray<string> => {
  const names = new Set<string>()
  for (const [name] of text.matchAll(namePattern)) {
    if (name.length <= 64 && !/^I['’]/.test(name)) names.add(name.replace(/['’]s$/, ""))
    if (names.size === MAX_NAMES) break
  }
  return [...names]
}

/** A message as an index holds it, without what was said around it. `thread`: the conversation it belongs to. */
export const messageEntry = (
  message: Message,
  place: MessagePlace,
  self: string,
  thread: string | undefined
): MemoryEntry => {
  const origin = originOf(message, self)
  const maxChars = message.role === "tool" ? MAX_RESULT_CHARS : MAX_TEXT_CHARS
  // Twice as much is read as is kept: what is invisible takes no room.
  const text = bounded(cleanText(bounded(textWithParts(message.content, message.parts), 2 * maxChars)).trim(), maxChars)
  return {
    id: messageId(place),
    kind: message.role === "assistant" ? "answer" : "message",
    at: message.at,
    text,
    ...defined({ speaker: origin.name === "" ? undefined : origin.name, thread }),
    entities: namesIn(text),
    tags: [],
    trust: trustOf[origin.type],
    importance: importanceOf[origin.type],
    readers: "owner"
  }
}
