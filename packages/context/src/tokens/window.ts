// Window: the newest part of an assistant's history, ready to be sent.
// Owns what of the history is kept while it grows. Leaves cutting inside messages and the prompt to `assemble.ts`.
// A window that overflows is brought down to KEPT_SHARE of its limit, not just below it: so the beginning of the prompt
// stays the same for many turns, and a provider's prompt cache keeps hitting. A window may therefore hold up to a
// fifth less than its limit would allow.
// W1  Units leave from the oldest end only, whole, and are counted where they went. A pinned marker, which stands before
//     all of them for what was compacted, never leaves.
// W2  The pending turn never leaves: the newest user message and all after it, or the newest unit if no user speaks.
// W3  Messages stay in the order of history, but a late result stands with its call. A result without its call is left out.
// W4  Appending walks what is new and what that changes; the rest is copied in one piece, nothing of it counted or built.
// W5  Appending one by one keeps at least what opening with the whole history keeps, and both keep the limit, unless the
//     pending turn alone is longer.

import { withDecisionNote } from "@reverie/memory"
import { defined, type Message, type ToolCall } from "@reverie/protocol"
import { type PromptMessage, TOKENS_PER_MESSAGE } from "@reverie/model"

// Unit: the smallest piece of history that stays or goes as a whole.
// U1  A unit is one message without calls, or an assistant message with calls and all the results it has so far.
// U2  On the wire every call has a result: a call without one is answered as interrupted.
// U3  The wire message of a history message is one object as long as the unit lives and is not cut.

/** The text in place of a result that was not recorded. */
export const INTERRUPTED = "Interrupted: no result of this call was recorded; whether it took effect is unknown."

/** At least what a made-up result costs: no vocabulary has more tokens than an ASCII text has letters. */
const INTERRUPTED_TOKENS = TOKENS_PER_MESSAGE + INTERRUPTED.length

/** Text taken out of one message of a unit. */
export interface Cut {
  /** Position of the message in the unit. */
  readonly index: number
  /** UTF-16 units taken out, and how many there were. */
  readonly characters: number
  readonly of: number
}

export interface Unit {
  /** The messages as they are in history, never cut. */
  readonly history: ReadonlyArray<Message>
  /** One for each history message, then one for each open call, or for why an answer was not accepted. */
  readonly wire: ReadonlyArray<PromptMessage>
  /** What the messages of history cost as they are sent, without what is made up for open calls. */
  readonly tokens: number
  /** Calls that have no result. */
  readonly open: ReadonlyArray<ToolCall>
  readonly cuts: ReadonlyArray<Cut>
}

const wireOf = ({ call, calls, content, name, note, parts, reasoning, role }: Message): PromptMessage => ({
  role,
  content: withDecisionNote(content, note),
  ...defined({ name, parts, calls: calls === undefined || calls.length === 0 ? undefined : calls, call, reasoning })
})

/** What the model reads behind an answer of its own that was not accepted. */
const rejection = (content: string): PromptMessage => ({ role: "user", content })

const interruption = (call: ToolCall): PromptMessage => ({ role: "tool", content: INTERRUPTED, call: call.id })

/** The history messages, or the wire messages, of units in a row. A plain loop: this runs over the window at every step. */
const inRow = <A>(units: ReadonlyArray<Unit>, messagesOf: (unit: Unit) => ReadonlyArray<A>): ReadonlyArray<A> => {
  const row: Array<A> = []
  for (const unit of units) {
    for (const message of messagesOf(unit)) row.push(message)
  }
  return row
}

/** What the made-up results of so many open calls cost. */
export const interruptionTokens = (calls: number): number => calls * INTERRUPTED_TOKENS

/** Units in a row, and what must be known of all of them together. */
export interface Row {
  readonly units: ReadonlyArray<Unit>
  /** Without what is made up for open calls. */
  readonly tokens: number
  /** The history messages, never cut. */
  readonly messages: ReadonlyArray<Message>
  readonly wire: ReadonlyArray<PromptMessage>
  /** Calls that have no result. */
  readonly open: number
  /** Units with a content that is cut. */
  readonly cut: number
  /** Units with content parts on the wire. */
  readonly partUnits: number
}

