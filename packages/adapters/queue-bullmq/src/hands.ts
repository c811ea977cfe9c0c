// Hands: the hints that this process has taken out of the queue.
// Owns fetching, keeping the locks, giving back, and ending a job. Leaves adding to giver.
// H1  A job is fetched only for somebody who waits: what nobody here asked for, another process takes.
// H2  A taker that stops waiting takes no hint with it: what was fetched for it goes to the next one, or back.
// H3  A job in hand stays active, under a lock that is kept, until its hint is done. So no other process is handed its
//     assistant, and a hint given meanwhile comes after it (Q3).
// H4  An order for an assistant in hand is handed out at once, besides (Q6).
// H5  Whatever the server does, fetching goes on when it is back.

import type { Hint } from "@reverie/mailbox"
import { type Address, addressKey } from "@reverie/protocol"
import type { Job, Worker } from "bullmq"
import * as Effect from "effect/Effect"
import type { Carrier } from "./carrier.ts"
import { addressOf, type Tick } from "./job.ts"
import { BLOCK_SECONDS, RETRY_MILLIS, type Timing } from "./options.ts"
import { type Reach, within } from "./reach.ts"

/** How long a hint stays here that its taker no longer wants. */
const SPARE_MILLIS = 250

/** As many fetches in a row may come back so quickly with nothing, before the next one waits. */
const [QUICK_MILLIS, QUICK_ONES] = [50, 5]

interface Held {
  readonly address: Address
  readonly key: string
  readonly job: Job<Tick>
  readonly token: string
}

export interface Hands {
  readonly take: Effect.Effect<Hint>
  /** Hands out nothing more, waits for what is in hand, and gives back what is not. */
  readonly close: () => Promise<void>
}

const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

/** Those who wait for a hint. */
const makeTakers = () => {
  const waiting = new Set<() => void>()
  return {
    count: (): number => waiting.size,
    rouseOne: (): void => {
      const [first] = waiting
      if (first === undefined) return
      waiting.delete(first)
      first()
    },
    /** Until roused. */
    wait: (then: () => void) =>
      Effect.callback<void>((resume) => {
        const rouse = () => resume(Effect.void)
        waiting.add(rouse)
        then()
        return Effect.sync(() => {
          waiting.delete(rouse)
        })
      })
  }
}

/** Jobs whose locks are kept. */
const keepLocks = (worker: Worker<Tick>, reach: Reach, lockMillis: number) => {
  const held = new Set<Held>()
  const renew = async (): Promise<void> => {
    const all = [...held]
    if (all.length === 0) return
    const ids = all.map(({ job }) => job.id ?? "")
    const tokens = all.map(({ token }) => token)
    // A lock that is lost is seen when the job ends: then it is somebody else's, and nothing is left to do here.
    await reach.call("keep locks", () => worker.extendJobLocks(ids, tokens, lockMillis)).catch(() => undefined)
  }
  const timer = setInterval(() => void renew(), lockMillis / 2)
  return { held, stop: () => clearInterval(timer) }
}

interface Fetching {
  readonly worker: Worker<Tick>
  readonly carrier: Carrier
  readonly deadlineMillis: number
  readonly admit: (job: Job<Tick>, token: string) => void
}

/** One job, or none for now; whoever asks again at once does not keep the server busy (H5). */
const fetchJob = async (token: string, { admit, carrier, deadlineMillis, worker }: Fetching): Promise<void> => {
  const fetched = worker.getNextJob(token, { block: true }).then((job: Job<Tick> | undefined) => {
    if (job !== undefined) admit(job, token)
  })
  fetched.catch(() => undefined)
  try {
    // A fetch may block, and then asks twice.
    await within("hand out hints", BLOCK_SECONDS * 1_000 + 2 * deadlineMillis, fetched)
  } catch {
    const before = carrier.heardBytes()
    const answers = within("answer", deadlineMillis, carrier.ping())
    await answers.catch(() => (carrier.heardBytes() === before ? carrier.reconnect() : undefined))
    await pause(RETRY_MILLIS)
  }
}

