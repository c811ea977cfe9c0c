export { DEFAULT_SETTINGS, type Settings } from "@reverie/assistant"
export type { AssistantRecord, DeadLetter, OutboxRow, Tally } from "@reverie/ledger"
export type { Event, Notice, NoticeType, Receipt, ToolCategory } from "@reverie/protocol"
export { defineTool, type Tool, type ToolRun } from "@reverie/tools"
export type { Part } from "./ask.ts"
export {
  type AssistantDefinition,
  type AssistantOptions,
  defineAssistant,
  defineFleet,
  type FleetDefinition
} from "./define-assistant.ts"
export * from "./errors.ts"
export { Fleet, type FleetOptions, type SendOptions } from "./fleet.ts"
export type { ModelChoice, ServerModel } from "./profile.ts"
