// Window: the newest part of an assistant's history, ready to be sent.
// Owns what of the history is kept while it grows. Leaves cutting inside messages to `cut.ts`, the prompt to `assemble.ts`.
// A window that overflows is brought down to KEPT_SHARE of its limit, not just below it: so the beginning of the prompt
// stays the same for many turns, and a provider's prompt cache keeps hitting. A window may therefore hold up to a
// fifth less than its limit would allow.
// W1  Units leave from the oldest end only, whole, and are counted where they went.
// W2  The pending turn never leaves: the newest user message and all after it, or the newest unit if no user speaks.
// W3  Messages stay in the order of history, but a late result stands with its call. A result without its call is left out.
// W4  Appending costs what is new, plus one copy of the list of units; no message is counted or built again.
// W5  Appending one by one keeps at least what opening with the whole history keeps, and both keep the limit, unless the
//     pending turn alone is longer.

import type { Message } from "@reverie/protocol"
import { answered, inRow, type Unit, unitOf } from "./unit.ts"

/** What an overflowing window is brought down to, as a share of its limit. */
export const KEPT_SHARE = 0.8

/** How much was left out. */
export interface Amount {
  readonly messages: number
  readonly tokens: number
}

export interface Window {
  /** Tokens the window may hold. */
  readonly limit: number
  readonly units: ReadonlyArray<Unit>
  readonly tokens: number
  /** The history messages in the window, never cut. */
  readonly messages: ReadonlyArray<Message>
  /** Index of the unit that begins the pending turn. */
  readonly turn: number
  /** Left out since the window was opened because it did not fit. */
  readonly overLimit: Amount
  /** Tool results left out since then because their call is not in the window. */
  readonly withoutCall: Amount
}

const NOTHING: Amount = { messages: 0, tokens: 0 }

const EMPTY: Omit<Window, "limit"> = {
  units: [],
  tokens: 0,
  messages: [],
  turn: 0,
  overLimit: NOTHING,
  withoutCall: NOTHING
}

/** A window on messages that are in the order of history. */
export const openWindow = (messages: ReadonlyArray<Message>, limit: number): Window =>
  append({ ...EMPTY, limit }, messages)

/** The window after further messages of history. */
export const append = (window: Window, messages: ReadonlyArray<Message>): Window => {
  if (messages.length === 0) return window
  const units = [...window.units]
  // A result mostly answers the newest unit; only a late one needs the map, and a flood of them builds it once.
  let places: Map<string, number> | undefined
  const placeOf = (call: string): number => {
    if (units.at(-1)?.open.some(({ id }) => id === call) === true) return units.length - 1
    places ??= openCalls(units)
    return places.get(call) ?? -1
  }
  let { tokens, withoutCall } = window
  for (const message of messages) {
    if (message.role !== "tool") {
      const unit = unitOf(message)
      tokens += unit.tokens
      for (const call of unit.open) places?.set(call.id, units.length)
      units.push(unit)
      continue
    }
    const at = placeOf(message.call ?? "")
    const before = units[at]
    const after = before === undefined ? undefined : answered(before, message)
    if (before === undefined || after === undefined) {
      withoutCall = plus(withoutCall, 1, message.tokens)
      continue
    }
    tokens += after.tokens - before.tokens
    units[at] = after
  }
  const grown: Window = { ...window, units, tokens, turn: turnOf(units), messages: historyOf(units), withoutCall }
  return shrink(grown, window.limit)
}

/** The same window when it fits the limit, else one brought down to KEPT_SHARE of it or to its pending turn. */
export const shrink = (window: Window, limit: number): Window => {
  if (window.tokens <= limit) return window
  const target = Math.floor(limit * KEPT_SHARE)
  let { overLimit, tokens } = window
  let start = 0
  for (const unit of window.units.slice(0, window.turn)) {
    if (tokens <= target) break
    tokens -= unit.tokens
    overLimit = plus(overLimit, unit.history.length, unit.tokens)
    start++
  }
  return start === 0 ? window : { ...from(window, start), tokens, overLimit }
}

/** The window with its pending turn replaced by the same units, cut. */
export const withTurn = (window: Window, turn: ReadonlyArray<Unit>): Window => {
  const units = [...window.units.slice(0, window.turn), ...turn]
  return { ...window, units, tokens: units.reduce((sum, unit) => sum + unit.tokens, 0) }
}

const from = (window: Window, start: number): Window => {
  const units = window.units.slice(start)
  return { ...window, units, turn: window.turn - start, messages: historyOf(units) }
}

const plus = (amount: Amount, messages: number, tokens: number): Amount => ({
  messages: amount.messages + messages,
  tokens: amount.tokens + tokens
})

const historyOf = (units: ReadonlyArray<Unit>): ReadonlyArray<Message> => inRow(units, ({ history }) => history)

const turnOf = (units: ReadonlyArray<Unit>): number => {
  const newestUser = units.findLastIndex((unit) => unit.history[0]?.role === "user")
  return newestUser < 0 ? Math.max(0, units.length - 1) : newestUser
}

/** The newest unit in which a call waits for its result, by the id of the call. */
const openCalls = (units: ReadonlyArray<Unit>): Map<string, number> => {
  const places = new Map<string, number>()
  for (const [place, unit] of units.entries()) {
    for (const call of unit.open) places.set(call.id, place)
  }
  return places
}
