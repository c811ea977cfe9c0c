// CompactionConfig: how an assistant's history is compacted (F47, F105).
// Owns the defaults and the ranges. Leaves whether it is compacted at all, and from which share of the window on, to the
// settings of the statechart in `assistant`.
// C1  A value outside its range is brought into it, never refused at run time.
// C2  What is null is Reverie's own: the model of the assistant, its own wording.

import { defined } from "@reverie/protocol"
import { DEFAULT_SETTINGS } from "@reverie/assistant"
import type { CompactionTrigger } from "./record.ts"

/**
 * truncate: what is compacted is named, and no one is asked. recursive-summarization: a model writes what it was, piece by
 * piece, each with the summary of those before it.
 */
export type CompactionStrategy =
  | { readonly type: "truncate" }
  | {
      readonly type: "recursive-summarization"
      /** Most tokens of history that one call reads. */
      readonly chunkTokens: number
      /** Most messages of it, where that is limited too. */
      readonly chunkMessages?: number
    }

/** How a history is compacted. */
export interface CompactionConfig {
  /** How many of the newest messages stay as they are. */
  readonly compactPreserveWindow: number
  /** The model that summarizes, by its name; that of the assistant where null. */
  readonly compactModel: string | null
  /** What it is asked with; Reverie's own words where null. */
  readonly compactPrompt: string | null
  /** The assistant may save facts before its history is compacted. */
  readonly preCompactExtractionEnabled: boolean
  /** How often it is asked for them at most. */
  readonly preCompactMaxIterations: number
  /** What it is asked with; Reverie's own words where null. */
  readonly preCompactPrompt: string | null
  /** Summaries of summaries, or the oldest messages left out. */
  readonly strategy: CompactionStrategy
}

export const DEFAULT_COMPACTION: CompactionConfig = {
  compactPreserveWindow: 20,
  compactModel: null,
  compactPrompt: null,
  preCompactExtractionEnabled: true,
  preCompactMaxIterations: 5,
  preCompactPrompt: null,
  strategy: { type: "recursive-summarization", chunkTokens: 64_000 }
}

const within = (value: number, minimum: number, maximum: number): number =>
  Number.isNaN(value) ? minimum : Math.min(maximum, Math.max(minimum, Math.round(value)))

/** An empty text says nothing, so it is Reverie's own. */
const said = (text: string | null): string | null => (text === null || text.trim() === "" ? null : text)

const strategyOf = (strategy: CompactionStrategy): CompactionStrategy => {
  if (strategy.type === "truncate") return strategy
  const { chunkMessages, chunkTokens, type } = strategy
  return {
    type,
    chunkTokens: within(chunkTokens, 200, 10_000_000),
    ...defined({ chunkMessages: chunkMessages === undefined ? undefined : within(chunkMessages, 1, 1_000_000) })
  }
}

/** Fills in defaults and brings every number into its range. */
export const compactionConfig = (chosen: Partial<CompactionConfig> = {}): CompactionConfig => {
  const all = { ...DEFAULT_COMPACTION, ...chosen }
  return {
    compactPreserveWindow: within(all.compactPreserveWindow, 1, 10_000),
    compactModel: said(all.compactModel),
    compactPrompt: said(all.compactPrompt),
    preCompactExtractionEnabled: all.preCompactExtractionEnabled,
    preCompactMaxIterations: within(all.preCompactMaxIterations, 1, 10),
    preCompactPrompt: said(all.preCompactPrompt),
    strategy: strategyOf(all.strategy)
  }
}

/** What makes an assistant compact its history: sleep, a window that is nearly full, or an order, however full it is. */
export const thresholdOf = (
  trigger: CompactionTrigger,
  settings: { readonly compactSleepRatio: number; readonly compactEmergencyRatio: number } = DEFAULT_SETTINGS
): number => {
  if (trigger === "order") return 0
  return trigger === "sleep" ? settings.compactSleepRatio : settings.compactEmergencyRatio
}

/** How far under its threshold a compaction brings the conversation: the same trigger is not met again with the next tick. */
export const AIM_MARGIN = 0.1

/** Share of the context window that a compaction aims at, by the threshold that triggered it (F113). */
export const aimOf = (threshold: number): number => Math.max(0, threshold - AIM_MARGIN)
