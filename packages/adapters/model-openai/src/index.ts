export { openAiEmbedderLayer } from "./openai-embedder.ts"
export { openAiModelLayer } from "./openai-model.ts"
