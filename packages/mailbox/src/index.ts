export * from "./deal.ts"
export * from "./errors.ts"
export * from "./mailbox.ts"
export * from "./wake-queue.ts"
