export type { RecallPostgresOptions } from "./database.ts"
export { recallPostgresLayer } from "./recall.ts"
