export { Account, type NamedCall } from "./account.ts"
export {
  Compaction,
  compactionId,
  compactionIds,
  compact,
  type Compacted,
  type CompactInput,
  HISTORY_START_KEY,
  HistoryStart,
  historyStartOf,
  isCompaction,
  SYNTHESIS_HEAD
} from "./compaction.ts"
export {
  DEFAULT_COMPACTION,
  compactionConfig,
  type CompactionConfig,
  compactionOf,
  type CompactionStrategy,
  type CompactionTrigger,
  thresholdOf
} from "./config.ts"
export {
  draftOf,
  type DraftInput,
  type PendingCompaction,
  COMPACTION_KEY,
  pendingCompactionChange,
  type CompactionDraft,
  pendingCompactionOf,
  isRead,
  pieceOf,
  withPiece
} from "./draft.ts"
export {
  afterFailedRound,
  afterRound,
  EXTRACTION_META,
  type Extraction,
  type ExtractionEnd,
  extractionMessages,
  extractionPrefix,
  type ExtractionResult,
  type ExtractionRound,
  extractionRounds,
  extractionText,
  judgeRound,
  NO_EXTRACTION,
  planExtraction
} from "./extraction.ts"
export { maxSummaryChars, type OpenApproval, SUMMARY_HEAD } from "./marker.ts"
export { between, placedMessages } from "./placed.ts"
export {
  type CompactionQuestion,
  planCompaction,
  type Skipped,
  type SkipReason,
  skipReasons,
  type Split,
  splitHistory,
  type SplitOptions
} from "./split.ts"
export { pieceLimits, type PieceLimits, readSummary, summaryAsk, type SummaryQuestion } from "./summary.ts"
export { type CompactionNotUndone, standing, undoCompaction, type UndoneCompaction } from "./undo.ts"