const rowOf = (units: ReadonlyArray<Unit>): Row => {
  let tokens = 0
  let open = 0
  let cut = 0
  let partUnits = 0
  for (const unit of units) {
    tokens += unit.tokens
    open += unit.open.length
    if (unit.cuts.length > 0) cut++
    if (unit.wire.some(({ parts }) => parts !== undefined)) partUnits++
  }
  return {
    units,
    tokens,
    messages: inRow(units, ({ history }) => history),
    wire: inRow(units, ({ wire }) => wire),
    open,
    cut,
    partUnits
  }
}

const NO_ROW: Row = { units: [], tokens: 0, messages: [], wire: [], open: 0, cut: 0, partUnits: 0 }

/** The row up to a unit, and from it on. Costs what comes after the unit: the long beginning is copied, not walked. */
const split = (row: Row, at: number): readonly [Row, Row] => {
  if (at >= row.units.length) return [row, NO_ROW]
  const after = rowOf(row.units.slice(at))
  const before: Row = {
    units: row.units.slice(0, at),
    tokens: row.tokens - after.tokens,
    messages: row.messages.slice(0, row.messages.length - after.messages.length),
    wire: row.wire.slice(0, row.wire.length - after.wire.length),
    open: row.open - after.open,
    cut: row.cut - after.cut,
    partUnits: row.partUnits - after.partUnits
  }
  return [before, after]
}

const joined = (one: Row, other: Row): Row => {
  if (other.units.length === 0) return one
  return {
    units: one.units.concat(other.units),
    tokens: one.tokens + other.tokens,
    messages: one.messages.concat(other.messages),
    wire: one.wire.concat(other.wire),
    open: one.open + other.open,
    cut: one.cut + other.cut,
    partUnits: one.partUnits + other.partUnits
  }
}

/** The unit that a message other than a tool result begins. */
const unitOf = (message: Message): Unit => {
  const open = message.role === "assistant" ? (message.calls ?? []) : []
  const { rejected } = message
  const behind = rejected === undefined ? open.map(interruption) : [rejection(rejected)]
  return {
    history: [message],
    wire: [wireOf(message), ...behind],
    tokens: message.tokens,
    open,
    cuts: []
  }
}

/** The unit with the result of one of its open calls; undefined when it has no such call. */
const answered = (unit: Unit, result: Message): Unit | undefined => {
  const at = unit.open.findIndex((call) => call.id === result.call)
  if (at < 0) return undefined
  const answers = unit.history.length
  return {
    history: [...unit.history, result],
    wire: [...unit.wire.slice(0, answers), wireOf(result), ...unit.wire.slice(answers).toSpliced(at, 1)],
    tokens: unit.tokens + result.tokens,
    open: unit.open.toSpliced(at, 1),
    cuts: unit.cuts
  }
}

/** A message in the place of a longer one: cut, or without its parts, or both. */
export interface Shorter {
  readonly content: string
  readonly tokens: number
  readonly cut: Cut | undefined
  readonly isBare: boolean
}

const shortened = ({ parts, ...wire }: PromptMessage, { content, isBare }: Shorter): PromptMessage => ({
  ...wire,
  content,
  ...defined({ parts: isBare ? undefined : parts })
})

/** The unit with the wire messages of some of its history messages replaced by shorter ones. */
export const withCuts = (unit: Unit, shorter: ReadonlyMap<number, Shorter>): Unit => ({
  ...unit,
  wire: unit.wire.map((wire, index) => {
    const message = unit.history[index]
    const short = shorter.get(index)
    if (message === undefined) return wire
    const content = withDecisionNote(short?.content ?? message.content, message.note)
    if (short !== undefined) return wire.content === content ? wire : shortened(wire, { ...short, content })
    return wire.content === content ? wire : wireOf(message)
  }),
  tokens: unit.history.reduce((sum, message, index) => sum + (shorter.get(index)?.tokens ?? message.tokens), 0),
  cuts: [...shorter.values()].flatMap(({ cut }) => cut ?? [])
})

