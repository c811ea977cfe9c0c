export * from "./errors.ts"
export { guardProcess, outsideRuns } from "./guard.ts"
export { nodeRunPlace, runPlaceLayer } from "./node-run-place.ts"
