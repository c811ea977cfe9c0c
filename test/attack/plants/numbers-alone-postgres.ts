// Planted: as numbers-alone, for an index in Qdrant beside PostgreSQL.
export * from "./numbers-alone.ts"
