export { type Beginning, beginningOf } from "./beginning.ts"
export { type Difference, MAX_DIFFERENCES, type Path } from "./difference.ts"
export {
  contradiction,
  type Entries,
  type Kept,
  type Mismatch,
  replayFrames,
  type ReplayRange,
  type ReplayVerdict,
  verifyReplay
} from "./replay.ts"
export {
  type ReplayState,
  type ReplayStep,
  replayEntry,
  openReplayState,
  type PausedReplay,
  pauseReplay,
  resumeReplay
} from "./state.ts"
export { type Breakpoint, frameOf, isStop, markOf, type ReplayFrame, type SnapshotMark, snapshotText } from "./frame.ts"
