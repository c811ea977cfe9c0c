export { gptTokenizerLayer } from "./byte-pairs.ts"
export { tiktokenLayer } from "./tiktoken.ts"
