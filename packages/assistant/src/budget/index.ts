export * from "./account.ts"
export * from "./model-call.ts"
