export { type PlantedBug, plantedBugs } from "./bugs.ts"
export { runWorld, type WorldOptions, type WorldReport } from "./world.ts"
