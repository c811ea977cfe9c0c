export { sleepTimerIn } from "./commit/turn.ts"
export { creationOf } from "./session/session.ts"
export { FleetDirectory } from "./session/definition.ts"
export { type DreamLine, type DreamReport, isDreamReport } from "./dream/profiling.ts"
export { entriesOfTick, entryHistory, type Night, readNight, rowsOfTick } from "./dream/night.ts"
export { retain, TenantRetention } from "./dream/retention.ts"
export { type Definition, type DefinitionModels, Definitions, type MemoryRequest } from "./session/definition.ts"
export { feedLayer, lookedFor } from "./commit/feed.ts"
export { type FaultPoint, faultPoints, Faults, Limits } from "./jobs/job-end.ts"
export {
  inTurns,
  openTurnLine,
  type TenantWeight,
  DEFAULT_WORKER,
  runWorker,
  type WorkerSettings
} from "./worker/worker.ts"
export { Ending } from "./worker/ending.ts"
export { arrive } from "./intake/inbox.ts"
export { type HostFailure, HostFailures, isLasting, type StoreFailure } from "./worker/host-failure.ts"
export { NoticeHub } from "./commit/replies.ts"
export { readCompactions, readHistoryNow, readPast } from "./prompt/past.ts"
export { orderCall, subAgentId } from "./sub-agents/assignments.ts"
export { type IndexLag, indexLag, type IndexCaughtUp, catchUpAll } from "./recall/index-lag.ts"
export { emptyIndex, keepIndexed, rebuildIndex } from "./recall/indexer.ts"
export { recallFor } from "./recall/recaller.ts"
export { beginningOf, forgottenLife } from "./replay/state.ts"
export type { Difference } from "./replay/difference.ts"
export { checkpointBefore, type Entries, replayFrames, type ReplayRange } from "./replay/replay.ts"
export { type Mismatch, type ReplayVerdict, type UnknownCommits, verifyReplay } from "./replay/verdict.ts"
export type { Breakpoint, ReplayFrame, SnapshotMark } from "./replay/frame.ts"
export { isAtRest } from "./session/rest.ts"
export { hiding, Secrets } from "./jobs/job-end.ts"
export { RulesModel } from "./prompt/metered.ts"
export { DisplayName, storedTraceparent } from "./telemetry/spans.ts"
export { type ContentRequest, Telemetry } from "./telemetry/telemetry.ts"
export { deliveriesOf, type Driven, driveTick, type Driving, untilTurn } from "./sandbox/drive.ts"
export { HeldClock } from "./sandbox/held-clock.ts"
export {
  type Asking,
  acceptsAsked,
  modelAsked,
  noting,
  recordedHooks,
  recordedModel,
  type Shown,
  steppedModel
} from "./sandbox/recorded-model.ts"
export { readTick, type RecordedTick } from "./sandbox/recorded-tick.ts"
export { type AnsweredBy, type ToolAnswers, toolAnswers, type ToolStub } from "./sandbox/tool-answers.ts"
export { ledgerOfThen, recallOfThen, withConversations } from "./sandbox/then.ts"
export { DefinitionMissing, HostBroken, RecallRefused } from "./errors.ts"
