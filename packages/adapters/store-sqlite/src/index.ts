export { type BackupContents, backupDirectory, type Restored, restoreDirectory } from "./files/backup.ts"
export { StoreUnopenable } from "./errors.ts"
export { IN_MEMORY, openSqliteStore, SqliteStore, storeSqliteLayer } from "./store.ts"
export type { WriterStats } from "./writer.ts"
