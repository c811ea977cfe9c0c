// Place: a queue of its own for each law and test, on a server that several of them share.

import { queueBullmqLayer, type QueueBullmqOptions } from "@reverie/queue-bullmq"
import { withServerPatience } from "@reverie/testkit/servers"

let places = 0

export const optionsAt = (
  backend: QueueBullmqOptions["backend"],
  options: Partial<QueueBullmqOptions> = {}
): QueueBullmqOptions => ({
  backend,
  prefix: `place-${process.pid}-${++places}`,
  concurrency: 16,
  drainMillis: 50,
  ...options
})

export const queueAt = (backend: QueueBullmqOptions["backend"], options: Partial<QueueBullmqOptions> = {}) =>
  withServerPatience(queueBullmqLayer(optionsAt(backend, options)))

/** What wake-ups carried by PostgreSQL can not keep. */
export const postgresWaivers = {
  "Q2.in-hand": "BullMQ keeps the last wake-up given while a job is active, and no script of ours looks at it here"
}
