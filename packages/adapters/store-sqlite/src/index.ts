export * from "./errors.ts"
export { IN_MEMORY, openSqliteStore, SqliteStore, type StoreOptions, storeSqliteLayer } from "./store.ts"
export type { WriterStats } from "./writer.ts"
