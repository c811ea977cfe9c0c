export { DEFAULT_SETTINGS, type Settings } from "@reverie/assistant"
export { compareReports, type PartChange, type ReportComparison } from "@reverie/context"
export type { AssistantRecord, DeadLetter, OutboxRow, Tally } from "@reverie/ledger"
export type {
  Entry,
  Event,
  Json,
  Notice,
  NoticeType,
  Receipt,
  RecordKind,
  RecordRow,
  ToolCategory,
  ToolRule
} from "@reverie/protocol"
export type { HostFailure } from "@reverie/runtime"
export { defineTool, selfTools, type Tool, type ToolRun } from "@reverie/tools"
export type { Part } from "./ask.ts"
export { type ContextReport, contextReportOf } from "./context-report.ts"
export {
  type AssistantDefinition,
  type AssistantOptions,
  defineAssistant,
  defineFleet,
  type FleetDefinition
} from "./define-assistant.ts"
export * from "./errors.ts"
export { Fleet, type FleetOptions, type SendOptions } from "./fleet.ts"
export { letterProblem } from "./letter.ts"
export { Peek } from "./peek.ts"
export { play, type Played } from "./play.ts"
export { describeModel, probeModel } from "./probe.ts"
export type { ModelChoice, ServerModel } from "./profile.ts"
export { type ContextQuestion, Records } from "./records.ts"
export { readScript, type Script, type ScriptLetter, type ScriptProblem } from "./script.ts"
export { type AssistantView, viewOf } from "./view.ts"
export type { Prompts } from "./prompts.ts"
