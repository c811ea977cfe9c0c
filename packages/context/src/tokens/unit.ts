// Unit: the smallest piece of history that stays or goes as a whole.
// Owns the pairing of calls with their results, and rows of units. Leaves what stays and what goes to `window.ts`.
// U1  A unit is one message without calls, or an assistant message with calls and all the results it has so far.
// U2  On the wire every call has a result: a call without one is answered as interrupted.
// U3  The wire message of a history message is one object as long as the unit lives and is not cut.

import { TOKENS_PER_MESSAGE, type PromptMessage } from "@reverie/model"
import { type Message, type ToolCall, defined } from "@reverie/protocol"

/** What a model is told of a call that has no recorded result. */
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
  /** One for each history message, then one for each open call. */
  readonly wire: ReadonlyArray<PromptMessage>
  /** What the messages of history cost as they are sent, without what is made up for open calls. */
  readonly tokens: number
  /** Calls that have no result. */
  readonly open: ReadonlyArray<ToolCall>
  readonly cuts: ReadonlyArray<Cut>
}

const wireOf = ({ call, calls, content, name, role }: Message): PromptMessage => ({
  role,
  content,
  ...defined({ name, calls: calls === undefined || calls.length === 0 ? undefined : calls, call })
})

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
}

export const rowOf = (units: ReadonlyArray<Unit>): Row => {
  let tokens = 0
  let open = 0
  let cut = 0
  for (const unit of units) {
    tokens += unit.tokens
    open += unit.open.length
    if (unit.cuts.length > 0) cut++
  }
  return {
    units,
    tokens,
    messages: inRow(units, ({ history }) => history),
    wire: inRow(units, ({ wire }) => wire),
    open,
    cut
  }
}

/** The row up to a unit, and from it on. Costs what comes after the unit: the long beginning is copied, not walked. */
export const split = (row: Row, at: number): readonly [Row, Row] => {
  const after = rowOf(row.units.slice(at))
  const before: Row = {
    units: row.units.slice(0, at),
    tokens: row.tokens - after.tokens,
    messages: row.messages.slice(0, row.messages.length - after.messages.length),
    wire: row.wire.slice(0, row.wire.length - after.wire.length),
    open: row.open - after.open,
    cut: row.cut - after.cut
  }
  return [before, after]
}

export const joined = (one: Row, other: Row): Row => ({
  units: one.units.concat(other.units),
  tokens: one.tokens + other.tokens,
  messages: one.messages.concat(other.messages),
  wire: one.wire.concat(other.wire),
  open: one.open + other.open,
  cut: one.cut + other.cut
})

export const NO_ROW: Row = { units: [], tokens: 0, messages: [], wire: [], open: 0, cut: 0 }

/** The unit that a message other than a tool result begins. */
export const unitOf = (message: Message): Unit => {
  const open = message.role === "assistant" ? (message.calls ?? []) : []
  return {
    history: [message],
    wire: [wireOf(message), ...open.map(interruption)],
    tokens: message.tokens,
    open,
    cuts: []
  }
}

/** The unit with the result of one of its open calls; undefined when it has no such call. */
export const answered = (unit: Unit, result: Message): Unit | undefined => {
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

/** The unit with the wire messages of some of its history messages replaced by shorter ones. */
export const withCuts = (
  unit: Unit,
  shorter: ReadonlyMap<number, { readonly content: string; readonly tokens: number; readonly cut: Cut }>
): Unit => ({
  ...unit,
  wire: unit.wire.map((wire, index) => {
    const message = unit.history[index]
    const short = shorter.get(index)
    if (message === undefined) return wire
    if (short !== undefined) return wire.content === short.content ? wire : { ...wire, content: short.content }
    return wire.content === message.content ? wire : wireOf(message)
  }),
  tokens: unit.history.reduce((sum, message, index) => sum + (shorter.get(index)?.tokens ?? message.tokens), 0),
  cuts: [...shorter.values()].map(({ cut }) => cut)
})
