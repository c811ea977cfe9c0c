export * from "./mail/answer.ts"
export * from "./mail/ask.ts"
export * from "./command.ts"
export { defined } from "./defined.ts"
export {
  type Cause,
  type Entry,
  ENTRY_VERSION,
  type Settlement,
  type StepRecord,
  type TickEnd,
  type TickOutcome
} from "./records/entry.ts"
export * from "./mail/envelope.ts"
export {
  Amount,
  type AssignmentEnd,
  AssignmentReport,
  AssignmentRequest,
  type Insulation,
  insulations,
  MAX_TASK_CHARS
} from "./mail/assignment.ts"
export { type AnswerOutcome, Event, type EventType, type Lane, laneOf, LANES, MAX_MESSAGE_CHARS } from "./mail/event.ts"
export * from "./ids.ts"
export { isJsonObject, type Json, parseJson } from "./json.ts"
export { longWork, SHORT_TEXT } from "./long-work.ts"
export * from "./mail/message.ts"
export * from "./notice.ts"
export { loadWith, PackageMissing } from "./optional-package.ts"
export { ownKinds, type RecordChange, type RecordKind, recordKinds, type RecordRow } from "./records/record.ts"
export * from "./records/state.ts"
export { keyText, readEntry, readEnvelope, readKeyText, readState, versioned } from "./records/stored.ts"
export * from "./tool-rule.ts"
