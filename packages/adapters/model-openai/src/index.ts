export * from "./openai-embedder.ts"
export * from "./openai-model.ts"
export type { BreakerOptions, OpenAiEmbedderOptions, OpenAiModelOptions } from "./options.ts"
