export * from "./errors.ts"
export { type ClaimRequest, Mailbox, MAX_PENDING } from "./mailbox.ts"
export * from "./wake-queue.ts"
