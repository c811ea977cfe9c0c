export { acceptsOf } from "./accepts.ts"
export { type Call, callId, type CallPhase, type CallRequest, type Refusal } from "./calls.ts"
export * from "./budget/index.ts"
export { type Chart, type ChartEdge, type ChartNode, chartOf } from "./chart.ts"
export { type AssistantContext, type SubAgentStart, patternNow, settingsNow } from "./context.ts"
export {
  creation,
  contextOf,
  decide,
  type Decision,
  type Decoded,
  receives,
  type Input,
  isIgnored,
  persist,
  restore,
  statusOf
} from "./decide.ts"
export * from "./errors.ts"
export {
  type AssessOutput,
  type InferFailure,
  type InferOutput,
  jobDone,
  jobFailed,
  type MachineEvent,
  type Signals,
  type StepOutput,
  type ToolOutput
} from "./events.ts"
export * from "./filter.ts"
export {
  type Ignored,
  ignored,
  type IgnoredKind,
  type LeafState,
  passingStates,
  restingStates,
  whyIgnored
} from "./ignored.ts"
export { machineJson } from "./export.ts"
export { assistantMachine } from "./machine.ts"
export { type Haste, type Outage, type OutageSeen } from "./outage.ts"
export * from "./ambient-messages.ts"
export {
  type ExecutionMode,
  executionModes,
  type ExecutionPattern,
  patternOf,
  restrict,
  type Restriction
} from "./pattern.ts"
export { type CompactionPhase, compactionPhases, type DreamOperation, dreamOperations } from "./phases.ts"
export * from "./schedule.ts"
export * from "./select-pattern.ts"
export { changedSettings, DEFAULT_SETTINGS, MAX_SUB_AGENTS, type Settings, settingsOf } from "./settings.ts"
export * from "./self/index.ts"
export { isWarned } from "./spending.ts"
export { activityOf, isTagged, modeOf } from "./state.ts"
export { type Activity, activities, conditions, type Mode, modes, type StateTag } from "./state-tag.ts"
export * from "./sub-agents/index.ts"
export * from "./team/index.ts"
export { mayWait, waitOf } from "./waiting.ts"
