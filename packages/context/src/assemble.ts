// Assemble: the prompt, within the limit, and what became of what did not fit.
// Owns the order of the parts and the account of them. Leaves keeping history to `window.ts`, cutting to `cut.ts`.
// A1  Parts stand in ascending order of their ids: the system prompt first, the results of the pending turn last.
// A2  A prompt never costs more than the context window less what is reserved for the reply.
// A3  Every call on the wire has its result, and every result its call, right after it.
// A4  What is left out, cut or made up is in the report.
// A5  Assembling again with the window it gives back gives the same prompt and the same report.
// A6  Only a pending turn that must be cut is counted; everything else carries its price.

import type { PromptMessage } from "@reverie/model"
import type { Role } from "@reverie/protocol"
import * as Result from "effect/Result"
import type { Component } from "./component.ts"
import { cutTurn } from "./cut.ts"
import { ContextTooSmall } from "./errors.ts"
import type { CountMessage } from "./message-tokens.ts"
import { PLACES } from "./scheme.ts"
import { inRow, interruptionTokens, type Unit } from "./unit.ts"
import { type Amount, shrink, type Window, withTurn } from "./window.ts"

export interface AssembleInput {
  readonly components: ReadonlyArray<Component>
  readonly window: Window
  /** Size of the model's context window, in tokens. */
  readonly maxContextTokens: number
  /** Part of it kept free for the reply. */
  readonly reservedResponseTokens: number
  /** What the offered tools cost. */
  readonly toolTokens?: number
  readonly count: CountMessage
}

/** One part of a prompt, as it came out. */
export interface Part {
  readonly id: number
  readonly key: string
  readonly messages: number
  readonly tokens: number
}

export interface LeftOut extends Amount {
  /** `result-without-call`: its call was left out before, or never was in history. */
  readonly reason: "over-limit" | "result-without-call"
}

/** A content that was cut, in UTF-16 units. */
export interface CutContent {
  readonly role: Role
  readonly call?: string
  readonly characters: number
  readonly of: number
}

export interface Report {
  readonly parts: ReadonlyArray<Part>
  /** All parts and the offered tools together. */
  readonly tokens: number
  /** What they may be together. */
  readonly limit: number
  /** `tokens` as a share of the context window, 0 to 1. */
  readonly share: number
  readonly leftOut: ReadonlyArray<LeftOut>
  readonly cuts: ReadonlyArray<CutContent>
  /** Ids of calls without a result, which the model is told of as interrupted. */
  readonly interrupted: ReadonlyArray<string>
}

export interface Assembled {
  readonly messages: ReadonlyArray<PromptMessage>
  /** The window as it was sent: keep it, so that the next prompt begins the same. */
  readonly window: Window
  readonly report: Report
}

/** A part and its messages. */
interface Section extends Part {
  readonly wire: ReadonlyArray<PromptMessage>
}

export const assemble = (input: AssembleInput): Result.Result<Assembled, ContextTooSmall> => {
  const { count, maxContextTokens, reservedResponseTokens, toolTokens = 0 } = input
  const components = input.components.filter(({ enabled }) => enabled)
  const limit = maxContextTokens - reservedResponseTokens
  const fixed = components.reduce((sum, { tokens }) => sum + tokens, toolTokens)
  const fitted = fit(input.window, limit - fixed, count)
  if (typeof fitted === "number") return Result.fail(new ContextTooSmall({ limit, needed: fixed + fitted }))
  const sections = [...components.map(sectionOf), ...sectionsOf(fitted)].toSorted((a, b) => a.id - b.id)
  const tokens = sections.reduce((sum, section) => sum + section.tokens, toolTokens)
  return Result.succeed({
    messages: sections.flatMap(({ wire }) => wire),
    window: fitted,
    report: {
      parts: sections.map(({ id, key, messages, tokens }) => ({ id, key, messages, tokens })),
      tokens,
      limit,
      share: tokens / maxContextTokens,
      ...accountOf(fitted)
    }
  })
}

/** The window brought within the limit, or what it costs at the least. */
const fit = (window: Window, limit: number, count: CountMessage): Window | number => {
  const kept = shrink(window, limit - interruptionTokens(window.units))
  if (kept.tokens + interruptionTokens(kept.units) <= limit) return kept
  const turn = cutTurn(kept.units.slice(kept.turn), limit, count)
  return "needed" in turn ? turn.needed : withTurn(kept, turn.units)
}

const sectionOf = ({ id, key, message, tokens }: Component): Section => ({
  id,
  key,
  messages: 1,
  tokens,
  wire: [message]
})

/** History, the event that waits for an answer, and what has come of it so far. */
const sectionsOf = ({ turn, units }: Window): ReadonlyArray<Section> => {
  const answering = units[turn]?.history[0]?.role === "user" ? turn + 1 : turn
  return [
    { ...PLACES.conversationHistory, units: units.slice(0, turn) },
    { ...PLACES.pendingEvent, units: units.slice(turn, answering) },
    { ...PLACES.toolResult, units: units.slice(answering) }
  ]
    .filter(({ units }) => units.length > 0)
    .map(({ id, key, units }) => {
      const wire = inRow(units, (unit) => unit.wire)
      return { id, key, wire, messages: wire.length, tokens: costOf(units) }
    })
}

const costOf = (units: ReadonlyArray<Unit>): number =>
  units.reduce((sum, { tokens }) => sum + tokens, interruptionTokens(units))

const accountOf = ({ overLimit, units, withoutCall }: Window): Pick<Report, "leftOut" | "cuts" | "interrupted"> => ({
  leftOut: [
    { reason: "over-limit" as const, ...overLimit },
    { reason: "result-without-call" as const, ...withoutCall }
  ].filter(({ messages }) => messages > 0),
  cuts: units.filter(({ cuts }) => cuts.length > 0).flatMap(cutContents),
  interrupted: units.filter(({ open }) => open.length > 0).flatMap(({ open }) => open.map(({ id }) => id))
})

const cutContents = ({ cuts, history }: Unit): ReadonlyArray<CutContent> =>
  cuts.flatMap(({ characters, index, of }) => {
    const message = history[index]
    if (message === undefined) return []
    const { call, role } = message
    return [{ role, ...(call === undefined ? {} : { call }), characters, of }]
  })
