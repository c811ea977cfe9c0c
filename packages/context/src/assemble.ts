// Assemble: the prompt, within the limit, and what became of what did not fit.
// Owns the order of the parts, cutting, and the account of them. Leaves keeping history to `window.ts`, the components to
// `collect.ts`.
// A1  The report lists parts in strictly ascending order of their ids: the system prompt first, the results of the pending turn
//     last. A model reads them in the same order, but what changes with the event right before the event.
// A2  A prompt never costs more than the context window less what is reserved for the reply, nor than the budget of its
//     kind of context.
// A3  Every call on the wire has its result, and every result its call, right after it.
// A4  What is left out, cut or made up is in the report.
// A5  Assembling again with the window it gives back gives the same prompt and the same report.
// A6  Only a pending turn that must be cut is counted; everything else carries its price.
// A7  The parts that history fills are in as far as the context enables them, and no component stands in their place.
// A8  A prompt begins with the whole of the one before it up to the event of that one, as long as the parts before the
//     conversation are the same and nothing has left the window.

import { defined, type Message, textWithParts } from "@reverie/protocol"
import { described, type PromptMessage, type ToolOffer, withoutParts } from "@reverie/model"
import * as Result from "effect/Result"
import type { Component, CountMessage } from "./layout/component.ts"
import { type ContextTypeConfig, inReadingOrder, isIncluded, isLate } from "./layout/context-types.ts"
import { ContextTooSmall } from "./errors.ts"
import {
  interruptionTokens,
  KEPT_SHARE,
  type MessageCap,
  partsOf,
  type Row,
  type Shorter,
  shrink,
  type Unit,
  type Window,
  type WindowParts,
  withCuts,
  withParts,
  withTurn
} from "./tokens/window.ts"
import type { Absent, CutContent, LeftOut, Part, Report } from "./report.ts"
import { fingerprintOf } from "./tokens/price-book.ts"
import { FORM_PLACE, PLACES } from "./layout/scheme.ts"

// Cut: making the pending turn fit when it is too long by itself.
// X1  The longest contents are cut first, to one common length; a content shorter than that is not touched.
// X2  A cut content keeps its beginning and its end, and says between them how many characters are missing of how many.
// X3  Nothing but content is cut: who speaks and what is called stays whole.
// X4  A turn is cut anew from its history each time, so that a cut is never cut.
// X5  It is cut to KEPT_SHARE of the limit where it can be, so that what follows in the turn does not cut it again.
// X6  Where texts alone do not make room, a line of text stands in the place of each of its parts.

const notice = (characters: number, of: number): string => `\n[cut: ${characters} of ${of} characters]\n`

/** Of what stays of a content, this much is its beginning: a pasted text often ends with the question about it. */
const HEAD_SHARE = 2 / 3

interface Priced {
  readonly unit: number
  readonly index: number
  readonly message: Message
  /** What the message costs without its content, and what its content costs. */
  readonly frame: number
  readonly body: number
}

/** The units with their contents cut so that they cost at most `limit` together; else what they cost at the least. */
const cutTurn = (
  units: ReadonlyArray<Unit>,
  limit: number,
  count: CountMessage,
  isBare = false
): { readonly units: ReadonlyArray<Unit> } | { readonly needed: number } => {
  const interruptions = interruptionTokens(units.reduce((calls, { open }) => calls + open.length, 0))
  const priced = units.flatMap((unit, place) =>
    unit.history.map((whole, index): Priced => {
      const message = isBare && whole.parts !== undefined ? bareOf(whole, count) : whole
      const frame = Math.min(message.tokens, count({ ...message, content: "" }))
      return { unit: place, index, message, frame, body: message.tokens - frame }
    })
  )
  const costAt = (cap: number): number =>
    priced.reduce((sum, { body, frame }) => sum + frame + Math.min(body, cap), interruptions)
  const smallest = smallestCap(priced, count)
  const needed = costAt(smallest)
  if (needed > limit) return { needed }
  const cap = largestCap(smallest, Math.max(needed, Math.floor(limit * KEPT_SHARE)), costAt)
  const cut = units.map(() => new Map<number, Shorter>())
  for (const each of priced) {
    const { body, index, message, unit } = each
    if (body > cap) cut[unit]?.set(index, { ...shorten(each, cap, count), isBare })
    else if (message !== units[unit]?.history[index]) cut[unit]?.set(index, { ...message, cut: undefined, isBare })
  }
  return { units: units.map((unit, place) => withCuts(unit, cut[place] ?? new Map())) }
}

/** No content is cut to less than twice what the notice itself costs. */
const smallestCap = (priced: ReadonlyArray<Priced>, count: CountMessage): number => {
  const longest = Math.max(0, ...priced.map(({ message }) => message.content.length))
  return 2 * count({ role: "user", content: notice(longest, longest), at: 0 })
}

