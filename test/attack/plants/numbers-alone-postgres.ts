// Planted: as numbers-alone, for an index in Qdrant beside PostgreSQL.
import "./numbers-alone.ts"
