export * from "./indexing.ts"
export { echoingTools, isWorthIndexing, messageEntry, originOf } from "./messages.ts"
export { applyChanges, indexInSteps, type RecentEntries, searchRecent } from "./recent-entries.ts"
