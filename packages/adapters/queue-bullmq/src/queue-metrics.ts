// QueueMetrics: what BullMQ counts, in the words of Prometheus, and which processes take wake-ups.

import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Carrier } from "./carrier.ts"
import type { Reach } from "./reach.ts"
import { type SeenWorker, workersOf } from "./workers.ts"

export class QueueMetrics extends Context.Service<
  QueueMetrics,
  {
    /** Jobs of both queues by state; empty while the server does not answer. */
    readonly prometheusMetrics: Effect.Effect<string>
    /** The processes that take wake-ups; undefined when the server does not say. */
    readonly workers: Effect.Effect<ReadonlyArray<SeenWorker> | undefined>
  }
>()("@reverie/queue-bullmq/QueueMetrics") {}

/** The header of a metric is said once, however many queues have it. */
const merged = (texts: ReadonlyArray<string>): string => {
  const headers = new Set<string>()
  const lines = texts.flatMap((text) => text.split("\n")).filter((line) => line !== "")
  const isNews = (line: string): boolean => !line.startsWith("#") || (!headers.has(line) && headers.add(line).size > 0)
  return `${lines.filter(isNews).join("\n")}\n`
}

export const makeQueueMetrics = (carrier: Carrier, reach: Reach): QueueMetrics["Service"] => ({
  prometheusMetrics: Effect.promise(async () => {
    try {
      const queues = [carrier.events, carrier.sleep]
      return merged(
        await reach.call("count jobs", () => Promise.all(queues.map((queue) => queue.exportPrometheusMetrics())))
      )
    } catch {
      return ""
    }
  }),
  workers: Effect.promise(() => workersOf(carrier, reach))
})
