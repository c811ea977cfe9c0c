export { memoryTools, whyInWords } from "./memory-tools.ts"
