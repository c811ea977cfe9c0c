// BullmqQueue: the WakeQueue of a fleet, on BullMQ.
// Owns putting the parts together, and their end. Leaves what they do to giver, hands, later and sleep-schedules.
// B1  Who never takes opens no worker: a process that only gives costs one connection.
// B2  Nothing here hangs its caller, whatever the server does, and only taking out what waits fails: no one else can make up for it.
// B3  The client of Redis is loaded where Redis carries: who has none needs no package for it.

import { MailboxUnavailable, WakeQueue } from "@reverie/mailbox"
import { type Address, addressKey, defined, type Envelope, URGENCIES, type Urgency } from "@reverie/protocol"
import { DelayedError, type Job } from "bullmq"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Carrier, Request } from "./carriers/carrier.ts"
import { openPostgresCarrier } from "./carriers/postgres-carrier.ts"
import { InFlightJobs } from "./in-flight-jobs.ts"
import { addressOf, eventOf, mayBeLessUrgent, payloadOf, type Sleep, sleepOptions, tickOptions } from "./job.ts"
import { type QueueBullmqOptions, type Timing, timingOf } from "./options.ts"
import { makeReach, type Reach, type SeenWorker, within, workersOf } from "./reach.ts"
import { ScheduleKeeper, SleepSchedules, sleepSchedulesOf } from "./sleep-schedules.ts"

// Publisher: puts wake-ups into the queue, many at once.
// G1  Wake-ups given in one turn go out together; those for one assistant as one, as urgent as the most urgent of them.
// G2  A wake-up that joins a less urgent one that waits raises it, and moves no other.
// G3  An order is also told to the one who has its assistant in hand.
// G4  What no one waits for any more may still come to the server: it is known until that has answered.

/** Jobs in one call of BullMQ. */
const MOST_AT_ONCE = 500

interface Publisher {
  /** Settles when the wake-up was given or dropped; at once when no one answers. Never fails. */
  readonly wake: (address: Address, urgency: Urgency, trace?: string, about?: Envelope) => Promise<void>
  /** Fails when it can not be given. */
  readonly give: (requests: ReadonlyArray<Request>) => Promise<void>
  /** Settles when nothing of what was given before is on its way any more. */
  readonly arrived: () => Promise<void>
}

const makePublisher = (carrier: Carrier, reach: Reach): Publisher => {
  let batch = new Map<string, Request>()
  let given = Promise.resolve()
  const onTheirWay = new Set<Promise<void>>()

  const raise = async (id: string, priority: number): Promise<void> => {
    const job = await carrier.events.getJob(id)
    if (job !== undefined && job.priority > priority) await job.changePriority({ priority })
  }

  const give = async (requests: ReadonlyArray<Request>): Promise<void> => {
    const priorities = await carrier.priorities(requests)
    const jobs = await carrier.events.addBulk(
      requests.map(({ address, event, trace, urgency }, i) => ({
        name: "tick",
        data: payloadOf(address, trace, event),
        opts: tickOptions(address, urgency, priorities[i] ?? 1)
      }))
    )
    // A job that was there already answers under its own id.
    const raised = requests.flatMap(({ urgency }, i) => {
      const id = jobs[i]?.id
      return id !== undefined && mayBeLessUrgent(id, urgency) ? [raise(id, priorities[i] ?? 1)] : []
    })
    const orders = requests.filter(({ urgency }) => urgency === "order").map(({ address }) => addressKey(address))
    if (orders.length > 0) raised.push(carrier.publish(orders))
    await Promise.all(raised)
  }

  const onItsWay = (work: Promise<void>): Promise<void> => {
    onTheirWay.add(work)
    const end = () => void onTheirWay.delete(work)
    work.then(end, end)
    return work
  }

  const flush = async (): Promise<void> => {
    const requests = [...batch.values()]
    batch = new Map()
    const parts: Array<Promise<void>> = []
    for (let from = 0; from < requests.length; from += MOST_AT_ONCE) {
      const part = requests.slice(from, from + MOST_AT_ONCE)
      parts.push(reach.attempt("take wake-ups", part.length, () => onItsWay(give(part))))
    }
    await Promise.all(parts)
  }

  const isMoreUrgent = (urgency: Urgency, than: Request | undefined): boolean =>
    than === undefined || URGENCIES.indexOf(urgency) < URGENCIES.indexOf(than.urgency)

  return {
    give,
    arrived: async () => {
      await given
      await Promise.allSettled(onTheirWay)
    },
    wake: (address, urgency, trace, about) => {
      if (batch.size === 0) given = new Promise((resolve) => setImmediate(() => resolve(flush())))
      const key = addressKey(address)
      if (isMoreUrgent(urgency, batch.get(key))) {
        const event = about === undefined ? undefined : eventOf(about)
        batch.set(key, { address, urgency, ...defined({ trace, event }) })
      }
      return reach.isAiling() ? Promise.resolve() : given
    }
  }
}

// Later: wake-ups for a later time, and what gives them when it has come.
// T1  Of several times for an assistant the earliest counts, whichever process gave them in whatever order; on
//     PostgreSQL two processes at the same moment may leave the later one.
// T2  A time is judged by the given clock: a job that a wrong machine clock brought too early waits again.
// T3  A time that has come is forgotten before its wake-up is given, so that one given from then on is a new one.

