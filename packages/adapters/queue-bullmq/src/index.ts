export { loadRedis, queueBullmqLayer, QueueMetrics } from "./bullmq-queue.ts"
export type { QueueBullmqOptions } from "./options.ts"
export { SleepSchedules } from "./sleep-schedules.ts"
