export { outsideRuns } from "./guard.ts"
export { nodeRunPlace, runPlaceLayer } from "./node-run-place.ts"
