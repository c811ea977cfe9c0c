// MeantTicks: of whom, of which messages, or of when something is forgotten.
// Owns whether an entry is meant. Leaves what goes with it to forgotten-ticks.ts.

import { isJsonObject, type Json, type MessagePlace } from "@reverie/protocol"
import type { PartOf } from "../bundle-part.ts"
import { causeOf } from "./handed-on.ts"
import { isName, lowered } from "./hushing.ts"

/** Of whom, of which messages, or of when. What all of them name is forgotten, and what `letters` began. */
export interface Ticks {
  /** Who said it; the case of letters counts for nothing. */
  readonly person?: string
  /** Where its messages stand. */
  readonly messages?: ReadonlyArray<MessagePlace>
  /** When it was said, in milliseconds since the epoch, both inclusive. */
  readonly since?: number
  readonly until?: number
  /** Ids of envelopes that came here out of what is forgotten, there or elsewhere. */
  readonly letters?: ReadonlySet<string>
}

type Entry = PartOf<"entry">["entry"]

/** Whether an entry came of a letter that is forgotten. */
export const isOfLetter = (entry: Entry, { letters }: Ticks): boolean => letters?.has(causeOf(entry)?.id ?? "") === true

/** Whether an entry has a message that is meant. What comes in answer to a call begins no tick. */
export const isMeant = (entry: Entry, what: Ticks): boolean =>
  entry.messages.length > 0 && (isNamed(entry, what) || (isOfLetter(entry, what) && causeOf(entry)?.lane === "mail"))

/** Whether all that came at the time of an entry is meant: orders too. */
export const isOfTime = ({ at }: Entry, { messages, person, since, until }: Ticks): boolean =>
  messages === undefined &&
  person === undefined &&
  (since !== undefined || until !== undefined) &&
  at >= (since ?? -Infinity) &&
  at <= (until ?? Infinity)

const isNamed = ({ messages, no, at }: Entry, { messages: places, person, since, until }: Ticks): boolean => {
  if (places === undefined && person === undefined && since === undefined && until === undefined) return false
  if (since !== undefined && at < since) return false
  if (until !== undefined && at > until) return false
  if (places !== undefined && !places.some((place) => place.no === no && place.index < messages.length)) return false
  return (
    person === undefined ||
    messages.some((message) => message.role === "user" && isName(Reflect.get(message, "name"), lowered(person)))
  )
}

/** What a clock says of a reminder of someone who is forgotten is theirs. */
export const isReminder = (message: object, notes: ReadonlyArray<string>): boolean => {
  const { content, name, role } = message as { readonly [key: string]: unknown }
  return (
    role === "user" && name === "clock" && typeof content === "string" && notes.some((note) => content.includes(note))
  )
}

/** The notes of reminders, each where it says something. */
export const notesIn = (reminders: ReadonlyArray<Json | null>): ReadonlyArray<string> =>
  reminders.flatMap((value) => {
    const note = isJsonObject(value) ? value["note"] : undefined
    return typeof note === "string" && note.trim() !== "" ? [note] : []
  })

/** A compaction that fell into the tick, or a dream: it is about all that was said before. */
export const isOfItself = (entry: Entry, what: Ticks): boolean => {
  const step: unknown = Reflect.get(entry, "step")
  const kind = isJsonObject(step) ? step["kind"] : undefined
  return (kind === "compact" || kind === "dream") && !isMeant(entry, what)
}

/**
 * Entries that have the number of a tick and came after its end, of orders and mail that are not among these, or of jobs which those began:
 * they are of no tick.
 */
export const afterTicks = (entries: ReadonlyArray<Entry>, own: ReadonlySet<string>): ReadonlySet<number> => {
  const ended = new Set<number>()
  const after = new Set<number>()
  for (const entry of entries) {
    const { cause, no, tick } = entry
    const id: unknown = Reflect.get(cause, "id")
    if (typeof id === "string" && ended.has(tick)) {
      // A job is called after the entry that began it.
      const isOther = cause.kind === "job" ? after.has(Number.parseInt(id, 10)) : !own.has(id)
      if (isOther) after.add(no)
    }
    if (Reflect.has(entry, "tickEnd")) ended.add(tick)
  }
  return after
}
