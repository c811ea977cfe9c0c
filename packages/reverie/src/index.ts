export type { Readiness } from "./checks/readiness.ts"
export {
  type Activity,
  activityOf,
  type Answer,
  type Ask,
  type Candidate,
  type Chart,
  type ChartEdge,
  type ChartNode,
  chartOf as chart,
  DEFAULT_SETTINGS,
  isTagged,
  type Listening,
  type Mode,
  modeOf,
  modes,
  type Move,
  type PairRate,
  type Pattern,
  type Question,
  type Settings,
  type Stage,
  type Table,
  tagsOf,
  type Team,
  type TeamMember,
  type TeamRole,
  type WatchTrigger
} from "@reverie/assistant"
export {
  Compaction,
  type CompactionConfig,
  compareReports,
  type HistoryStart,
  type PartChange,
  type Prefix,
  prefixOf,
  type ReportComparison,
  type Retained,
  type RetainedDetail,
  type WindowPart
} from "@reverie/context"
export type {
  AllowanceView,
  Archived,
  AssistantRecord,
  DeadLetter,
  OutboxRow,
  PlaceReport,
  Retention,
  RetentionBound,
  TenantLimits,
  Totals
} from "@reverie/ledger"
export type { VacuumOptions, VacuumReport } from "./opening/vacuuming.ts"
export type { SegmentsChoice, SegmentStorage } from "./options/segments.ts"
export type { BackupContents, KeysLacking, Restored } from "@reverie/store-sqlite"
export {
  defineMcpServer,
  mcpServer,
  type McpServerOptions,
  type McpTools,
  mcpTools,
  McpToolsRefused,
  McpUnavailable,
  pinsText
} from "@reverie/mcp"
export type {
  BlockChange,
  BlockDraft,
  BlockOperation,
  BlockPermission,
  BlockReading,
  BlockSchema,
  BlockSetting,
  BlockType,
  BlockVersion,
  BlockView,
  Hit,
  IndexSnapshot,
  IndexState,
  IndexStatus,
  KeptChange,
  MemoryEntry,
  MemoryKind,
  Passage,
  Recalled,
  RecallOptions,
  RecallScope,
  SearchMode,
  Why
} from "@reverie/memory"
export type {
  AssignmentReport,
  AssignmentRequest,
  ContentPart,
  Entry,
  Event,
  GivenPart,
  HookName,
  HookRecord,
  Json,
  Notice,
  NoticeType,
  PlacedMessage,
  PromptEdit,
  Receipt,
  RecordKind,
  RecordRow,
  ReminderRule,
  ToolCategory,
  ToolRule
} from "@reverie/protocol"
export { PackageMissing } from "@reverie/protocol"
export type { DreamLine, DreamReport, HostFailure, IndexCaughtUp, IndexLag, MemoryRequest } from "@reverie/runtime"
export type {
  AnsweredBy,
  Breakpoint,
  Difference,
  Mismatch,
  ReplayFrame,
  ReplayRange,
  ReplayVerdict,
  UnknownCommits,
  SnapshotMark,
  ToolStub
} from "@reverie/runtime"
export {
  blockTools,
  type ArgumentsOf,
  type CallHook,
  type HookArgs,
  type HookCall,
  type HookPurpose,
  type Hooks,
  type MessageHook,
  type PromptHook,
  type ReplyHook,
  type ResultHook,
  type DefinedTool,
  defineTool,
  type FromJsonSchema,
  type IsolatedRun,
  type IsolatedToolDefinition,
  type IsolateOptions,
  memoryTools,
  reminderTools,
  selfTools,
  sendMessage,
  type Tool,
  type ToolBasics,
  type ToolDefinition,
  type ToolInput,
  type ToolRun,
  explainRecall
} from "@reverie/tools"
export type { ApprovalAsked, ApprovalReadings, Requester } from "./fleet/approvals.ts"
export type { AnswerOf, Parts } from "./ask.ts"
export type { AnswerError, Done, Part } from "./stream/parts.ts"
export { isPlace, type Placed, PartWriter } from "./stream/part-writer.ts"
export { UI_STREAM_END, UI_STREAM_HEADERS, UIChunks, uiFrame, type UIMessageChunk } from "./stream/ui-stream.ts"
export type { AnswerSchema, FormOption } from "./letter.ts"
export type { Blocks, EditOptions } from "./fleet/blocks.ts"
export type { BackupRequest, EncryptRequest, RestoreRequest, RotateKeysRequest } from "./opening/backup.ts"
export type { Encrypted, Encryption, EncryptionKey, MasterKey, Rotated } from "@reverie/store-sqlite"
export { type ContextReport, contextReportOf } from "./views/context-report.ts"
export type { RetrievedMemory } from "./views/retrieved.ts"
export {
  type AssistantDefinition,
  type AssistantOptions,
  type AssistantSettings,
  type CreatedBlock,
  defineAssistant,
  instructionsKey,
  type SleepOption
} from "./define-assistant.ts"
export {
  type AskOptions,
  defineFleet,
  type DefineFleetOptions,
  type FleetDefinition,
  type FleetOptions,
  type FleetRole,
  type IdleOptions,
  type SendOptions,
  type TenantTerms,
  type Terms
} from "./fleet-options.ts"
export { defineTeam, type SeatOptions, type TeamDefinition, type TeamOptions, type TeamPattern } from "./define-team.ts"
export type { FleetReminders, ReminderReadings, ReminderRequest } from "./fleet/reminders.ts"
export type { Reminder, ReminderLine } from "@reverie/assistant/reminders"
export type { DeadLetterDetail, DeadLetterReadings, DeadLetterView, FleetDeadLetters } from "./fleet/dead-letters.ts"
export {
  type ContextKindView,
  type DefinitionView,
  definitionViewOf,
  type TeamView,
  type ToolView
} from "./views/definition-view.ts"
export { type Sentence, Sentences } from "./views/sentence.ts"
export type {
  DreamAccount,
  DreamChanged,
  DreamForgotten,
  DreamItem,
  DreamLearnt,
  DreamLinked,
  DreamSource
} from "./views/dream-account.ts"
export type {
  DecisionOptions,
  FleetCompactions,
  FleetMemories,
  OrderOptions,
  RetireFactOptions,
  AcceptDreamOptions,
  UndoDreamOptions,
  SleepOptions,
  StopOptions
} from "./fleet/ordering.ts"
export type { Forgettable, ForgetOptions, ForgetReceipt, Sayings, UnreadSegment } from "./forgetting/forgetting.ts"
export type { ForgetFound, ForgetSample } from "./forgetting/topics.ts"
export * from "./errors.ts"
export {
  type ContextDifference,
  type ForkComparison,
  type ForkDifference,
  type CallDigest,
  type TickDigest
} from "./forking/digest.ts"
export {
  FIXTURE_VERSION,
  ForkRefused,
  MAX_COMMITS_BEFORE,
  MAX_FIXTURE_COMMITS,
  MAX_FRAMES,
  MAX_SHOWN_CHARS
} from "./forking/errors.ts"
export type { PromptPart, PromptQuestion, ShownMessage, TickPrompt } from "./forking/exact-prompt.ts"
export { type FixtureRequest, readFixture, type TickFixture } from "./forking/fixture.ts"
export type { Fork, ForkRequest } from "./forking/fork.ts"
export type { CaseChanges, EvalCaseRequest, ForkBeginning, SavedCase } from "./forking/tick-case.ts"
export type { TickSource, TickSources } from "./forking/tick-source.ts"
export {
  backup,
  checkExport,
  checkFixture,
  describeModel,
  encrypt,
  exportFleet,
  fixtureOfTick,
  Fleet,
  FleetReader,
  forkTick,
  importAgentFile,
  importFleet,
  moveDataStore,
  play,
  probeModel,
  probeServers,
  promptOfTick,
  promptsOfTick,
  reopenDataStore,
  restore,
  rotateKeys,
  unusedModelKey
} from "./doors.ts"
export type {
  BudgetRequest,
  Delegated,
  FleetSubAgents,
  SubAgentReadings,
  SubAgentSlots,
  SubAgentsView,
  SubAgentView
} from "./fleet/sub-agents.ts"
export { describeIndex, type IndexReport, type IndexRestored, type MemoryIndex } from "./checks/memory-index.ts"
export type { CompactionOutcome, CompactionReadings, FleetMemory, Rebuilt, WindowNow } from "./fleet/memories.ts"
export type { WaitingDeadLetter } from "./views/mail-view.ts"
export {
  type AgentFile,
  AgentFileUnreadable,
  type LeftBehind,
  MAX_AGENT_FILE_BYTES,
  readAgentFile
} from "./letta/agent-file.ts"
export type { AgentImportOptions, AgentsImported, ImportedAgent } from "./letta/import-agent-file.ts"
export * from "./moving/errors.ts"
export { EXPORT_VERSION, type ExportHeader, type ExportManifest, MAX_LINE_BYTES } from "./moving/export-lines.ts"
export type { ExportOptions } from "./moving/export-fleet.ts"
export type { Checked, Imported, ImportOptions, ExportSource } from "./moving/import-fleet.ts"
export type { DataStoreMoved, MoveOptions } from "./moving/move-data-store.ts"
export { placeName } from "./opening/addresses.ts"
export type { DataStorePlace } from "./moving/place.ts"
export type { DeepCheck, Flaw } from "./checks/deep-check.ts"
export { letterProblem, type Played, readScript, type Script, type ScriptLine, type ScriptProblem } from "./play.ts"
export type { ServerProbe } from "./checks/probe.ts"
export type { Deployment, RecallChoice, ServerIndex } from "./opening/deployment.ts"
export { databaseUrl } from "./opening/addresses.ts"
export type { LanguageModel } from "./models/ai-sdk-model.ts"
export type { ModelSettings } from "./models/ai-sdk-prompt.ts"
export type { EmbedderChoice, EmbeddingModelObject, PromiseEmbedder, ServerEmbedder } from "./models/embedder-choice.ts"
export type { ModelChoice, ModelObject, OneModel, ServerModel } from "./models/model-choice.ts"
export type { ModelOptions, PurposeModels } from "./models/models.ts"
export type { OwnModel, PromiseModel, PromiseOptions, PromiseReply } from "./models/promise-model.ts"
export type { FleetReadings } from "./fleet/records.ts"
export type { FleetReplay, FramePage, ReplayReadings } from "./fleet/replay.ts"
export type { BudgetOption, PricesOption, SubAgentBudget, SubAgentsOption } from "./options/sub-agents.ts"
export { EntityProfile, Fact } from "@reverie/memory"
export type { SpanKind } from "./timeline/spans.ts"
export type { HookView, ModelCallView, StepView, TickView, ToolCallView } from "./timeline/tick-view.ts"
export type { UsagePoint, UsageStep } from "./views/usage-series.ts"
export type { LastError, UsageGroup, UsagePage, UsageQuestion, UsageRow, UsageView } from "./views/usage.ts"
export type {
  ContextQuestion,
  FleetHistory,
  FleetMonitor,
  FleetOutbox,
  LimitsRequest,
  LimitsView,
  MonitorReadings,
  NoticePage,
  OutboxReadings,
  TickPage
} from "./fleet/watching.ts"
export {
  type AssistantSummary,
  type AssistantView,
  type BudgetView,
  type OutageView,
  summaryOf,
  viewOf
} from "./views/view.ts"
export type { Prompts } from "./fleet/prompts.ts"
export { MailboxUnavailable, StateUnreadable, UnknownAssistant } from "@reverie/mailbox"
export { BundleRefused, LedgerUnavailable, UnreadableRecord } from "@reverie/ledger"
export {
  BackupRefused,
  StoreBusy,
  StoreDamaged,
  StoreExposed,
  StoreSealed,
  StoreFormatNewer,
  StoreFormatOlder,
  StoreLost,
  StoreMoved,
  StoreShortened,
  StoreUnopenable,
  StoreUnreleased
} from "@reverie/store-sqlite"
export {
  DatabaseFormatNewer,
  DatabaseUnreleased,
  StoreLeft,
  StoreUnguarded,
  StoreUnreachable
} from "@reverie/store-postgres/errors"
export {
  BuiltInLocked,
  ImportRefused,
  KeyTaken,
  NoPlaceAfter,
  NothingToUndo,
  PlaceholdersMissing,
  PlacesTaken,
  PromptConflict,
  PromptInvalid,
  PromptStoreUnavailable,
  PromptUnknown,
  PromptUnreadable
} from "@reverie/context"
export { BlockRefused, BlockStoreUnavailable, BlockUnknown, BlockUnreadable, RecallUnavailable } from "@reverie/memory"
export {
  ModelDenied,
  ModelRefused,
  ModelUnavailable,
  type Price,
  priceOfModel,
  ReplyUnusable,
  type Tariff
} from "@reverie/model"
export { DefinitionMissing, HostBroken, RecallRefused } from "@reverie/runtime"
export { ToolDefinitionInvalid } from "@reverie/tools"
export { McpServerInvalid } from "@reverie/mcp"