/** What an overflowing window is brought down to, as a share of its limit. */
export const KEPT_SHARE = 0.8

/** How much was left out. */
export interface Amount {
  readonly messages: number
  readonly tokens: number
}

export interface Window extends Row {
  /** Tokens the window may hold. */
  readonly limit: number
  /** Index of the unit that begins the pending turn. */
  readonly turn: number
  /** Units at the beginning that never leave: the marker, if there is one. */
  readonly pinned: 0 | 1
  /** Left out since the window was opened because it did not fit. */
  readonly overLimit: Amount
  /** Tool results left out since then because their call is not in the window. */
  readonly withoutCall: Amount
}

/** How many messages a window may have, and what it is brought down to when it has more. */
export interface MessageCap {
  readonly max: number
  readonly kept: number
}

const NOTHING: Amount = { messages: 0, tokens: 0 }

const EMPTY: Omit<Window, "limit"> = { ...NO_ROW, turn: 0, pinned: 0, overLimit: NOTHING, withoutCall: NOTHING }

/**
 * A window on messages that are in the order of history, after the marker of what was compacted before them. `first`: the
 * message that it began with before; what stands before that has left it.
 */
export const openWindow = (
  messages: ReadonlyArray<Message>,
  limit: number,
  marker?: Message,
  first?: Message
): Window => {
  const empty = marker === undefined ? EMPTY : { ...EMPTY, ...rowOf([unitOf(marker)]), turn: 1, pinned: 1 as const }
  if (first === undefined) return append({ ...empty, limit }, messages)
  const whole = append({ ...empty, limit: Infinity }, messages)
  const start = whole.units.findIndex(({ history: [message] }) => message === first)
  const begun = start > whole.pinned && start <= whole.turn ? from(whole, start) : whole
  return shrink({ ...begun, limit }, limit)
}

/**
 * Tokens of the conversation: what the window holds, the marker with it, and what has left it since it was opened (F65).
 * The share of these in the context window is what compaction goes by.
 */
export const conversationTokens = ({ overLimit, tokens }: Window): number => tokens + overLimit.tokens

const grown = (window: Window, row: Row, turn: number, withoutCall: Amount): Window =>
  shrink(
    { ...window, ...row, turn: beginsTurn(row.units[turn]) ? turn : newest(row.units, window.pinned), withoutCall },
    window.limit
  )

/** The window after further messages of history. */
export const append = (window: Window, messages: ReadonlyArray<Message>): Window => {
  if (messages.length === 0) return window
  // Most of the time nothing that stands there changes, and the long rows are copied once.
  if (!messages.some(({ role }) => role === "tool")) {
    const asked = messages.findLastIndex(({ role }) => role === "user")
    const turn = asked < 0 ? window.turn : window.units.length + asked
    return grown(window, joined(window, rowOf(messages.map(unitOf))), turn, window.withoutCall)
  }
  const units = window.units.slice()
  // A result mostly answers the newest unit; only a late one needs the map, and a flood of them builds it once.
  let places: Map<string, number> | undefined
  const placeOf = (call: string): number => {
    if (units.at(-1)?.open.some(({ id }) => id === call) === true) return units.length - 1
    places ??= openCalls(units)
    return places.get(call) ?? -1
  }
  let { turn, withoutCall } = window
  let changedFrom = units.length
  for (const message of messages) {
    if (message.role !== "tool") {
      const unit = unitOf(message)
      for (const call of unit.open) places?.set(call.id, units.length)
      if (message.role === "user") turn = units.length
      units.push(unit)
      continue
    }
    const at = placeOf(message.call ?? "")
    const before = units[at]
    const after = before === undefined ? undefined : answered(before, message)
    if (after === undefined) {
      withoutCall = plus(withoutCall, 1, message.tokens)
      continue
    }
    units[at] = after
    changedFrom = Math.min(changedFrom, at)
  }
  const [kept] = split(window, changedFrom)
  const row = joined(kept, rowOf(units.slice(changedFrom)))
  return grown(window, row, turn, withoutCall)
}

/**
 * The same window when it keeps the limit and the cap, else one brought down to KEPT_SHARE of the limit and to what the
 * cap keeps, or to its pending turn.
 */
