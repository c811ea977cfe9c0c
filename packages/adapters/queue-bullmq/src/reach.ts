// Reach: every call of the server, with a deadline around it.
// Owns the deadline, giving a wake-up up, and telling of it. Leaves what is called to the caller.
// R1  A call ends within the deadline, well or not, whatever the server does.
// R2  Once the server missed a deadline, no one waits for it until a call has succeeded.
// R3  What was dropped is counted, every time, and said in the log at most once in a while.

import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { hostname } from "node:os"
import type { Carrier } from "./carriers/carrier.ts"
import { QueueSilent } from "./errors.ts"

const dropped = Metric.counter("reverie_queue_wake_ups_dropped_total", {
  description: "Wake-ups that the queue could not be given in time; the store finds again what they said.",
  incremental: true
})

const LOG_EVERY_MILLIS = 10_000

/** The value, or `QueueSilent` after the deadline; what comes later is ignored. */
export const within = async <A>(doing: string, deadlineMillis: number, work: Promise<A>): Promise<A> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new QueueSilent({ doing, reason: `no answer in ${deadlineMillis} ms` })),
      deadlineMillis
    )
  })
  work.catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

export interface Reach {
  /** Fails with whatever the server says, or with `QueueSilent`. */
  readonly call: <A>(doing: string, work: () => Promise<A>) => Promise<A>
  /** Never fails: what can not be done is dropped, and counts as so many wake-ups. */
  readonly attempt: (doing: string, wakeUps: number, work: () => Promise<void>) => Promise<void>
  readonly isAiling: () => boolean
}

export const makeReach = Effect.fnUntraced(function* (carrier: Carrier, deadlineMillis: number) {
  const fork = Effect.runForkWith(yield* Effect.context())
  let isAiling = false
  let silentUntil = 0
  let unsaid = 0

  const drop = (wakeUps: number, cause: unknown): void => {
    unsaid += wakeUps
    fork(Metric.update(dropped, wakeUps))
    if (performance.now() < silentUntil) return
    silentUntil = performance.now() + LOG_EVERY_MILLIS
    const reason = cause instanceof Error ? cause.message : String(cause)
    fork(Effect.logWarning(`${unsaid} wake-ups were dropped, the sweep of the store gives them again: ${reason}`))
    unsaid = 0
  }

  const call = async <A>(doing: string, work: () => Promise<A>): Promise<A> => {
    if (!carrier.isUp()) throw new QueueSilent({ doing, reason: "there is no connection" })
    const before = carrier.heardBytes()
    try {
      const answer = await within(doing, deadlineMillis, work())
      isAiling = false
      return answer
    } catch (cause) {
      isAiling = cause instanceof QueueSilent
      // Late is one thing; not a byte is a dead connection that no one tells of.
      if (isAiling && carrier.heardBytes() === before) carrier.reconnect()
      throw cause
    }
  }

  const reach: Reach = {
    call,
    attempt: async (doing, wakeUps, work) => {
      try {
        await call(doing, work)
      } catch (cause) {
        drop(wakeUps, cause)
      }
    },
    isAiling: () => isAiling || !carrier.isUp()
  }
  return reach
})

// Workers: the processes that take wake-ups, by the names under which they are connected to the server.
// N1  No two queues have the same name, and none has a character at which a server or a list of clients would part it.
// N2  A name is short enough for PostgreSQL, which cuts the name of a connection after 63 bytes.
// N3  Reading changes nothing. A server that does not answer, or may not tell, is no server without workers.

export interface SeenWorker {
  /** Process id and machine: `4711@quay-2`. */
  readonly name: string
  /** True of the process that asks. */
  readonly isThis: boolean
}

const MOST_OF_HOST = 20

let opened = 0

/** What a queue that is opened now is called. In a container the machine is the container's id. */
export const newWorkerName = (host: string = hostname()): string => {
  const plain = host.replaceAll(/[^A-Za-z0-9._-]/g, "-").slice(0, MOST_OF_HOST)
  const which = opened++ === 0 ? "" : `/${opened}`
  return `${process.pid}@${plain}${which}`
}

/** Stands between the name of the queue and that of the worker. */
const MARK = ":w:"

/** Undefined when the server can not say. */
export const workersOf = async (
  { events, workerName }: Pick<Carrier, "events" | "workerName">,
  reach: Pick<Reach, "call">
): Promise<ReadonlyArray<SeenWorker> | undefined> => {
  try {
    const clients = await reach.call("say who works", () => events.getWorkers())
    const names = clients.map(({ rawname = "" }) => rawname.slice(rawname.lastIndexOf(MARK) + MARK.length))
    // Where a server keeps no list of its clients, BullMQ answers with one that has no name.
    if (clients.some(({ rawname }) => rawname?.includes(MARK) !== true)) return undefined
    return [...new Set(names)].toSorted().map((name) => ({ name, isThis: name === workerName }))
  } catch {
    return undefined
  }
}