const largestCap = (smallest: number, limit: number, costAt: (cap: number) => number): number => {
  let fits = smallest
  let over = Math.max(limit, smallest) + 1
  while (over - fits > 1) {
    const middle = Math.floor((fits + over) / 2)
    if (costAt(middle) <= limit) fits = middle
    else over = middle
  }
  return fits
}

const bareOf = (message: Message, count: CountMessage): Message => {
  const bare = described(message, "too large for this prompt")
  return { ...bare, tokens: count(bare) }
}

const shorten = (
  { body, frame, index, message }: Priced,
  cap: number,
  count: CountMessage
): Omit<Shorter, "isBare"> => {
  const of = message.content.length
  let kept = Math.floor((of * cap) / body)
  for (;;) {
    const content = around(message.content, kept)
    const tokens = count({ ...message, content })
    if (tokens <= frame + cap || kept === 0) return { content, tokens, cut: { index, characters: of - kept, of } }
    kept = Math.min(kept - 1, Math.floor((kept * cap * 0.95) / Math.max(1, tokens - frame)))
  }
}

// A surrogate pair cut in two leaves halves that no wire format can carry.
const around = (content: string, kept: number): string => {
  const head = Math.ceil(kept * HEAD_SHARE)
  const text =
    content.slice(0, head) + notice(content.length - kept, content.length) + content.slice(content.length - kept + head)
  return text.toWellFormed()
}

export interface AssembleInput {
  readonly components: ReadonlyArray<Component>
  readonly window: Window
  /** Size of the model's context window, in tokens. */
  readonly maxContextTokens: number
  /** Part of it kept free for the reply. */
  readonly reservedResponseTokens: number
  /** What the offered tools cost. */
  readonly toolTokens?: number
  /** Fingerprint of the offered tools. */
  readonly toolsMark?: string
  /** What the form costs that the answer must have; it is a part without a message. */
  readonly formTokens?: number
  readonly count: CountMessage
  /** The kind of context. Without one every part is in. */
  readonly context?: ContextTypeConfig
  /** Components that did not come to be, and history that is not in the window, for the report. */
  readonly absent?: ReadonlyArray<Absent>
  readonly leftOut?: ReadonlyArray<LeftOut>
  /** Limits of what history fills, besides that of the whole. A pending turn keeps only to that of the whole. */
  readonly history?: { readonly maxTokens?: number; readonly cap?: MessageCap }
  /** What was shown beside events of the window, by the message of the event: it stays there, before that message. */
  readonly beside?: ReadonlyMap<Message, ReadonlyArray<Component>>
  /** For a model whose first message must be a user's: put first when that of the prompt is not. */
  readonly opening?: Component
}

export interface Assembled {
  readonly messages: ReadonlyArray<PromptMessage>
  /** How many of the messages the next prompt is expected to begin with (A8). */
  readonly lasting: number
  /** The window as it was sent: keep it, so that the next prompt begins the same. */
  readonly window: Window
  readonly report: Report
}

/** A part and its messages. */
interface Section extends Part {
  readonly wire: ReadonlyArray<PromptMessage>
}

export const assemble = (input: AssembleInput): Result.Result<Assembled, ContextTooSmall> => {
  const { context, formTokens = 0, maxContextTokens, opening, reservedResponseTokens, toolTokens = 0 } = input
  const [components, out] = sorted(input.components, context)
  const limit = Math.min(maxContextTokens - reservedResponseTokens, Math.floor(context?.tokenBudget ?? Infinity))
  const fixed = components.reduce((sum, { tokens }) => sum + tokens, toolTokens + formTokens + (opening?.tokens ?? 0))
  const { hidden, shown } = shownOf(input.window, components, context)
  const { beside = NOTHING_BESIDE } = input
  const fitted = fit(shown, limit - fixed - besideTokens(shown, beside), input)
  if (typeof fitted === "number") return Result.fail(new ContextTooSmall({ limit, needed: fixed + fitted }))
  const read = inReadingOrder([...components.map(sectionOf), ...sectionsOf(fitted, beside), ...formOf(formTokens)])
  const sections = opened(read, opening)
  const tokens = sections.reduce((sum, section) => sum + section.tokens, toolTokens)
  const none: ReadonlyArray<PromptMessage> = []
  const messages = none.concat(...sections.map(({ wire }) => wire))
  return Result.succeed({
    messages: fitted.partUnits > 0 ? messages : withoutParts(messages),
    lasting: lastingOf(sections),
    window: hidden.length === 0 ? fitted : input.window,
    report: {
      ...defined({ context: context === undefined ? undefined : context.contextType }),
      parts: sections
        .map(({ id, key, messages, tokens }) => ({ id, key, messages, tokens }))
        .toSorted((a, b) => a.id - b.id),
      toolTokens,
      tokens,
      limit,
      share: tokens / maxContextTokens,
      absent: input.absent === undefined ? out : [...input.absent, ...out],
      leftOut: leftOutOf(fitted, hidden.concat(input.leftOut ?? [])),
      cuts: fitted.cut === 0 ? [] : fitted.units.flatMap(cutContents),
      marks: marksOf(sections, input.toolsMark),
      interrupted: fitted.open === 0 ? [] : fitted.units.flatMap(({ open }) => open.map(({ id }) => id))
    }
  })
}

