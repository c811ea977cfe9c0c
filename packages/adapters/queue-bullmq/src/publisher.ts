// Publisher: puts wake-ups into the queue, many at once.
// Owns the batch of one turn of the event loop, and making a wake-up that waits more urgent. Leaves numbers to priority.
// G1  Wake-ups given in one turn go out together; those for one assistant as one, as urgent as the most urgent of them.
// G2  A wake-up that joins a less urgent one that waits raises it, and moves no other.
// G3  An order is also told to whoever has its assistant in hand.

import { URGENCIES, type Urgency } from "@reverie/mailbox"
import { type Address, addressKey } from "@reverie/protocol"
import type { Carrier, Request } from "./carrier.ts"
import { mayBeLessUrgent, payloadOf, tickOptions } from "./job.ts"
import type { Reach } from "./reach.ts"

/** Jobs in one call of BullMQ. */
const MOST_AT_ONCE = 500

export interface Publisher {
  /** Settles when the wake-up was given or dropped; at once when nobody answers. Never fails. */
  readonly wake: (address: Address, urgency: Urgency, trace?: string) => Promise<void>
  /** Fails when it can not be given. */
  readonly give: (requests: ReadonlyArray<Request>) => Promise<void>
}

export const makePublisher = (carrier: Carrier, reach: Reach): Publisher => {
  let batch = new Map<string, Request>()
  let given = Promise.resolve()

  const raise = async (id: string, priority: number): Promise<void> => {
    const job = await carrier.events.getJob(id)
    if (job !== undefined && job.priority > priority) await job.changePriority({ priority })
  }

  const give = async (requests: ReadonlyArray<Request>): Promise<void> => {
    const priorities = await carrier.priorities(requests)
    const jobs = await carrier.events.addBulk(
      requests.map(({ address, trace, urgency }, i) => ({
        name: "tick",
        data: payloadOf(address, trace),
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

  const flush = async (): Promise<void> => {
    const requests = [...batch.values()]
    batch = new Map()
    const parts: Array<Promise<void>> = []
    for (let from = 0; from < requests.length; from += MOST_AT_ONCE) {
      const part = requests.slice(from, from + MOST_AT_ONCE)
      parts.push(reach.attempt("take wake-ups", part.length, () => give(part)))
    }
    await Promise.all(parts)
  }

  const isMoreUrgent = (urgency: Urgency, than: Request | undefined): boolean =>
    than === undefined || URGENCIES.indexOf(urgency) < URGENCIES.indexOf(than.urgency)

  return {
    give,
    wake: (address, urgency, trace) => {
      if (batch.size === 0) given = new Promise((resolve) => setImmediate(() => resolve(flush())))
      const key = addressKey(address)
      const request = trace === undefined ? { address, urgency } : { address, urgency, trace }
      if (isMoreUrgent(urgency, batch.get(key))) batch.set(key, request)
      return reach.isAiling() ? Promise.resolve() : given
    }
  }
}
