// Window: the newest part of an assistant's history, ready to be sent.
// Owns what of the history is kept while it grows. Leaves cutting inside messages to `assemble.ts`, the prompt to `assemble.ts`.
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

import type { Message } from "@reverie/protocol"
import { answered, joined, NO_ROW, type Row, rowOf, split, type Unit, unitOf } from "./unit.ts"

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

/** A window on messages that are in the order of history, after the marker of what was compacted before them. */
export const openWindow = (messages: ReadonlyArray<Message>, limit: number, marker?: Message): Window => {
  if (marker === undefined) return append({ ...EMPTY, limit }, messages)
  return append({ ...EMPTY, ...rowOf([unitOf(marker)]), turn: 1, pinned: 1, limit }, messages)
}

/**
 * Tokens of the conversation: what the window holds, the marker with it, and what has left it since it was opened (F65).
 * The share of these in the context window is what compaction goes by.
 */
export const conversationTokens = ({ overLimit, tokens }: Window): number => tokens + overLimit.tokens

/** The window after further messages of history. */
export const append = (window: Window, messages: ReadonlyArray<Message>): Window => {
  if (messages.length === 0) return window
  const units = window.units.slice()
  // A result mostly answers the newest unit; only a late one needs the map, and a flood of them builds it once.
  let places: Map<string, number> | undefined
  const placeOf = (call: string): number => {
    if (units.at(-1)?.open.some(({ id }) => id === call) === true) return units.length - 1
    places ??= openCalls(units)
    return places.get(call) ?? -1
  }
  const { pinned } = window
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
  return shrink(
    { ...window, ...row, turn: beginsTurn(units[turn]) ? turn : newest(units, pinned), withoutCall },
    window.limit
  )
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
