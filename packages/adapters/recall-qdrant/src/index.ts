export type { QdrantOptions } from "./options.ts"
export { recallQdrantLayer } from "./qdrant-recall.ts"
