// Overheard: what was said around an assistant without starting a tick; the context buffer tells it in later ones.
// Owns its records: their shape, their order and their bound. Leaves what is overheard to filter.ts, showing to `context`.
// I1  At most `limit` are kept; the one that came first goes first, whatever its clock said.
// I2  Keys grow with each arrival, and what came before keeps its key.
// I3  A text is bounded: what is said in a room must not fill the window.

import type { RecordChange } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import { changesOf, fitting, type Records } from "../self/kept.ts"

export const DEFAULT_AMBIENT_MESSAGES = 50

/** Longest text that is kept of one message, in UTF-16 units. */
export const MAX_AMBIENT_MESSAGES_CHARS = 1_000

export const AmbientMessages = Schema.Struct({
  from: Schema.String,
  text: Schema.String,
  channel: Schema.optionalKey(Schema.String),
  /** Milliseconds since the epoch. */
  at: Schema.Finite,
  /** As the filter judged it, 0 to 10. */
  importance: Schema.Finite
})
export type AmbientMessages = typeof AmbientMessages.Type

/** By arrival, the first one first. */
export type Ambience = ReadonlyMap<string, AmbientMessages>

const isAmbient = Schema.is(AmbientMessages)

// Padded, so that the order of keys as text is the order of arrival.
const KEY_DIGITS = 12
const isKey = (key: string): boolean => /^\d{12}$/.test(key)

/** Of the records of the kind `overheard`; those that are none are not seen. */
export const ambienceOf = (records: Records): Ambience =>
  new Map([...fitting(records, isAmbient)].filter(([key]) => isKey(key)).toSorted(([a], [b]) => (a < b ? -1 : 1)))

export const ambienceChanges = (before: Ambience, after: Ambience): ReadonlyArray<RecordChange> =>
  changesOf("ambientMessages", before, after)

/** With one more, and without those that had to go for it. */
export const overhear = (
  ambience: Ambience,
  heard: AmbientMessages,
  limit: number = DEFAULT_AMBIENT_MESSAGES
): Ambience => {
  const last = Number([...ambience.keys()].at(-1) ?? "0")
  const key = String(last + 1).padStart(KEY_DIGITS, "0")
  return trimmed(new Map(ambience).set(key, { ...heard, text: bounded(heard.text) }), limit)
}

/** The newest `limit` of them; the same ambience when all fit. */
export const trimmed = (ambience: Ambience, limit: number): Ambience => {
  const surplus = ambience.size - Math.max(0, Math.floor(limit))
  return surplus > 0 ? new Map([...ambience].slice(surplus)) : ambience
}

export interface AmbientMessagesFilter {
  /** The newest so many. */
  readonly limit?: number
  readonly minImportance?: number
  readonly channel?: string
}

/** For the context buffer: the oldest first. */
export const listAmbientMessages = (
  ambience: Ambience,
  filter: AmbientMessagesFilter = {}
): ReadonlyArray<AmbientMessages> => {
  const { channel, limit = DEFAULT_AMBIENT_MESSAGES, minImportance = 0 } = filter
  const fits = [...ambience.values()].filter(
    (heard) => heard.importance >= minImportance && (channel === undefined || heard.channel === channel)
  )
  return fits.slice(Math.max(0, fits.length - limit))
}

const bounded = (text: string): string =>
  text.length <= MAX_AMBIENT_MESSAGES_CHARS
    ? text
    : `${text.slice(0, MAX_AMBIENT_MESSAGES_CHARS - 1).replace(/[\uD800-\uDBFF]$/, "")}…`
