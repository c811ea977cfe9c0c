export * from "./command.ts"
export { defined, isJsonObject, type Json, parseJson } from "./json.ts"
export {
  type Cause,
  type EarlierModel,
  earlierModels,
  type Entry,
  ENTRY_VERSION,
  type HookName,
  hookNames,
  type HookRecord,
  type ModelUse,
  type PromptEdit,
  type Settlement,
  type StepRecord,
  type TickEnd,
  type TickOutcome,
  tickOutcomes,
  type Used
} from "./records/entry.ts"
export * from "./mail/envelope.ts"
export {
  Amount,
  type AnswerForm,
  type AssignmentEnd,
  AssignmentReport,
  AssignmentRequest,
  type CatchUpPolicy,
  type Insulation,
  insulations,
  MAX_TASK_CHARS,
  type AnswerOutcome,
  Event,
  type EventType,
  type Lane,
  laneOf,
  LANES,
  MAX_FORM_CHARS,
  MAX_MESSAGE_CHARS,
  type ReminderNeed,
  ReminderRule,
  textWithParts
} from "./mail/event.ts"
export { TenantId, AssistantId, EnvelopeId, Address, DEFAULT_TENANT, addressKey, sameAddress } from "./json.ts"
export { longWork, SHORT_TEXT } from "./long-work.ts"
export * from "./mail/part.ts"
export * from "./notice.ts"
export { jsonForTerminal, plain, plainForTerminal } from "./plain.ts"
export { eventWords, kindName, senderName, timerWords, withoutJson } from "./spoken.ts"
export { loadWith, PackageMissing, unknownName } from "./missing.ts"
export { ownKinds, type RecordChange, type RecordKind, recordKinds, type RecordRow } from "./records/record.ts"
export {
  STATE_VERSION,
  type AssistantState,
  type Claim,
  entryText,
  type Hold,
  keyText,
  type Pending,
  readEntry,
  readEnvelope,
  readKeyText,
  readState,
  stateText,
  versioned,
  wholeRecord,
  wholeState
} from "./records/stored.ts"
export * from "./records/usage.ts"
