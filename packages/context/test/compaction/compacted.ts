// Compacted: a history compacted in a test as the runtime compacts it, round by round, without a model.

import { journalOf } from "@reverie/assistant"
import type { Json, Message, PlacedMessage, RecordChange } from "@reverie/protocol"
import {
  draftOf,
  compact,
  compactionConfig,
  type CompactionConfig,
  type CompactionTrigger,
  type HistoryStart,
  isRead,
  pieceLimits,
  pieceOf,
  planCompaction,
  withPiece
} from "../../src/index.ts"
import { count } from "../histories.ts"
import { type Compacted, type CompactInput } from "../../src/compaction/compaction.ts"
import { type Skipped } from "../../src/compaction/split.ts"

export const NOW = Date.UTC(2025, 11, 6, 17, 15, 0)

/** Messages as a ledger has them, a few in each entry. */
export const placed = (messages: ReadonlyArray<Message>, firstNo = 1): ReadonlyArray<PlacedMessage> =>
  messages.map((message, at) => ({ place: { no: firstNo + Math.floor(at / 3), index: at % 3 }, message }))

/** What an assistant keeps, as commits change it. */
export type Kept = Map<string, Map<string, Json>>

export const apply = (kept: Kept, changes: ReadonlyArray<RecordChange>): void => {
  for (const { key, kind, value } of changes) {
    const records = kept.get(kind) ?? new Map<string, Json>()
    if (value === null) records.delete(key)
    else records.set(key, value)
    kept.set(kind, records)
  }
}

export interface CompactionRun {
  readonly config?: Partial<CompactionConfig>
  readonly trigger?: CompactionTrigger
  readonly ratio?: number
  readonly force?: boolean
  readonly maxContextTokens?: number
  readonly start?: HistoryStart | undefined
  readonly now?: number
  readonly more?: Partial<CompactInput>
  /** Stands for a model: what it is given, and the summary it makes of it. */
  readonly summarize?: (piece: ReadonlyArray<PlacedMessage>, soFar: string) => string
}

/** One whole compaction, from the plan to the changes of the last commit. */
export const replayAll = (history: ReadonlyArray<PlacedMessage>, run: CompactionRun = {}): Compacted | Skipped => {
  const {
    force = false,
    maxContextTokens = 100_000,
    more,
    now = NOW,
    ratio = 0.75,
    start,
    summarize = (piece, soFar) => `${soFar === "" ? "" : `${soFar} `}Then ${piece.length}.`,
    trigger = "sleep"
  } = run
  const config = compactionConfig(run.config)
  const split = planCompaction({
    history,
    window: config.compactPreserveWindow,
    enabled: true,
    ratio,
    threshold: 0.7,
    force,
    maxContextTokens
  })
  if (split.skipped) return split
  const earlier = start?.summary ?? ""
  let draft = draftOf({ split, trigger, threshold: 0.7, ratio, earlier, strategy: config.strategy })
  if (draft === undefined) throw new Error("a split that compacts something makes a draft")
  const limits = pieceLimits(config, { maxContextTokens, reservedResponseTokens: 0 })
  while (!isRead(draft)) {
    const piece = pieceOf(draft, history, limits)
    draft = withPiece(draft, history, piece, summarize(piece, draft.summary))
  }
  return compact({
    draft,
    history,
    start,
    config,
    approvals: [],
    canRead: true,
    journal: journalOf(new Map(), new Map()),
    moment: { now, tick: 7 },
    taken: () => false,
    maxContextTokens,
    priced: count,
    ...more
  })
}