export const openHands = (carrier: Carrier, reach: Reach, timing: Timing, concurrency: number): Hands => {
  const worker = carrier.openTaker()
  const takers = makeTakers()
  const locks = keepLocks(worker, reach, timing.lockMillis)
  const ready: Array<Held> = []
  const inHand = new Map<string, Address>()
  const orders = new Set<string>()
  let isClosing = false
  let isFetching = false
  let fetching = Promise.resolve()
  let fetches = 0
  let quickOnes = 0
  let whenEmpty: (() => void) | undefined

  const fetchAll = async (): Promise<void> => {
    while (!isClosing && ready.length < takers.count() && locks.held.size < concurrency) {
      const [before, since] = [locks.held.size, performance.now()]
      await fetchJob(`${worker.id}:${fetches++}`, { worker, carrier, deadlineMillis: timing.deadlineMillis, admit })
      // BullMQ does not block while an earlier fetch of this worker still does.
      const isQuick = locks.held.size <= before && performance.now() - since < QUICK_MILLIS
      quickOnes = isQuick ? quickOnes + 1 : 0
      if (quickOnes > QUICK_ONES) await pause(RETRY_MILLIS)
    }
    isFetching = false
  }
  const kick = (): void => {
    if (isFetching) return
    isFetching = true
    fetching = fetchAll()
  }

  const letGo = (held: Held): void => {
    locks.held.delete(held)
    if (locks.held.size === 0) whenEmpty?.()
    kick()
  }
  const giveBack = async (held: Held): Promise<void> => {
    const place = ready.indexOf(held)
    if (place < 0) return
    ready.splice(place, 1)
    await reach.call("take a hint back", () => held.job.moveToWait(held.token)).catch(() => undefined)
    letGo(held)
  }
  const admit = (job: Job<Tick>, token: string): void => {
    const address = addressOf(job.data)
    const held: Held = { address, key: addressKey(address), job, token }
    locks.held.add(held)
    ready.push(held)
    if (isClosing) void giveBack(held)
    else setTimeout(() => void giveBack(held), SPARE_MILLIS)
    takers.rouseOne()
  }

  const finish = (held: Held) => {
    let ending: Promise<void> | undefined
    const end = async (): Promise<void> => {
      inHand.delete(held.key)
      orders.delete(held.key)
      // The lock is kept meanwhile. A job that can not be ended is handed out again when its lock has lapsed.
      await reach
        .call("end a hint", () => held.job.moveToCompleted(undefined, held.token, false))
        .catch(() => undefined)
      letGo(held)
    }
    return Effect.promise(() => (ending ??= end()))
  }
  const pick = (): Hint | undefined => {
    for (const key of orders) {
      orders.delete(key)
      const address = inHand.get(key)
      if (address !== undefined) return { address, done: Effect.void }
    }
    const held = ready.shift()
    if (held === undefined) return undefined
    inHand.set(held.key, held.address)
    kick()
    return { address: held.address, done: finish(held) }
  }
  const waiting = takers
    .wait(kick)
    .pipe(Effect.onInterrupt(() => Effect.sync(() => (ready.length + orders.size > 0 ? takers.rouseOne() : undefined))))

  void worker.startStalledCheckTimer()
  void carrier
    .listen((key) => {
      if (!inHand.has(key)) return
      orders.add(key)
      takers.rouseOne()
    })
    .catch(() => undefined)

  return {
    take: Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        while (true) {
          const hint = isClosing ? undefined : pick()
          if (hint !== undefined) return hint
          yield* restore(waiting)
        }
      })
    ),
    close: async () => {
      isClosing = true
      await Promise.all(ready.map(giveBack))
      const empty = new Promise<void>((resolve) => {
        whenEmpty = resolve
        if (locks.held.size === 0) resolve()
      })
      const quiet = Promise.all([empty, fetching])
      await within("be done with hints in hand", timing.drainMillis, quiet).catch(() => undefined)
      locks.stop()
      await within("close", timing.deadlineMillis, worker.close(true)).catch(() => undefined)
    }
  }
}
