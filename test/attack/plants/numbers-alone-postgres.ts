// Planted: as numbers-alone, for an index in Qdrant beside PostgreSQL.
await import("./numbers-alone.ts")
export {}
