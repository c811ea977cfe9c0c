export { beginningOf, type ReplayState, replayEntry, openReplayState, pauseReplay, resumeReplay } from "./state.ts"

export { contradiction, replayFrames, verifyReplay } from "./replay.ts"
export { snapshotText } from "./frame.ts"
