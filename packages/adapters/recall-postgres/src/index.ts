export { recallPostgresLayer } from "./recall.ts"
