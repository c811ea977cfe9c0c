export { databaseClockLayer } from "./store.ts"
export { openPostgresStore, PostgresStore, storePostgresLayer } from "./store.ts"
