export { memoryTools } from "./memory-tools.ts"
export { whyInWords } from "./recall-tool.ts"
