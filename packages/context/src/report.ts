// Report: what a prompt was made of, and what became of the rest.
// Owns the account of one assembly and the comparison of two. Leaves making it to `assemble.ts`.
// R1  It is JSON and small: it is kept with every iteration.
// R2  Whatever was known and is not in the prompt is in the report, with the reason.
// R3  A comparison names every part that differs, and nothing that does not.

import { defined, type Role } from "@reverie/protocol"
import { inReadingOrder, isLate } from "./layout/context-types.ts"
import { PLACES } from "./layout/scheme.ts"
import type { Amount } from "./tokens/window.ts"

/** One part of a prompt, as it came out. */
export interface Part {
  /** The number of its component: parts stand in this order. */
  readonly id: number
  /** The key of its component. */
  readonly key: string
  /** How many messages it came to. */
  readonly messages: number
  /** How many tokens these have. */
  readonly tokens: number
}

export interface LeftOut extends Amount {
  /**
   * `result-without-call`: its call was left out before, or never was in history. `not-in-context`: this kind of
   * context has no such part. `replaced`: a component stands in its place. `other-person`: it is kept from who speaks.
   */
  readonly reason: "over-limit" | "result-without-call" | "not-in-context" | "replaced" | "other-person"
}

/** A component that is not in the prompt. */
export interface Absent {
  readonly key: string
  /** `shown-before`: all of it stands beside earlier events of the window. */
  readonly reason: "disabled" | "not-in-context" | "empty" | "over-memory" | "shown-before"
}

/** A content that was cut, in UTF-16 units. */
export interface CutContent {
  readonly role: Role
  readonly call?: string
  readonly characters: number
  readonly of: number
}

export interface Report {
  /** The kind of context, when one was given. */
  readonly context?: string
  /** In ascending order of their ids. */
  readonly parts: ReadonlyArray<Part>
  /** Tokens of the offered tools. */
  readonly toolTokens: number
  /** All parts and the offered tools together. */
  readonly tokens: number
  /** What they may be together. */
  readonly limit: number
  /** `tokens` as a share of the context window, 0 to 1. */
  readonly share: number
  /** Components that are not in the prompt, each with the reason. */
  readonly absent: ReadonlyArray<Absent>
  /** Messages of the history that are not in it, by reason. */
  readonly leftOut: ReadonlyArray<LeftOut>
  /** Contents that were cut to fit. */
  readonly cuts: ReadonlyArray<CutContent>
  /** Ids of calls without a result, which the prompt names as interrupted. */
  readonly interrupted: ReadonlyArray<string>
  /** Fingerprints by the key of a part: of its first message. That of the offered tools stands under `tools`. */
  readonly marks?: Readonly<Record<string, string>>
}

/** A report as it is kept and shown. */
export type ContextReport = Report

/** How one part differs; null where it was not there. */
export interface PartChange {
  /** The number of its component. */
  readonly id: number
  /** The key of its component. */
  readonly key: string
  /** Tokens before and after. */
  readonly tokens: readonly [number | null, number | null]
  /** Messages before and after. */
  readonly messages: readonly [number | null, number | null]
}

/** How two prompts differ, part by part. */
export interface ReportComparison {
  /** The kind of context before and after; null where none was given. */
  readonly context: readonly [string | null, string | null]
  /** All tokens before and after. */
  readonly tokens: readonly [number, number]
  /** Tokens of the offered tools before and after. */
  readonly toolTokens: readonly [number, number]
  /** What the tokens might be, before and after. */
  readonly limit: readonly [number, number]
  /** The share of the context window, 0 to 1, before and after. */
  readonly share: readonly [number, number]
  /** What the second prompt has more than the first, less than nothing when it has less. */
  readonly tokensMore: number
  /** Parts that differ, in ascending order of their ids. */
  readonly parts: ReadonlyArray<PartChange>
  /** Components absent from the one and not, or for another reason, from the other. */
  readonly absent: ReadonlyArray<{ readonly key: string; readonly reasons: readonly [string | null, string | null] }>
  /** History left out, by reason, where it differs. */
  readonly leftOut: ReadonlyArray<{ readonly reason: string; readonly messages: readonly [number, number] }>
  /** How many contents were cut, before and after. */
  readonly cuts: readonly [number, number]
  /** How many calls had no result, before and after. */
  readonly interrupted: readonly [number, number]
}

