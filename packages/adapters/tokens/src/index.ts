export { gptTokenizerLayer } from "./byte-pairs.ts"
