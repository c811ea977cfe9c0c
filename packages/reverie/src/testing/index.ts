export * from "./errors.ts"
export { runTool, type RunToolOptions, type ToolRunResult } from "./run-tool.ts"
export {
  type Answer,
  calls,
  denied,
  type ModelRequest,
  type Purpose,
  refused,
  type Script,
  type ScriptedCall,
  type ScriptedFailure,
  type ScriptedModel,
  scriptedModel,
  type ScriptedReply,
  slow,
  unavailable,
  unusable
} from "./scripted-model.ts"
export type { ModelCall } from "./stage.ts"
export { type TestClock, testClock } from "./test-clock.ts"
export { type TestFleet, testFleet, type TestFleetOptions } from "./test-fleet.ts"
export type { Moment, Span } from "./virtual-clock.ts"
export {
  type CallsOptions,
  type CostLimits,
  expectApprovals,
  expectCostAtMost,
  type ExpectedCall,
  type ExpectedFact,
  type ExpectedRequest,
  expectFacts,
  expectRecall,
  expectRequest,
  expectToolCalls,
  type MadeCall,
  matchers,
  type ReverieMatchers,
  toolCallsOf,
  type Verdict,
  type Words,
  differenceOf,
  isLike,
  type Like
} from "./expectations.ts"
export {
  type Fixture,
  fixtureFrom,
  fixtureOf,
  type FixtureSource,
  type Lived,
  type MemoryCase,
  type Replayed,
  replayFixture,
  type ReplayRequest,
  type RecordedCall,
  type RecordingModel,
  recordingModel
} from "./fixtures.ts"
export type { CaseChanges, SavedCase, TickCase } from "../forking/tick-case.ts"
export { openEmbedder, type OpenEmbedder, openModel, type OpenModel } from "../models/open-model.ts"
export {
  type CalledTool,
  type CaseReport,
  casesFrom,
  defineEval,
  type Eval,
  type EvalCase,
  type EvalOptions,
  type EvalReport,
  evalsIn,
  evalText,
  runEval,
  type Score,
  type Scored,
  type Scorer,
  type Task,
  type TaskResult
} from "./evals.ts"
export {
  assistantTask,
  type AssistantTaskOptions,
  callsTools,
  contains,
  fixtureTask,
  judgedBy,
  type JudgeOptions,
  savedEval,
  unchanged,
  usesAtMost
} from "./scorers.ts"
export type { DreamCase, FactLabel } from "./dreams/dream-case.ts"
export { type DreamEval, type DreamEvalOptions, type DreamFigures, evalDreams } from "./dreams/eval-dreams.ts"
