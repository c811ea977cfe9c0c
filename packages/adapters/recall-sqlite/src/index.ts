export { IN_MEMORY } from "./connection.ts"
export { recallSqliteLayer, type RecallSqliteOptions } from "./recall.ts"
