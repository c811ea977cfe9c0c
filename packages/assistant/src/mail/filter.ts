// Filter: whether a message that was heard starts a tick, is only remembered, or passes by.
// Owns the rules 0 to 8 and their order. Leaves keeping what was overheard to overheard.ts, and the tick to the chart.
// I1  The first rule that applies decides, and exactly one does: the last one applies to everything.
// I2  An assistant that is disabled receives nothing, whatever else is said of it.
// I3  An assistant never triggers itself: it does not receive its own messages.
// I4  Only what has no channel is direct.

import { assistantSender, type RecordChange, sendingAssistant } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import * as RegExps from "effect/RegExp"
import { contextOf, type Decoded, isTagged, stateNodes, statusOf } from "../decide.ts"
import type { Outage } from "../context.ts"
import { changesOf, fitting, type Records } from "../self/projects.ts"

export const verdicts = ["trigger", "context", "ignore"] as const
/** trigger: a tick handles it. context: it stands in the context buffer of later ticks. ignore: nothing comes of it. */
export type Verdict = (typeof verdicts)[number]

/** In their order: the number of a rule is its place here. */
export const filterRules = [
  "disabled",
  "self",
  "mention",
  "direct",
  "assistant",
  "permission",
  "channel",
  "room",
  "fallback"
] as const
export type FilterRule = (typeof filterRules)[number]

/** How much what a rule let through matters, out of 10. The fallback is what no one in particular said: the system. */
export const importanceByRule: Readonly<Record<FilterRule, number>> = {
  disabled: 0,
  self: 0,
  mention: 10,
  direct: 9,
  assistant: 4,
  permission: 8,
  channel: 5,
  room: 6,
  fallback: 3
}

/** A channel of this prefix is a room: the place where the assistant is, not a line it subscribed to. */
const ROOM_PREFIX = "room:"

/** How an assistant listens to what others say. */
export interface Listening {
  /** False hears nothing that is said in a channel. */
  readonly enabled: boolean
  /** What it is called besides its id: `@name` anywhere in a text mentions it, in small letters or capitals. */
  readonly names: ReadonlyArray<string>
  /** A message without a channel. */
  readonly direct: Verdict
  /** What other assistants say in a channel: `trigger-on-mention` lets a mention by one of them start a tick. */
  readonly assistants: "trigger-on-mention" | "context" | "ignore"
  /** Senders, as envelopes name them, whose every word in any channel starts a tick. */
  readonly permitted: ReadonlyArray<string>
  /** What is said in a channel, by its name; also for single rooms. */
  readonly channels: Readonly<Record<string, Verdict>>
  /** What is said in a room that `channels` does not name. */
  readonly room: Verdict
  /** What is said in any other channel. */
  readonly otherwise: Verdict
}

export const DEFAULT_LISTENING: Listening = {
  enabled: true,
  names: [],
  direct: "trigger",
  assistants: "trigger-on-mention",
  permitted: [],
  channels: {},
  room: "context",
  otherwise: "context"
}

export const listeningOf = (changed: Partial<Listening>): Listening => ({ ...DEFAULT_LISTENING, ...changed })

export interface Heard {
  /** `assistant:<id>` when another assistant speaks. */
  readonly from: string
  readonly text: string
  readonly channel?: string
}

export interface Listener {
  readonly id: string
  readonly names: ReadonlyArray<string>
}

export interface Judgement {
  readonly verdict: Verdict
  readonly rule: FilterRule
  readonly importance: number
}

type Decide = (listening: Listening, heard: Heard, self: Listener) => Verdict | undefined

