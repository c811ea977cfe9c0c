export * from "./errors.ts"
export * from "./ledger.ts"
