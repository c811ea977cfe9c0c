// Line: one process's end of a queue, held by a test in plain promises and real time.

import { WakeQueue, type WakeUp } from "@reverie/mailbox"
import { type Address, AssistantId, type Envelope, TenantId, type Urgency } from "@reverie/protocol"
import { queueBullmqLayer, type QueueBullmqOptions, QueueMetrics, SleepSchedules } from "@reverie/queue-bullmq"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import type { SleepHours } from "../src/sleep-schedules.ts"

export const addressOf = (assistant: string, tenant = "default"): Address => ({
  tenant: TenantId.make(tenant),
  assistant: AssistantId.make(assistant)
})

export const openLine = (options: QueueBullmqOptions) => {
  const runtime = ManagedRuntime.make(queueBullmqLayer(options))
  return {
    /** Connects. */
    ready: () => runtime.runPromise(Effect.asVoid(WakeQueue)),
    wake: (address: Address, urgency: Urgency = "person", trace?: string, about?: Envelope) =>
      runtime.runPromise(WakeQueue.use((queue) => queue.wake(address, urgency, trace, about))),
    wakeAt: (address: Address, dueAt: number) =>
      runtime.runPromise(WakeQueue.use((queue) => queue.wakeAt(address, dueAt))),
    take: (signal?: AbortSignal): Promise<WakeUp> =>
      runtime.runPromise(
        WakeQueue.use((queue) => queue.take),
        signal === undefined ? {} : { signal }
      ),
    redact: (...addresses: ReadonlyArray<Address>) =>
      runtime.runPromise(WakeQueue.use((queue) => queue.redact(addresses))),
    done: (wakeUp: WakeUp) => runtime.runPromise(wakeUp.done),
    schedule: (address: Address, hours: SleepHours | undefined) =>
      runtime.runPromise(SleepSchedules.use((schedules) => schedules.set(address, hours))),
    metrics: () => runtime.runPromise(QueueMetrics.use((metrics) => metrics.prometheusMetrics)),
    workers: () => runtime.runPromise(QueueMetrics.use((metrics) => metrics.workers)),
    close: () => runtime.dispose()
  }
}

export type Line = ReturnType<typeof openLine>

export const sleep = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

/** Gives a wake-up over and over, as a sweep does, until it is taken; answers the wake-up. */
export const takenInTheEnd = async (line: Line, address: Address): Promise<WakeUp> => {
  let isTaken = false
  const taking = line.take().finally(() => {
    isTaken = true
  })
  while (!isTaken) {
    await line.wake(address, "routine")
    await Promise.race([taking, sleep(200)])
  }
  return taking
}
