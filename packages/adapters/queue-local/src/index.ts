export { queueLocalLayer } from "./local-queue.ts"
