// Split: which part of a history is compacted, and which stays.
// Owns the one place where a history is cut, and why it is not. Leaves what becomes of the older part to the modules
// beside it, and when anybody asks to the statechart.
// S1  The newest messages stay, as many as the window says and more only for S2 to S5; each is the very same message.
// S2  A call and all results of it lie on the same side, however late a result came (A17).
// S3  The newest message stays, with its call. The turn it belongs to (the newest user message and all after it) stays whole
//     within the bounds of S4; a longer one is cut inside, so that one message with hundreds behind it can be compacted.
// S4  A turn with tool calls is compacted whole, and one in which a call has no result stays (F106): as long as what stays is
//     at most STRETCH times the window and within `stretchTokens`. Beyond that neither holds a compaction up, so that one turn
//     that never ended does not keep a history from ever being compacted; its open calls are named in the marker.
// S5  Splitting what stays gives nothing to compact.

import type { PlacedMessage } from "@reverie/protocol"
import { aimOf } from "./config.ts"

/** How many times the window may stay for the sake of whole turns. */
const STRETCH = 2

export const skipReasons = {
  disabled: "compaction is switched off",
  "below-threshold": "the conversation is below the threshold",
  "within-window": "the history is no longer than the window that is preserved",
  "one-piece": "nothing can be compacted without splitting a call from its result",
  "no-shorter": "the marker would be as long as what it stands for",
  "too-short": "the history is too short to be worth it"
} as const
export type SkipReason = keyof typeof skipReasons

/** Nothing was done, and the history is as it was. */
export interface Skipped {
  readonly skipped: true
  readonly reason: SkipReason
}

export const skip = (reason: SkipReason): Skipped => ({ skipped: true, reason })

export interface Split {
  readonly skipped: false
  readonly compacted: ReadonlyArray<PlacedMessage>
  readonly preserved: ReadonlyArray<PlacedMessage>
}

export interface SplitOptions {
  /** How many of the newest messages stay. */
  readonly window: number
  /** Most tokens that may stay for the sake of whole turns. */
  readonly stretchTokens?: number
}

/** For each message how far the results of its calls reach: the index of the last one, or its own. */
const reachesOf = (history: ReadonlyArray<PlacedMessage>): { reach: Array<number>; open: Array<number> } => {
  const places = new Map<string, number>()
  const reach = history.map((_, index) => index)
  const open = history.map(() => 0)
  const answered = new Set<string>()
  for (const [index, { message }] of history.entries()) {
    if (message.role === "assistant") {
      for (const { id } of message.calls ?? []) {
        places.set(id, index)
        answered.delete(id)
        open[index] = (open[index] ?? 0) + 1
      }
    }
    const caller = message.role === "tool" ? places.get(message.call ?? "") : undefined
    if (caller === undefined) continue
    reach[caller] = index
    if (answered.has(message.call ?? "")) continue
    answered.add(message.call ?? "")
    open[caller] = (open[caller] ?? 0) - 1
  }
  return { reach, open }
}

/** The first message of the pending turn. */
const pendingFrom = (history: ReadonlyArray<PlacedMessage>): number => {
  const user = history.findLastIndex(({ message }) => message.role === "user")
  return user >= 0
    ? user
    : Math.max(
        0,
        history.findLastIndex(({ message }) => message.role !== "tool")
      )
}

interface Turn {
  readonly start: number
  readonly hasCalls: boolean
  readonly isOpen: boolean
}

/** Turns that begin with a user message. What stands before the first of them is the rest of one, and no whole any more. */
const turnsOf = (history: ReadonlyArray<PlacedMessage>, open: ReadonlyArray<number>): ReadonlyArray<Turn> => {
  const turns: Array<{ start: number; hasCalls: boolean; isOpen: boolean }> = []
  for (const [index, { message }] of history.entries()) {
    if (message.role === "user") turns.push({ start: index, hasCalls: false, isOpen: false })
    const turn = turns.at(-1)
    if (turn === undefined || message.calls === undefined || message.calls.length === 0) continue
    turn.hasCalls = true
    turn.isOpen ||= (open[index] ?? 0) > 0
  }
  return turns
}

/** Where the history is cut: everything before it is compacted. */
const cutOf = (history: ReadonlyArray<PlacedMessage>, { stretchTokens = Infinity, window }: SplitOptions): number => {
  const { open, reach } = reachesOf(history)
  const reachBefore: Array<number> = [-1]
  for (const [index, last] of reach.entries()) reachBefore.push(Math.max(reachBefore[index] ?? -1, last))
  const withoutSplitting = (from: number): number => {
    let cut = from
    while (cut > 0 && (reachBefore[cut] ?? -1) >= cut) cut--
    return cut
  }
  const tokensFrom: Array<number> = [0]
  for (const { message } of history.toReversed()) tokensFrom.push((tokensFrom.at(-1) ?? 0) + message.tokens)
  const mayStay = (cut: number): boolean =>
    history.length - cut <= STRETCH * window && (tokensFrom[history.length - cut] ?? 0) <= stretchTokens
  const pending = Math.min(history.length - window, pendingFrom(history))
  const whole = withoutSplitting(pending)
  const inside = withoutSplitting(history.length - window)
  // Judged by the turn alone: a late result in it, of a call long before, makes it no longer.
  const isTooLong = inside > whole && !mayStay(pending)
  const hard = isTooLong ? inside : whole
  const turns = turnsOf(history, open).filter(({ start }) => start < hard)
  const around = isTooLong || history[hard]?.message.role === "user" ? undefined : turns.at(-1)
  const kept = turns.filter((turn) => turn.isOpen || (turn === around && turn.hasCalls))
  return kept.map(({ start }) => withoutSplitting(start)).find(mayStay) ?? hard
}

/** The history in two, or why not (F50, F51, F54, F58). */
export const splitHistory = (history: ReadonlyArray<PlacedMessage>, options: SplitOptions): Split | Skipped => {
  if (history.length <= options.window) return skip("within-window")
  const cut = cutOf(history, options)
  if (cut <= 0) return skip("one-piece")
  return { skipped: false, compacted: history.slice(0, cut), preserved: history.slice(cut) }
}

export interface CompactionQuestion {
  readonly history: ReadonlyArray<PlacedMessage>
  readonly window: number
  /** Compaction is switched on. */
  readonly enabled: boolean
  /** Tokens of the conversation by those of the context window. */
  readonly ratio: number
  readonly threshold: number
  /** The caller has measured already: the ratio is not checked (A14). */
  readonly force?: boolean
  readonly maxContextTokens: number
}

/** What stays for the sake of whole turns may fill this much of the context window, and no more than is aimed at. */
const STRETCH_SHARE = 0.5

/** Most of the context window that a marker takes, as `marker.ts` bounds it. */
const MARKER_SHARE = 0.1

/**
 * What is to be compacted now, or why nothing is. Extraction and compaction ask the same (A13), so that no one extracts where
 * nothing is compacted.
 */
export const planCompaction = (question: CompactionQuestion): Split | Skipped => {
  const { enabled, force = false, history, maxContextTokens, ratio, threshold, window } = question
  if (!enabled) return skip("disabled")
  if (!force && !(ratio >= threshold)) return skip("below-threshold")
  const aimed = (aimOf(threshold) - MARKER_SHARE) * maxContextTokens
  const stretchTokens = Math.floor(Math.min(STRETCH_SHARE * maxContextTokens, threshold === 0 ? Infinity : aimed))
  return splitHistory(history, { window, stretchTokens })
}
