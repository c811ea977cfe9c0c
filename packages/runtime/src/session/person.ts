// Person: whom an assistant deals with in the tick at hand, where its definition keeps people apart (`memory.perPerson`).
// Owns who that is, and what of its history and memory may be shown then. Leaves finding to the index, showing to the prompt.
// P1  In a tick that a person began only that person's conversation is shown: what the person said, what was answered, and what
//     the assistant learnt of it. Of others it is shown what belongs to no conversation.
// P2  What was said by no person (a timer, another assistant, the summary of a compaction) may hold what anyone said: it is
//     kept from every person.
// P3  In a tick that no person began the assistant is by itself, and sees all. Its sub-agents see what belongs to no one.
// P4  A reminder that is set in a person's tick is that person's: others neither see nor cancel nor change it. What an operator sets, or the
//     assistant by itself, is everyone's.

import { contextOf } from "@reverie/assistant"
import { type Unit, type Window, withUnits } from "@reverie/context"
import { OF_NO_ONE, originOf } from "@reverie/memory"
import {
  assistantSender,
  isJsonObject,
  type Json,
  type Message,
  type PlacedMessage,
  type RecordKind,
  sendingAssistant
} from "@reverie/protocol"
import { recordsOf } from "./own-records.ts"
import type { Session } from "./session.ts"

/** The name of the person who said it; undefined for what no person said. */
const speakerOf = (message: Message): string | undefined => {
  if (message.role !== "user" || message.name === "clock") return undefined
  const { name, type } = originOf(message, "")
  return type === "person" ? name : undefined
}

type Dealing = Pick<Session, "definition" | "window">

export const keepsApart = ({ definition }: Pick<Session, "definition">): boolean =>
  definition.memory?.perPerson === true

const eventOf = ({ window }: Pick<Session, "window">): Message | undefined =>
  window.messages.findLast(({ role }) => role === "user")

/** Who began the tick at hand: the sender of its message; undefined where a timer did, and where it has no name. */
export const senderOf = (session: Pick<Session, "window">): string | undefined => {
  const event = eventOf(session)
  return event?.name === "clock" ? undefined : event?.name
}

/** The person from whom what others said is kept; undefined where nothing is kept from anyone. */
export const personOf = (session: Dealing): string | undefined => {
  if (!keepsApart(session)) return undefined
  const event = eventOf(session)
  return event === undefined ? undefined : speakerOf(event)
}

/** The conversations out of which may be recalled; undefined for all. */
export const threadsNow = (session: Dealing & Pick<Session, "decoded">): ReadonlyArray<string> | undefined => {
  if (!keepsApart(session)) return undefined
  if (contextOf(session.decoded).assignment !== null) return [OF_NO_ONE]
  const person = personOf(session)
  return person === undefined ? undefined : [person, OF_NO_ONE]
}

/** The window as that person may see it. */
export const windowFor = (window: Window, person: string): Window => {
  const shown = new Set<Unit>()
  let speaker: string | undefined
  for (const unit of window.units.slice(window.pinned)) {
    const [first] = unit.history
    if (first?.role === "user") speaker = speakerOf(first)
    if (speaker === person) shown.add(unit)
  }
  return withUnits(window, (unit) => shown.has(unit))
}

/** Asked of messages in their order: whether one belongs to the conversation of that person. */
export const saidWith = (person: string): ((placed: PlacedMessage) => boolean) => {
  let speaker: string | undefined
  return ({ message }) => {
    if (message.role === "user") speaker = speakerOf(message)
    return speaker === person
  }
}

// Reminders.

/** So is called who sets one from outside and gives no name. */
const OPERATOR = "person"

const isSetBy = (reminder: Json, person: string): boolean => {
  const by = isJsonObject(reminder) ? reminder["setBy"] : undefined
  return typeof by !== "string" || by === person || by === OPERATOR || sendingAssistant(by) !== undefined
}

/** Records as a tool of the tick at hand reads them: of a reminder of someone else only that its name is taken. */
export const readFor = (session: Session, kind: RecordKind): ReadonlyMap<string, Json> => {
  const all = recordsOf(session.own, kind)
  const person = kind === "reminder" ? personOf(session) : undefined
  if (person === undefined) return all
  return new Map([...all].map(([key, value]) => [key, isSetBy(value, person) ? value : null]))
}

/** Who sets the reminders of the tick at hand. */
export const setterOf = (session: Session): string => {
  const person = personOf(session)
  return person === undefined || person === "" ? assistantSender(session.address.assistant) : person
}
