// Later: wake-ups for a later time, and what gives them when it has come.
// Owns the queue `sleep`. Leaves the wake-up itself to giver, schedules to sleep-schedules.
// T1  Of several times for an assistant the earliest counts, whichever process gave them in whatever order; on
//     PostgreSQL two processes at the same moment may leave the later one.
// T2  A time is judged by the given clock: a job that a wrong machine clock brought too early waits again.
// T3  A time that has come is forgotten before its wake-up is given, so that one given from then on is a new one.

import type { Address } from "@reverie/protocol"
import { DelayedError, type Job } from "bullmq"
import type { Carrier } from "./carrier.ts"
import type { Publisher } from "./publisher.ts"
import { addressOf, payloadOf, type Sleep, sleepOptions } from "./job.ts"
import { type Timing } from "./options.ts"
import { type Reach, within } from "./reach.ts"

/** How long a job that came too early waits at most before it is looked at again. */
const RECHECK_MILLIS = 5_000

export interface Later {
  /** Settles when it is set or dropped. Never fails. */
  readonly wakeAt: (address: Address, dueAt: number, at: number) => Promise<void>
  /** Begins to give wake-ups whose time has come. */
  readonly open: () => void
  readonly close: () => Promise<void>
}

/** The time of a job: as it was given, or the turn of the schedule that made it. */
const dueOf = ({ data, opts }: Job<Sleep>): number => data.dueAt ?? opts.prevMillis ?? 0

export const makeLater = (
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
    // Somebody may have set an earlier time in between, and this one has just replaced it.
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
    await publisher.give([{ address, urgency: "routine" }])
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
