export { recallQdrantLayer } from "./qdrant-recall.ts"
