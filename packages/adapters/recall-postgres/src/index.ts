export { recallPostgresLayer, type RecallPostgresOptions } from "./recall.ts"
