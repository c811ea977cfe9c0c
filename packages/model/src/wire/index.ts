export * from "./embedding.ts"
export * from "./failure.ts"
export * from "./reply.ts"
export * from "./trying.ts"
