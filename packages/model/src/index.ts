export { aroundEach, firstOf } from "./fallback.ts"
export {
  Embedder,
  embeddingModelOf,
  type Vector,
  type InferOptions,
  Model,
  type Prompt,
  type PromptMessage,
  type Reply,
  type ToolOffer,
  type EmbeddingModel
} from "./model.ts"
export * from "./errors.ts"
export * from "./tokens.ts"
