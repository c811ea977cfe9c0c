export {
  type ContextDifference,
  type ForkComparison,
  type ForkDifference,
  type CallDigest,
  type TickDigest
} from "./digest.ts"
export { FIXTURE_VERSION, ForkRefused, MAX_COMMITS_BEFORE, MAX_FIXTURE_COMMITS, MAX_SHOWN_CHARS } from "./errors.ts"
export type { PromptPart, PromptQuestion, ShownMessage, TickPrompt } from "./exact-prompt.ts"
export { type FixtureRequest, readFixture, type TickFixture } from "./fixture.ts"
export type { Fork, ForkRequest } from "./fork.ts"
export type { TickSource, TickSources } from "./tick-source.ts"