/** The components that are in, and those that are not. */
const sorted = (
  components: ReadonlyArray<Component>,
  context: ContextTypeConfig | undefined
): readonly [ReadonlyArray<Component>, ReadonlyArray<Absent>] => {
  const isIn = (component: Component): boolean => isIncluded(component, context?.enabledComponents)
  return [
    components.filter(isIn),
    components
      .filter((component) => !isIn(component))
      .map(({ enabled, key }) => ({ key, reason: enabled ? "not-in-context" : "disabled" }))
  ]
}

const partNames = ["conversationHistory", "pendingEvent", "toolResult"] as const

/** The window as far as the context shows it, and what of it stays hidden. */
const shownOf = (
  window: Window,
  components: ReadonlyArray<Component>,
  context: ContextTypeConfig | undefined
): { readonly shown: Window; readonly hidden: ReadonlyArray<LeftOut> } => {
  const replaced = new Set(components.map(({ id }) => id))
  const reasonOf = (id: number): LeftOut["reason"] | undefined =>
    context?.enabledComponents.includes(id) === false ? "not-in-context" : replaced.has(id) ? "replaced" : undefined
  if (partNames.every((name) => reasonOf(PLACES[name].id) === undefined)) return { shown: window, hidden: [] }
  const parts = partsOf(window)
  const kept = partNames.filter((name) => reasonOf(PLACES[name].id) === undefined)
  const shown: Partial<WindowParts> = Object.fromEntries(kept.map((name) => [name, parts[name]]))
  const hidden = partNames.flatMap((name): ReadonlyArray<LeftOut> => {
    const reason = reasonOf(PLACES[name].id)
    const { messages, tokens } = parts[name]
    return reason === undefined ? [] : [{ reason, messages: messages.length, tokens }]
  })
  return { shown: withParts(window, shown), hidden }
}

/** The window brought within the limit, or what it costs at the least. */
const fit = (window: Window, limit: number, { count, history = {} }: AssembleInput): Window | number => {
  const interruptions = interruptionTokens(window.open)
  const kept = shrink(window, Math.min(limit - interruptions, history.maxTokens ?? Infinity), history.cap)
  if (kept.tokens + interruptionTokens(kept.open) <= limit) return kept
  // Only what is pinned still stands before the turn.
  const before = kept.units.slice(0, kept.turn).reduce((sum, { tokens }) => sum + tokens, 0)
  const units = kept.units.slice(kept.turn)
  const cut = cutTurn(units, limit - before, count)
  const turn = "needed" in cut ? cutTurn(units, limit - before, count, true) : cut
  return "needed" in turn ? before + turn.needed : withTurn(kept, turn.units)
}

const marks = new WeakMap<PromptMessage, string>()

/** Of a longer text the beginning is looked at, and its length. */
const MARKED_CHARS = 100_000

const markOf = (message: PromptMessage): string => {
  const known = marks.get(message)
  if (known !== undefined) return known
  const { parts } = message
  const content = parts === undefined ? message.content : textWithParts(message.content, parts, parts[0]?.digest)
  const mark = fingerprintOf(content.length <= MARKED_CHARS ? content : content.slice(0, MARKED_CHARS) + content.length)
  marks.set(message, mark)
  return mark
}

const marksOf = (sections: ReadonlyArray<Section>, tools = ""): NonNullable<Report["marks"]> => ({
  tools,
  ...Object.fromEntries(sections.map(({ key, wire: [first] }) => [key, first === undefined ? "" : markOf(first)]))
})

/** In a tick that goes on all of it; else what stands before memories and event. */
const lastingOf = (sections: ReadonlyArray<Section>): number => {
  const sum = (some: ReadonlyArray<Section>) => some.reduce((messages, { wire }) => messages + wire.length, 0)
  if (sections.some(({ id }) => id === PLACES.toolResult.id)) return sum(sections)
  const end = sections.findIndex(({ id }) => id === PLACES.semanticMemories.id || id === PLACES.pendingEvent.id)
  return sum(end === -1 ? sections : sections.slice(0, end))
}

