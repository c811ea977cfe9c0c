export { type PlantedBug, plantedBugs } from "./bugs.ts"
export { type Fate, fateOf } from "./fate.ts"
export { VirtualTime } from "./virtual-time.ts"
export { runWorld, type WorldOptions, type WorldReport } from "./world.ts"
