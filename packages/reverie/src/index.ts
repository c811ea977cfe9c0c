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
  compareReports,
  type HistoryStart,
  type PartChange,
  type Prefix,
  prefixOf,
  type ReportComparison
} from "@reverie/context"
export type { AssistantRecord, DeadLetter, OutboxRow, Totals } from "@reverie/ledger"
export type { BackupContents, Restored } from "@reverie/store-sqlite"
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
  MemoryKind,
  Passage,
  Recalled,
  RecallOptions,
  RecallScope,
  Why
} from "@reverie/memory"
export type {
  Entry,
  Event,
  Json,
  Notice,
  NoticeType,
  PlacedMessage,
  Receipt,
  RecordKind,
  RecordRow,
  ToolCategory,
  ToolRule
} from "@reverie/protocol"
export { PackageMissing } from "@reverie/protocol"
export type { DreamLine, DreamReport, HostFailure, MemoryRequest } from "@reverie/runtime"
export type {
  AnsweredBy,
  Breakpoint,
  Difference,
  Mismatch,
  ReplayFrame,
  ReplayRange,
  ReplayVerdict,
  SnapshotMark,
  ToolStub
} from "@reverie/runtime"
export {
  blockTools,
  defineTool,
  type IsolatedRun,
  type IsolateOptions,
  memoryTools,
  selfTools,
  sendMessage,
  type Tool,
  type ToolRun,
  whyInWords
} from "@reverie/tools"
export type { ApprovalAsked, Requester } from "./fleet/approvals.ts"
export { type Part, letterProblem } from "./ask.ts"
export type { Blocks, CreatedBlock, EditOptions } from "./fleet/blocks.ts"
export { backup, type BackupRequest, restore, type RestoreRequest } from "./opening/backup.ts"
export { type ContextReport, contextReportOf } from "./views/context-report.ts"
export { type AssistantDefinition, type AssistantOptions, defineAssistant } from "./define-assistant.ts"
export {
  defineFleet,
  type FleetDefinition,
  type FleetOptions,
  type FleetRole,
  type SendOptions
} from "./fleet-options.ts"
export { defineTeam, type SeatOptions, type TeamDefinition, type TeamOptions, type TeamPattern } from "./define-team.ts"
export type { DeadLetterView } from "./fleet/dead-letters.ts"
export type { DefinitionView, TeamView, ToolView } from "./views/definition-view.ts"
export { type Delegated, type OrderOptions, type SleepOptions } from "./fleet/ordering.ts"
export * from "./errors.ts"
export * from "./forking/index.ts"
export { Fleet } from "./fleet.ts"
export type { BudgetView, SubAgentsView, SubAgentView } from "./fleet/sub-agents.ts"
export type { Rebuilt } from "./fleet/memories.ts"
export type { WaitingDeadLetter } from "./views/mail-view.ts"
export type { TenantTerms, Terms } from "./opening/open-fleet.ts"
export * from "./moving/index.ts"
export type { DeepCheck, Flaw } from "./checks/deep-check.ts"
export { Peek } from "./views/peek.ts"
export { play, type Played, readScript, type Script, type ScriptLine, type ScriptProblem } from "./play.ts"
export { describeModel, probeModel, probeServers, type ServerProbe } from "./checks/probe.ts"
export { databaseUrl, type Deployment, type RecallChoice, type ServerIndex } from "./opening/deployment.ts"
export type { EmbedderChoice, ModelChoice, ServerEmbedder, ServerModel } from "./opening/model-choice.ts"
export { type ContextQuestion, type NoticePage, Records } from "./fleet/records.ts"
export { type FramePage, MAX_FRAMES } from "./fleet/replay.ts"
export type { BudgetOption, PricesOption, SubAgentsOption } from "./sub-agents-option.ts"
export { EntityProfile, Fact } from "@reverie/memory"
export type { SpanKind } from "./timeline/spans.ts"
export type { ModelCallView, StepView, TickView, ToolCallView } from "./timeline/tick-view.ts"
export type { LastError, UsageView } from "./views/usage.ts"
export type { TickPage } from "./fleet/watching.ts"
export { type AssistantView, type OutageView, viewOf } from "./views/view.ts"
export type { Prompts } from "./fleet/prompts.ts"
