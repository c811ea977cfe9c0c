// Fetching: gets jobs out of the queue, one after the other, as long as somebody wants one.
// Owns asking, and what to do while the server does not answer. Leaves what becomes of a job to hands.
// A fetch that was given up may still bring a job, which is admitted like any other.

import type { Job, Worker } from "bullmq"
import type { Carrier } from "./carrier.ts"
import type { Tick } from "./job.ts"
import { BLOCK_SECONDS, RETRY_MILLIS } from "./options.ts"
import { within } from "./reach.ts"

const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

interface Wanting {
  readonly isWanted: () => boolean
  readonly admit: (job: Job<Tick>, token: string) => void
}

export interface Fetching {
  /** Fetches as long as one is wanted, unless it does already. */
  readonly kick: () => void
  /** Settles when no fetch is under way. */
  readonly rest: () => Promise<void>
}

export const makeFetching = (
  worker: Worker<Tick>,
  carrier: Carrier,
  deadlineMillis: number,
  { admit, isWanted }: Wanting
): Fetching => {
  let isFetching = false
  let fetching = Promise.resolve()
  let fetches = 0
  /** More than one: some were given up. */
  let underWay = 0

  /** Whether there was one. */
  const fetchOne = async (): Promise<boolean> => {
    const token = `${worker.id}:${fetches++}`
    const fetch = async (): Promise<boolean> => {
      const job: Job<Tick> | undefined = await worker.getNextJob(token, { block: true })
      if (job !== undefined) admit(job, token)
      return job !== undefined
    }
    underWay++
    const fetched = fetch().finally(() => underWay--)
    try {
      // A fetch may block, and then asks twice.
      return await within("hand out wake-ups", BLOCK_SECONDS * 1_000 + 2 * deadlineMillis, fetched)
    } catch {
      const before = carrier.heardBytes()
      const answers = within("answer", deadlineMillis, carrier.ping())
      await answers.catch(() => (carrier.heardBytes() === before ? carrier.reconnect() : undefined))
      await pause(RETRY_MILLIS)
      return false
    }
  }

  const fetchAll = async (): Promise<void> => {
    while (isWanted()) {
      const isOne = await fetchOne()
      // BullMQ does not block while an earlier fetch of this worker still does.
      if (!isOne && underWay > 0) await pause(RETRY_MILLIS)
    }
    isFetching = false
  }

  return {
    kick: () => {
      if (isFetching) return
      isFetching = true
      fetching = fetchAll()
    },
    rest: () => fetching
  }
}
