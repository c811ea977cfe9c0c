export * from "./as-data.ts"
export * from "./clean-text.ts"
export { instructionIn } from "./instruction.ts"
