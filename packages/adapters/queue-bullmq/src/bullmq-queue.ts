// BullmqQueue: the WakeQueue of a fleet, on BullMQ.
// Owns putting the parts together, and their end. Leaves what they do to giver, hands, later and sleep-schedules.
// B1  Who never takes opens no worker: a process that only gives costs one connection.
// B2  Nothing here fails or hangs its caller, whatever the server does.

import { WakeQueue } from "@reverie/mailbox"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Context from "effect/Context"
import * as Redacted from "effect/Redacted"
import type { Carrier } from "./carrier.ts"
import { makePublisher } from "./publisher.ts"
import { InFlightJobs } from "./in-flight-jobs.ts"
import { makeLater } from "./later.ts"
import { type QueueBullmqOptions, type Timing, timingOf } from "./options.ts"
import { openPostgresCarrier } from "./postgres-carrier.ts"
import { makeQueueMetrics, QueueMetrics } from "./queue-metrics.ts"
import { makeReach, within } from "./reach.ts"
import { openRedisCarrier } from "./redis-carrier.ts"
import { ScheduleKeeper, SleepSchedules, sleepSchedulesOf } from "./sleep-schedules.ts"

const openCarrier = ({ backend, prefix }: QueueBullmqOptions, timing: Timing): Effect.Effect<Carrier> =>
  "redis" in backend
    ? Effect.sync(() => openRedisCarrier(Redacted.value(backend.redis), prefix, timing))
    : openPostgresCarrier(Redacted.value(backend.postgres), prefix, timing)

const open = Effect.fnUntraced(function* (options: QueueBullmqOptions) {
  const timing = timingOf(options)
  const context = yield* Effect.context()
  const now = options.now ?? Effect.sync(() => Date.now())
  const carrier = yield* openCarrier(options, timing)
  // Who begins before the server answers begins without it.
  yield* Effect.promise(() => within("begin", timing.deadlineMillis, carrier.ready()).catch(() => undefined))
  const reach = yield* makeReach(carrier, timing.deadlineMillis)
  const publisher = makePublisher(carrier, reach)
  const later = makeLater(carrier, reach, publisher, {
    deadlineMillis: timing.deadlineMillis,
    now: () => Effect.runPromiseWith(context)(now)
  })
  const schedules = new ScheduleKeeper(carrier, reach)
  let inFlightJobs: InFlightJobs | undefined
  const opened = (): InFlightJobs => {
    later.open()
    return (inFlightJobs ??= new InFlightJobs(carrier, reach, timing, options.concurrency))
  }
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      schedules.close()
      await Promise.all([inFlightJobs?.close(), later.close()])
      await carrier.close()
    })
  )
  const queue: WakeQueue["Service"] = {
    wake: (address, urgency, trace) => Effect.promise(() => publisher.wake(address, urgency, trace)),
    wakeAt: (address, dueAt) => Effect.flatMap(now, (at) => Effect.promise(() => later.wakeAt(address, dueAt, at))),
    take: Effect.suspend(() => opened().take)
  }
  return Context.make(WakeQueue, queue).pipe(
    Context.add(SleepSchedules, sleepSchedulesOf(schedules)),
    Context.add(QueueMetrics, makeQueueMetrics(carrier, reach))
  )
})

export const queueBullmqLayer = (options: QueueBullmqOptions): Layer.Layer<WakeQueue | SleepSchedules | QueueMetrics> =>
  Layer.effectContext(open(options))