const decideBy: Readonly<Record<FilterRule, Decide>> = {
  disabled: ({ enabled }) => (enabled ? undefined : "ignore"),
  self: (_, { from }, { id }) => (from === id || from === assistantSender(id) ? "ignore" : undefined),
  mention: ({ assistants, names }, heard, self) => {
    if (isAssistant(heard) && assistants !== "trigger-on-mention") return undefined
    return isMentioned(heard.text, [self.id, ...self.names, ...names]) ? "trigger" : undefined
  },
  direct: ({ direct }, { channel }) => (channel === undefined ? direct : undefined),
  assistant: ({ assistants }, heard) => {
    if (!isAssistant(heard)) return undefined
    return assistants === "ignore" ? "ignore" : "context"
  },
  permission: ({ permitted }, { from }) => (permitted.includes(from) ? "trigger" : undefined),
  channel: ({ channels }, { channel = "" }) => (Object.hasOwn(channels, channel) ? channels[channel] : undefined),
  room: ({ room }, { channel }) => (channel?.startsWith(ROOM_PREFIX) === true ? room : undefined),
  fallback: ({ otherwise }) => otherwise
}

const isAssistant = ({ from }: Heard): boolean => sendingAssistant(from) !== undefined

/**
 * @example
 * judgeMessage(DEFAULT_LISTENING, { from: "user:ada", text: "Is @desk here?", channel: "room:quay" }, desk)
 * // => { verdict: "trigger", rule: "mention", importance: 10 }
 */
export const judgeMessage = (listening: Listening, heard: Heard, self: Listener): Judgement => {
  for (const rule of filterRules) {
    const verdict = decideBy[rule](listening, heard, self)
    if (verdict !== undefined) return { verdict, rule, importance: importanceByRule[rule] }
  }
  return { verdict: "ignore", rule: "fallback", importance: importanceByRule.fallback }
}

// Neither an address of mail (`ada@desk`) nor a longer name (`@desk.north`, `@desk-2`, `@desks`) is a mention of @desk.
const before = String.raw`(?<![\p{L}\p{M}\p{N}_])@`
const after = String.raw`(?![\p{L}\p{M}\p{N}_]|[-.:#+@][\p{L}\p{N}_])`

// oxlint-disable-next-line no-control-regex
const isAscii = (text: string): boolean => /^[\u0000-\u007f]*$/.test(text)

const isMentioned = (text: string, names: ReadonlyArray<string>): boolean => {
  if (!text.includes("@")) return false
  const known = names.map((name) => name.trim().normalize("NFC")).filter((name) => name !== "")
  if (known.length === 0) return false
  const anyName = known.map((name) => RegExps.escape(name)).join("|")
  // Composing a megabyte of marks takes long, and a name without marks is found without it.
  const read = isAscii(anyName) ? text : text.normalize("NFC")
  return new RegExp(`${before}(?:${anyName})${after}`, "iu").test(read)
}

// Waiting: the wait for a model that a snapshot is in.

/** The timers of the states in which an outage is waited for. */
const timers = new Map(
  stateNodes.flatMap(({ after, path }) => {
    const status = path.join(".")
    return isTagged(status, "paused")
      ? after.map(({ eventType }): readonly [string, string] => [status, eventType])
      : []
  })
)

/** True of a state in which an assistant may wait for its model. */
export const mayWait = (status: string): boolean => timers.has(status)

/** The name of the timer that ends the wait of this state; undefined of a state in which none waits. */
export const timerOfWait = (status: string): string | undefined => timers.get(status)

/** The outage that is waited for and the name of the timer that ends the wait; undefined when none is. */
export const waitOf = (decoded: Decoded): { readonly outage: Outage; readonly timer: string } | undefined => {
  const { outage } = contextOf(decoded)
  if (outage === null) return undefined
  const timer = timerOfWait(statusOf(decoded))
  return timer === undefined ? undefined : { outage, timer }
}

// Overheard: what was said around an assistant without starting a tick; the context buffer tells it in later ones.
// I1  At most `limit` are kept; the one that came first goes first, whatever its clock said.
// I2  Keys grow with each arrival, and what came before keeps its key.
// I3  A text is bounded: what is said in a room must not fill the window.

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

interface AmbientMessagesFilter {
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
