export { Account, type NamedCall } from "./account.ts"
export {
  Compaction,
  compactionId,
  compactionIds,
  fold,
  type Folded,
  type FoldInput,
  HISTORY_START_KEY,
  HistoryStart,
  historyStartOn,
  isCompaction,
  SYNTHESIS_HEAD
} from "./compaction.ts"
export {
  DEFAULT_FOLDING,
  foldingConfig,
  type FoldingConfig,
  foldingOf,
  type FoldingStrategy,
  type FoldingTrigger,
  thresholdOf
} from "./config.ts"
export {
  draftOf,
  type DraftInput,
  type Folding,
  FOLDING_KEY,
  foldingChange,
  type FoldingDraft,
  foldingOn,
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
  type FoldingQuestion,
  planFolding,
  type Skipped,
  type SkipReason,
  skipReasons,
  type Split,
  splitHistory,
  type SplitOptions
} from "./split.ts"
export { pieceLimits, type PieceLimits, readSummary, summaryAsk, type SummaryQuestion } from "./summary.ts"
export { type NotUnfolded, standing, unfold, type Unfolded } from "./undo.ts"
