export { outsideRuns } from "./runs.ts"
export { nodeRunPlace, runPlaceLayer } from "./node-run-place.ts"
