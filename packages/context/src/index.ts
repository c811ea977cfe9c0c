export { assemble, type AssembleInput, type Round, withRound } from "./assemble.ts"
export {
  type BlockOptions,
  type PromptBlock,
  renderBlock,
  shownBlocks,
  withinMemory,
  collect,
  type PluggedIn,
  bufferContent,
  characterContent,
  goalsContent,
  type Marks,
  needsOpening,
  openingOf,
  type ShownPart,
  type Standing,
  toolRulesText,
  unshown
} from "./collect.ts"
export type { ContextBuild } from "./build-config.ts"
export {
  allowedTools,
  contentOverride,
  contextIn,
  type ContextTypeConfig,
  contextTypes,
  type DefinesContexts,
  findContextType,
  getContextType,
  inReadingOrder,
  SLEEP_TOOLS
} from "./layout/context-types.ts"
export type { Component, UncountedMessage } from "./layout/component.ts"
export { ContextTooSmall, NoPlaceAfter, PlacesTaken } from "./errors.ts"
export {
  compact,
  compactionIds,
  type Fill,
  HISTORY_START_KEY,
  historyFloorChange,
  HistoryHold,
  historyHoldChange,
  historyHoldKeys,
  historyHoldOf,
  historyStartOf,
  isCompaction,
  isHistoryHeld,
  undoCompaction
} from "./compaction/compaction.ts"
export { compactionConfig, type CompactionConfig, thresholdOf } from "./compaction/config.ts"
export { Compaction, type CompactionTrigger, HistoryStart } from "./compaction/record.ts"
export {
  draftOf,
  isRead,
  pendingCompactionChange,
  pendingCompactionOf,
  pieceOf,
  RoundMessage,
  withPiece,
  placedMessages
} from "./compaction/draft.ts"
export {
  afterFailedRound,
  afterRound,
  callsMade,
  extractionMessages,
  extractionPrefix,
  type ExtractionResult,
  extractionRounds,
  extractionText,
  judgeRound,
  NO_EXTRACTION,
  planExtraction
} from "./compaction/extraction.ts"
export { retained, type Retained, type RetainedDetail, type WindowPart, windowParts } from "./compaction/retained.ts"
export { maxSummaryChars, SUMMARY_HEAD } from "./compaction/marker.ts"
export { type CompactionQuestion, planCompaction, skipReasons } from "./compaction/split.ts"
export { pieceLimits, readSummary, summaryAsk } from "./compaction/summary.ts"
export { append, conversationTokens, openWindow, type Unit, type Window, withUnits } from "./tokens/window.ts"
export {
  type Content,
  countMessage,
  dataOf,
  fingerprintOf,
  openPriceBook,
  type PriceBook,
  textOf
} from "./tokens/price-book.ts"
export { componentToPromptComponent } from "./prompt/components.ts"
export {
  BuiltInLocked,
  ImportRefused,
  KeyTaken,
  NothingToUndo,
  PlaceholdersMissing,
  PromptConflict,
  PromptInvalid,
  PromptStoreUnavailable,
  PromptUnknown,
  PromptUnreadable
} from "./prompt/errors.ts"
export {
  type PromptRow,
  readPromptRow,
  type PromptChange,
  type PromptKind,
  type PromptLine,
  PromptStore,
  type PromptVersion
} from "./prompt/store/prompt-store.ts"
export { getPromptRegistry, type PromptRegistry } from "./prompt/registry.ts"
export { type PlaceholderValues, type PromptTemplate, safeRenderTemplate } from "./prompt/template.ts"
export { builtInTemplates, FILLED_GAPS, REFLECTION_METRICS } from "./prompt/templates.ts"
export {
  type Absent,
  type LeftOut,
  compareReports,
  type ContextReport,
  type PartChange,
  type Prefix,
  prefixOf,
  type Report,
  type ReportComparison
} from "./report.ts"
export { FORM_PLACE, PLACES, RESERVED_COMPONENTS, STATIC_COMPONENTS } from "./layout/scheme.ts"
