export * from "./errors.ts"
export * from "./model.ts"
export * from "./tokens.ts"
