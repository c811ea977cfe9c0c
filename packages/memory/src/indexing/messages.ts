// Messages: how a message of the history stands in an index.
// Owns which messages are worth it, whom they are from, and their names and bounds. Leaves what was said around them to
// `indexing.ts`.
// M1  Never indexed: what Reverie wrote for the model (markers, timers), what says nothing, and a tool's result that
//     only repeats what the assistant keeps, or that it failed.
// M2  Whatever was said, an index is told at most so many characters of it.

import { type Entry, type Message, sendingAssistant, defined } from "@reverie/protocol"
import { cleanText } from "../integrity/clean-text.ts"
import type { MemoryEntry, MessagePlace } from "../entry.ts"
import { messageId } from "../entry.ts"
import { type Origin, type OriginType, trustOf } from "../fact.ts"

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
  "read_history",
  "block",
  "block_edit",
  "go_to_sleep"
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
  const { content, name = "", role } = message
  switch (role) {
    case "user":
      return content.trim() !== "" && !isTimer(entry)
    case "assistant":
      return content.trim() !== ""
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

/** True when a clock and nobody else speaks in this entry. */
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
const namesIn = (text: string): ReadonlyArray<string> => {
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
  const text = bounded(cleanText(bounded(message.content, 2 * maxChars)).trim(), maxChars)
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