/** How long a job that came too early waits at most before it is looked at again. */
const RECHECK_MILLIS = 5_000

interface Later {
  /** Settles when it is set or dropped. Never fails. */
  readonly wakeAt: (address: Address, dueAt: number, at: number) => Promise<void>
  /** Begins to give wake-ups whose time has come. */
  readonly open: () => void
  readonly close: () => Promise<void>
}

/** The time of a job: as it was given, or the turn of the schedule that made it. */
const dueOf = ({ data, opts }: Job<Sleep>): number => data.dueAt ?? opts.prevMillis ?? 0

const makeLater = (
  carrier: Carrier,
  reach: Reach,
  publisher: Publisher,
  { deadlineMillis, now }: Pick<Timing, "deadlineMillis"> & { readonly now: () => Promise<number> }
): Later => {
  let sleeper: ReturnType<Carrier["openSleeper"]> | undefined

  const add = (address: Address, dueAt: number, at: number) =>
    carrier.sleep.add("sleep", { ...payloadOf(address), dueAt: Math.round(dueAt) }, sleepOptions(address, dueAt, at))

  const set = async (address: Address, dueAt: number, at: number): Promise<void> => {
    if (!(await carrier.appoint({ address, dueAt, at }))) return
    await add(address, dueAt, at)
    // Someone may have set an earlier time in between, and this one has just replaced it.
    const earliest = await carrier.appointed(address)
    if (earliest !== undefined && earliest < Math.round(dueAt)) await add(address, earliest, at)
  }

  const process = async (job: Job<Sleep>, token: string): Promise<void> => {
    const address = addressOf(job.data)
    const [at, appointed] = await Promise.all([now(), carrier.appointed(address)])
    const own = dueOf(job)
    const dueAt = job.data.dueAt === undefined ? own : Math.min(own, appointed ?? own)
    if (dueAt > at) {
      await job.moveToDelayed(Math.round(Date.now() + Math.min(dueAt - at, RECHECK_MILLIS)), token)
      throw new DelayedError()
    }
    if (job.data.dueAt !== undefined) await carrier.keepAppointment(address, Math.max(own, dueAt))
    const kind = job.data.dueAt === undefined ? "sleep" : "due"
    await publisher.give([{ address, urgency: "routine", event: { kind, dueAt } }])
  }

  return {
    wakeAt: (address, dueAt, at) => {
      const settled = reach.attempt("take a wake-up for later", 1, () => set(address, dueAt, at))
      return reach.isAiling() ? Promise.resolve() : settled
    },
    open: () => {
      sleeper ??= carrier.openSleeper((job, token) =>
        within("give a wake-up that is due", deadlineMillis, process(job, token))
      )
    },
    close: async () => {
      const closing = sleeper?.close()
      if (closing === undefined) return
      // What is not done by then is done again when its lock has lapsed.
      await within("close", deadlineMillis, closing).catch(() => undefined)
    }
  }
}

// QueueMetrics: what BullMQ counts, in the words of Prometheus, and which processes take wake-ups.

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

const makeQueueMetrics = (carrier: Carrier, reach: Reach): QueueMetrics["Service"] => ({
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

const redacted = (carrier: Carrier, reach: Reach, publisher: Publisher) => (address: Address) =>
  Effect.tryPromise({
    try: () =>
      reach.call("take out what waits", async () => {
        await publisher.arrived()
        await carrier.redact(address)
      }),
    catch: (cause) =>
      new MailboxUnavailable({
        operation: "redact",
        message: `what waits in the queue for ${addressKey(address)} may still hold it: ${cause instanceof Error ? cause.message : String(cause)}`,
        isPassing: true,
        cause
      })
  })

/** Loaded before anything is opened, a package that is missing is known at once. */
export const loadRedis = () => import("./carriers/redis-carrier.ts")

const openCarrier = ({ backend, prefix }: QueueBullmqOptions, timing: Timing): Effect.Effect<Carrier> =>
  "redis" in backend
    ? Effect.map(Effect.promise(loadRedis), ({ openRedisCarrier }) =>
        openRedisCarrier(Redacted.value(backend.redis), prefix, timing)
      )
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
    wake: (...wakeUp) => Effect.promise(() => publisher.wake(...wakeUp)),
    wakeAt: (address, dueAt) => Effect.flatMap(now, (at) => Effect.promise(() => later.wakeAt(address, dueAt, at))),
    take: Effect.suspend(() => opened().take),
    redact: (addresses) =>
      Effect.forEach(addresses, redacted(carrier, reach, publisher), { concurrency: 8, discard: true })
  }
  return Context.make(WakeQueue, queue).pipe(
    Context.add(SleepSchedules, sleepSchedulesOf(schedules)),
    Context.add(QueueMetrics, makeQueueMetrics(carrier, reach))
  )
})

export const queueBullmqLayer = (options: QueueBullmqOptions): Layer.Layer<WakeQueue | SleepSchedules | QueueMetrics> =>
  Layer.effectContext(open(options))
