export { beginningOf } from "./beginning.ts"

export { contradiction, replayFrames, verifyReplay } from "./replay.ts"
export { type ReplayState, replayEntry, openReplayState, pauseReplay, resumeReplay } from "./state.ts"
export { snapshotText } from "./frame.ts"
