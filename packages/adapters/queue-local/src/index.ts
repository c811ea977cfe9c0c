export * from "./local-queue.ts"
