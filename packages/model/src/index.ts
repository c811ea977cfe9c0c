export * from "./embedder.ts"
export * from "./errors.ts"
export * from "./model.ts"
export * from "./tokens.ts"
