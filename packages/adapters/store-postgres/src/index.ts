export * from "./database-clock.ts"
export * from "./errors.ts"
export {
  openPostgresStore,
  PostgresStore,
  storePostgresLayer,
  type StoreOptions as PostgresStoreOptions
} from "./store.ts"
export type { WriterStats as PostgresWriterStats } from "./writer.ts"
