// Planted: as numbers-alone, for an index in Qdrant.
export * from "./numbers-alone.ts"
