export { aroundEach, firstOf } from "./fallback.ts"
export {
  type CallPiece,
  Embedder,
  embeddingModelOf,
  type Vector,
  type InferOptions,
  Model,
  type OutputForm,
  outputText,
  type Prompt,
  type PromptMessage,
  type Reply,
  type ToolOffer,
  type EmbeddingModel,
  withOutputDescribed
} from "./model.ts"
export * from "./errors.ts"
export * from "./tokens.ts"
