// Look: what a process needs that only looks into a store.
// Owns the list. Leaves opening a fleet, tools and models to index.ts, which costs more to load.
// L1  Whatever is here is in index.ts as well: the same thing, by the shorter way.

export { activityOf, tagsOf } from "@reverie/assistant"
export { FleetReader } from "./peek.ts"
export { viewOf } from "./view.ts"
