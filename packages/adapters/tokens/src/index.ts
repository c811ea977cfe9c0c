export { gptTokenizerLayer } from "./gpt-tokenizer.ts"
