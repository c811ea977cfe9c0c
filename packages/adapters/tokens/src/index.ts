export * from "./counter.ts"
export * from "./gpt-tokenizer.ts"
export * from "./pieces.ts"
export * from "./tiktoken.ts"
