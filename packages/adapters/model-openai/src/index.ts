export * from "./openai-model.ts"
export type { BreakerOptions, OpenAiModelOptions } from "./options.ts"