export const shrink = (window: Window, limit: number, cap?: MessageCap): Window => {
  const isTooLong = window.tokens > limit
  const hasTooMany = cap !== undefined && window.messages.length > cap.max
  if (!isTooLong && !hasTooMany) return window
  const target = isTooLong ? Math.floor(limit * KEPT_SHARE) : limit
  const most = cap === undefined ? Infinity : Math.min(cap.max, cap.kept)
  let { tokens } = window
  let count = window.messages.length
  let start: number = window.pinned
  for (; start < window.turn && (tokens > target || count > most); start++) {
    const unit = window.units[start]
    tokens -= unit?.tokens ?? 0
    count -= unit?.history.length ?? 0
  }
  return start === window.pinned ? window : from(window, start)
}

/** The window with its pending turn replaced by the same units, cut. */
export const withTurn = (window: Window, turn: ReadonlyArray<Unit>): Window => ({
  ...window,
  ...joined(split(window, window.turn)[0], rowOf(turn))
})

/** The three parts of a prompt that a window fills. */
export interface WindowParts {
  readonly conversationHistory: Row
  readonly pendingEvent: Row
  readonly toolResult: Row
}

export const partsOf = (window: Window): WindowParts => {
  const [conversationHistory, pending] = split(window, window.turn)
  const [pendingEvent, toolResult] = split(pending, beginsTurn(pending.units[0]) ? 1 : 0)
  return { conversationHistory, pendingEvent, toolResult }
}

/** The window with some of its parts only. */
export const withParts = (window: Window, parts: Partial<WindowParts>): Window => {
  const { conversationHistory = NO_ROW, pendingEvent = NO_ROW, toolResult = NO_ROW } = parts
  const row = joined(conversationHistory, joined(pendingEvent, toolResult))
  const { length } = conversationHistory.units
  return { ...window, ...row, turn: length, pinned: length === 0 ? 0 : window.pinned }
}

/** The window with some of the units before its pending turn only; what is pinned is one of them. */
export const withUnits = (window: Window, isShown: (unit: Unit) => boolean): Window => {
  const { pendingEvent, toolResult } = partsOf(window)
  const before = window.units.slice(0, window.turn).filter(isShown)
  const isPinned = window.pinned === 1 && before[0] === window.units[0]
  const parts = { conversationHistory: rowOf(before), pendingEvent, toolResult }
  return { ...withParts(window, parts), pinned: isPinned ? 1 : 0 }
}

/** The window from a unit on, and what is pinned. */
const from = (window: Window, start: number): Window => {
  const { pinned } = window
  const left = rowOf(window.units.slice(pinned, start))
  return {
    ...window,
    // What is pinned is one unit of one message, on the wire too.
    units: without(window.units, pinned, start - pinned),
    tokens: window.tokens - left.tokens,
    messages: without(window.messages, pinned, left.messages.length),
    wire: without(window.wire, pinned, left.wire.length),
    open: window.open - left.open,
    cut: window.cut - left.cut,
    partUnits: window.partUnits - left.partUnits,
    turn: window.turn - start + pinned,
    overLimit: plus(window.overLimit, left.messages.length, left.tokens)
  }
}

const without = <A>(items: ReadonlyArray<A>, at: number, count: number): ReadonlyArray<A> =>
  at === 0 ? items.slice(count) : items.toSpliced(at, count)

const plus = (amount: Amount, messages: number, tokens: number): Amount => ({
  messages: amount.messages + messages,
  tokens: amount.tokens + tokens
})

const beginsTurn = (unit: Unit | undefined): boolean => unit?.history[0]?.role === "user"

const newest = (units: ReadonlyArray<Unit>, pinned: number): number => Math.max(pinned, units.length - 1)

/** The newest unit in which a call waits for its result, by the id of the call. */
const openCalls = (units: ReadonlyArray<Unit>): Map<string, number> => {
  const places = new Map<string, number>()
  for (const [place, unit] of units.entries()) {
    for (const call of unit.open) places.set(call.id, place)
  }
  return places
}
