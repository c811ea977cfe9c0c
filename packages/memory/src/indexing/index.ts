export * from "./indexing.ts"
export { echoingTools, isWorthIndexing, messageEntry, originOf } from "./messages.ts"
export { searchShelf, type Shelf, shelve, weighed } from "./shelf.ts"