const sectionOf = ({ id, key, message, tokens }: Component): Section => ({
  id,
  key,
  messages: 1,
  tokens,
  wire: [message]
})

const formOf = (tokens: number): ReadonlyArray<Section> =>
  tokens === 0 ? [] : [{ ...FORM_PLACE, messages: 0, tokens, wire: [] }]

type Beside = NonNullable<AssembleInput["beside"]>

const NOTHING_BESIDE: Beside = new Map()

/** What stands beside the events that are over; that of the pending one is among the components. */
const besideOf = (units: ReadonlyArray<Unit>, beside: Beside): ReadonlyArray<Component> =>
  beside.size === 0
    ? []
    : units.flatMap(({ history: [event] }) => (event === undefined ? undefined : beside.get(event)) ?? [])

const tokensIn = (components: ReadonlyArray<Component>): number =>
  components.reduce((sum, { tokens }) => sum + tokens, 0)

const besideTokens = ({ turn, units }: Window, beside: Beside): number =>
  beside.size === 0 ? 0 : tokensIn(besideOf(units.slice(0, turn), beside))

/** The messages of a row with what stands beside its events, and what that costs more. */
const withBeside = (row: Row, beside: Beside): Row => {
  const shown = besideOf(row.units, beside)
  if (shown.length === 0) return row
  const wire = row.units.flatMap((unit) => [...besideOf([unit], beside).map(({ message }) => message), ...unit.wire])
  return { ...row, wire, tokens: row.tokens + tokensIn(shown) }
}

/** History, the event that waits for an answer, and what has come of it so far. */
const sectionsOf = (window: Window, beside: Beside): ReadonlyArray<Section> => {
  const whole = partsOf(window)
  const parts = { ...whole, conversationHistory: withBeside(whole.conversationHistory, beside) }
  return partNames
    .map((name) => ({ ...PLACES[name], row: parts[name] }))
    .filter(({ row }) => row.units.length > 0)
    .map(({ id, key, row }) => ({
      id,
      key,
      wire: row.wire,
      messages: row.wire.length,
      tokens: costOf(row)
    }))
}

const costOf = ({ open, tokens }: Row): number => tokens + interruptionTokens(open)

/** The sections with the opening before the first message that is not the system's, if that is no user's. */
const opened = (sections: ReadonlyArray<Section>, opening: Component | undefined): ReadonlyArray<Section> => {
  if (opening === undefined) return sections
  const at = sections.findIndex(({ wire }) => wire.some(({ role }) => role !== "system"))
  const first = sections[at]
  const speaker = first?.wire.find(({ role }) => role !== "system")
  if (speaker?.role === "user") return sections
  const taken = new Set(sections.map(({ id }) => id))
  let id = first === undefined || isLate(first.id) ? opening.id : Math.min(opening.id, first.id - 1)
  while (taken.has(id)) id--
  return inReadingOrder([...sections, { ...sectionOf(opening), id }])
}

const leftOutOf = ({ overLimit, withoutCall }: Window, hidden: ReadonlyArray<LeftOut>): ReadonlyArray<LeftOut> => {
  const byReason = new Map<LeftOut["reason"], LeftOut>()
  for (const { messages, reason, tokens } of [
    { reason: "over-limit" as const, ...overLimit },
    { reason: "result-without-call" as const, ...withoutCall },
    ...hidden
  ]) {
    const before = byReason.get(reason)
    byReason.set(reason, {
      reason,
      messages: messages + (before?.messages ?? 0),
      tokens: tokens + (before?.tokens ?? 0)
    })
  }
  return [...byReason.values()].filter(({ messages }) => messages > 0)
}

const cutContents = ({ cuts, history }: Unit): ReadonlyArray<CutContent> =>
  cuts.flatMap(({ characters, index, of }) => {
    const message = history[index]
    if (message === undefined) return []
    const { call, role } = message
    return [{ role, ...defined({ call }), characters, of }]
  })

/** What stands around a prompt that is one round of a loop. */
export interface Round {
  readonly offers: ReadonlyArray<ToolOffer>
  readonly toolTokens: number
  /** What is shown of the rounds before it, in at most so many tokens. */
  readonly rounds: (room: number) => ReadonlyArray<PromptMessage>
}

/** The prompt with the rounds before it behind it, and with the tools where there is room for them. */
export const withRound = ({ messages, report: { limit, tokens } }: Assembled, round: Round | undefined) => {
  if (round === undefined) return { messages, tools: [] }
  const hasRoom = tokens + round.toolTokens <= limit
  const rounds = round.rounds(limit - tokens - (hasRoom ? round.toolTokens : 0))
  return { messages: [...messages, ...rounds], tools: hasRoom ? round.offers : [] }
}
