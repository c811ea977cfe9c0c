export type { ExpectedCall, HostileMode, Serve, Verdict } from "./hostile-mode.ts"
export { HOSTILE_TOOL } from "./hostile-mode.ts"
export * from "./hostile-modes.ts"
export { servedOtherEnd } from "./other-end.ts"
export { aiSdkOverFetch, promiseOverFetch } from "./over-fetch.ts"
export { refusalOf } from "./responses.ts"
export * from "./script.ts"
export * from "./server.ts"
export {
  SERVED_DIMENSIONS,
  type VectorMode,
  type VectorModeName,
  vectorModeNames,
  vectorModes,
  type VectorOf
} from "./vectors.ts"
export { DONE, type ModelRequest, piece, type WireMessage } from "./wire.ts"