/** Two ticks side by side: each pair is the first report's value, then the second's. */
export const compareReports = (a: Report, b: Report): ReportComparison => ({
  context: [a.context ?? null, b.context ?? null],
  tokens: [a.tokens, b.tokens],
  toolTokens: [a.toolTokens, b.toolTokens],
  limit: [a.limit, b.limit],
  share: [a.share, b.share],
  tokensMore: b.tokens - a.tokens,
  parts: pairs(a.parts, b.parts, ({ id, key }) => `${id} ${key}`)
    .filter(([one, other]) => one?.tokens !== other?.tokens || one?.messages !== other?.messages)
    .map(([one, other]): PartChange => ({
      id: (one ?? other)?.id ?? 0,
      key: (one ?? other)?.key ?? "",
      tokens: [one?.tokens ?? null, other?.tokens ?? null],
      messages: [one?.messages ?? null, other?.messages ?? null]
    }))
    .toSorted((one, other) => one.id - other.id),
  absent: pairs(a.absent, b.absent, ({ key }) => key)
    .filter(([one, other]) => one?.reason !== other?.reason)
    .map(([one, other]) => ({
      key: (one ?? other)?.key ?? "",
      reasons: [one?.reason ?? null, other?.reason ?? null]
    })),
  leftOut: pairs(a.leftOut, b.leftOut, ({ reason }) => reason)
    .filter(([one, other]) => one?.messages !== other?.messages)
    .map(([one, other]) => ({
      reason: (one ?? other)?.reason ?? "",
      messages: [one?.messages ?? 0, other?.messages ?? 0]
    })),
  cuts: [a.cuts.length, b.cuts.length],
  interrupted: [a.interrupted.length, b.interrupted.length]
})

// Prefix: how much of a prompt a provider's cache knows from the one before it for the same purpose.
// P1  It follows from two reports alone, so that also prompts of another process are held against each other.
// P2  A conversation that went on has broken nothing; whatever else ends what is known has, and is named.

/** How much of a prompt repeats the one before it, and which part ended that. */
export interface Prefix {
  /** Tokens of the second prompt that repeat the beginning of the first. */
  readonly tokens: number
  /** The same as a share of the second prompt, 0 to 1. */
  readonly share: number
  /** The part that ended it before the conversation did. `cut`: its beginning left the window. */
  readonly broken?: { readonly key: string; readonly how: "changed" | "new" | "gone" | "cut" | "compacted" }
}

const CONVERSATION = PLACES.conversationHistory.key

const messagesGone = ({ leftOut }: Report): number =>
  leftOut.reduce((sum, { messages, reason }) => sum + (reason === "over-limit" ? messages : 0), 0)

/** What stands beside the event of a prompt, and stays there. */
const besideTokens = ({ parts }: Report): number =>
  parts.reduce((sum, { id, key, tokens }) => {
    const stays = isLate(id) && key !== PLACES.semanticMemories.key
    return sum + (stays ? tokens : 0)
  }, 0)

/** The tools, then the parts as a model reads them. */
const readBy = ({ parts, toolTokens }: Report): ReadonlyArray<Part> => [
  { id: -1, key: "tools", messages: 0, tokens: toolTokens },
  ...inReadingOrder(parts)
]

const brokenBy = (before: Report, after: Report, one?: Part, other?: Part): Prefix["broken"] => {
  const key = other?.key ?? ""
  // The first event has become the conversation, or a tool has answered: nothing that was sent has changed.
  if (key === PLACES.toolResult.key || (key === CONVERSATION && tokensOf(before, CONVERSATION) === 0)) return undefined
  if (one?.key === CONVERSATION) {
    return { key: CONVERSATION, how: messagesGone(after) > messagesGone(before) ? "cut" : "compacted" }
  }
  if (one?.key === key) return { key, how: "changed" }
  const isGone = one !== undefined && !after.parts.some((part) => part.key === one.key)
  return isGone ? { key: one.key, how: "gone" } : { key, how: "new" }
}

const tokensOf = ({ parts }: Report, key: string): number => parts.find((part) => part.key === key)?.tokens ?? 0

/** Nothing is known of a first prompt, nor where a report has no fingerprints. */
export const prefixOf = (before: Report | undefined, after: Report): Prefix => {
  const found = (tokens: number, broken?: Prefix["broken"]): Prefix => ({
    tokens,
    share: after.tokens === 0 ? 0 : tokens / after.tokens,
    ...defined({ broken })
  })
  if (before?.marks === undefined || after.marks === undefined) return found(0)
  const wentOn = tokensOf(after, CONVERSATION) > tokensOf(before, CONVERSATION)
  const earlier = readBy(before)
  let tokens = 0
  for (const [at, part] of readBy(after).entries()) {
    const same = earlier[at]
    if (same?.key !== part.key || before.marks[part.key] !== after.marks[part.key]) {
      return found(tokens, brokenBy(before, after, same, part))
    }
    tokens += Math.min(same.tokens, part.tokens)
    if (part.key === CONVERSATION && wentOn) {
      return found(tokens + Math.min(part.tokens - same.tokens, besideTokens(before)))
    }
  }
  return found(tokens)
}

const pairs = <A>(
  one: ReadonlyArray<A>,
  other: ReadonlyArray<A>,
  nameOf: (each: A) => string
): ReadonlyArray<readonly [A | undefined, A | undefined]> => {
  const first = new Map(one.map((each) => [nameOf(each), each]))
  const second = new Map(other.map((each) => [nameOf(each), each]))
  return [...new Set([...first.keys(), ...second.keys()])].map((name) => [first.get(name), second.get(name)])
}
