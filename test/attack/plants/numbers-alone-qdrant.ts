// Planted: as numbers-alone, for an index in Qdrant.
await import("./numbers-alone.ts")
export {}
