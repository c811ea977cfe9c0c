// Planted: as numbers-alone, for an index in Qdrant.
import "./numbers-alone.ts"
