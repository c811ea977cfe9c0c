export * from "./errors.ts"
export * from "./tool.ts"
