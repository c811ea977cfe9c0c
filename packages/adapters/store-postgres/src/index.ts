export * from "./database-clock.ts"
export { openPostgresStore, PostgresStore, storePostgresLayer } from "./store.ts"
