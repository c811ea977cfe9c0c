export { type Addressed, addressed, dynamic, type Selector, selectors } from "./dynamic.ts"
export {
  coordinate,
  NEW_TEAM,
  nextDue,
  type Surroundings,
  type TeamAnswer,
  type TeamEvent,
  type TeamSend,
  type TeamState,
  type TeamStep
} from "./coordinate.ts"
export {
  type Directory,
  type Listed,
  reach,
  type Reached,
  type Seat,
  targetsFor,
  type TeamRole,
  teamRoles,
  type Unreached
} from "./directory.ts"
export { DEFAULT_PAIR_RATE, mayWriteAt, type PairRate, pairRateOf, rateRefusal, timesOf, written } from "./pair-rate.ts"
export { pipeline, type Stage } from "./pipeline.ts"
export { roundRobin } from "./round-robin.ts"
export { sleepTime, type SleepTimeOptions, type WatchTrigger } from "./sleep-time.ts"
export { supervisor, type SupervisorOptions } from "./supervisor.ts"
export type {
  Answer,
  Ask,
  Candidate,
  Move,
  OpenAsk,
  Pattern,
  Question,
  Standing,
  Table,
  Team,
  TeamMember
} from "./team.ts"
export { type TieBreaker, tieBreakers, voting, type VotingOptions } from "./voting.ts"
