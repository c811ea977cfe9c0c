export {
  approvalId,
  canonicalJson,
  isApprovalFor,
  type IsolatedRun,
  type Tool,
  type ToolRecords,
  type ToolResult,
  type ToolRun
} from "./tool.ts"
export type { BlockAccess } from "./blocks/outcome.ts"
export { blockTools } from "./blocks/block-tools.ts"
export { type ToolCache, toolCache, convicted, crashIn, execute, interrupted, refused, unfitness } from "./execute.ts"
export {
  type DefinedTool,
  defineTool,
  type IsolatedToolDefinition,
  type IsolateOptions,
  isToolName,
  noop,
  TOOL_NAME_FORM,
  type ToolBasics,
  type ToolDefinition,
  type Toolkit,
  toolkitOf
} from "./define.ts"
export type { ArgumentsOf, FromJsonSchema, ToolInput } from "./schema/input.ts"
export { acceptForm, checkAnswer, type Form, formOf, readAnswer, rejectionOf } from "./schema/form.ts"
export {
  openLoop,
  type RecordAccess,
  delegateToolNames,
  delegateTools,
  FINISH_TASK,
  finishedIn,
  finishTaskTool,
  type Post,
  sendMessage
} from "./sending/sends.ts"
export { memoryTools, explainRecall } from "./memory/memory-tools.ts"
export { updateEntityObservationTool, addJournalEntryTool } from "./self/journal-tools.ts"
export { reminderRules, type ReminderRules, reminderTools } from "./self/reminder-tools.ts"
export { selfTools } from "./self/self-tools.ts"
export * from "./rules/rule-flaw.ts"
export { type IsolatedCall, type Place, RunPlace } from "./run-place.ts"
export {
  type CallHook,
  callHook,
  editsOf,
  type HookArgs,
  type HookCall,
  type HookChange,
  type HookEnd,
  type HookPurpose,
  type Hooks,
  type HookSeen,
  type HookTable,
  joinedHooks,
  MAX_HOOK_MILLIS,
  type MessageHook,
  placedHooks,
  type PromptHook,
  type ReplyHook,
  type ResultHook,
  tidyMessage,
  withEdits
} from "./hooks.ts"
export { judgeCalls } from "./rules/rules.ts"
export { messageOf } from "./render.ts"
export { ToolDefinitionInvalid } from "./errors.ts"
