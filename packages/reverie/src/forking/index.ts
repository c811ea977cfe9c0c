export {
  type ContextDifference,
  type ForkComparison,
  type ForkDifference,
  type CallDigest,
  type TickDigest
} from "./digest.ts"
export { ForkRefused } from "./errors.ts"
export {
  MAX_SHOWN_CHARS,
  type PromptPart,
  promptOfTick,
  type PromptQuestion,
  promptsOfTick,
  type ShownMessage,
  type TickPrompt
} from "./exact-prompt.ts"
export {
  checkFixture,
  FIXTURE_VERSION,
  fixtureOfTick,
  type FixtureRequest,
  MAX_FIXTURE_COMMITS,
  readFixture,
  type TickFixture
} from "./fixture.ts"
export { type Fork, forkTick, type ForkRequest } from "./fork.ts"
export { MAX_COMMITS_BEFORE, type TickSource } from "./tick-source.ts"
