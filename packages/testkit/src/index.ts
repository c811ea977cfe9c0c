export * from "./fixtures.ts"
export * from "./law.ts"
export * from "./memory-disk.ts"
export * from "./memory-store.ts"
