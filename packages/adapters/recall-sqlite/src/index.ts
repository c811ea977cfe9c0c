export { recallSqliteLayer } from "./recall.ts"
