export { openAiEmbedderLayer } from "./openai-embedder.ts"
export { makeOpenAiModel } from "./openai-model.ts"
