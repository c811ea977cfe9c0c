export { firstOf } from "./fallback.ts"
export {
  type BytesOf,
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
  type PromptPart,
  type Reply,
  type ToolOffer,
  withOutputDescribed
} from "./model.ts"
export * from "./errors.ts"
export {
  type Accepts,
  acceptsOf,
  askedWithParts,
  described,
  hasParts,
  tokensOfParts,
  withoutParts,
  withPartsDescribed
} from "./parts.ts"
export * from "./tokens.ts"
