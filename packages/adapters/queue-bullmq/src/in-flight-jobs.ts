// InFlightJobs: the wake-ups that this process has taken out of the queue.
// Owns who is handed what, the locks, giving back, and ending a job. Leaves adding to giver, asking to fetching.
// H1  Jobs are fetched only while someone waits, few ahead of him: what no one here asks for, other processes take.
// H2  A taker that stops waiting takes no wake-up with it: what was fetched for it goes to the next one, or back.
// H3  A job in hand stays active, under a lock that is kept, until its wake-up is done. So no other process is handed its
//     assistant, and a wake-up given meanwhile comes after it (Q3).
// H4  An order for an assistant in hand is handed out at once, besides (Q6).
// H5  Whatever the server does, fetching goes on when it is back.

import type { WakeUp } from "@reverie/mailbox"
import { type Address, addressKey } from "@reverie/protocol"
import { Job, type JobJson, type Worker } from "bullmq"
import * as Effect from "effect/Effect"
import type { Carrier } from "./carriers/carrier.ts"
import { addressOf, type Tick, traceOf } from "./job.ts"
import { BLOCK_SECONDS, RETRY_MILLIS, type Timing } from "./options.ts"
import { type Reach, within } from "./reach.ts"

// Fetching: gets jobs out of the queue, one after the other, as long as someone wants one.

const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

interface Wanting {
  readonly isWanted: () => boolean
  readonly admit: (job: Job<Tick>, token: string) => void
}

interface Fetching {
  /** Fetches as long as one is wanted, unless it does already. */
  readonly kick: () => void
  /** Settles when no fetch is under way. */
  readonly rest: () => Promise<void>
}

const makeFetching = (
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

// Waiters: those who wait for a wake-up.

class Waiters {
  readonly #waiting = new Set<() => void>()

  get count(): number {
    return this.#waiting.size
  }

  rouseOne(): void {
    const [first] = this.#waiting
    if (first === undefined) return
    this.#waiting.delete(first)
    first()
  }

  /** Until roused. `then` runs as soon as it waits. */
  wait(then: () => void): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      const rouse = () => resume(Effect.void)
      this.#waiting.add(rouse)
      then()
      return Effect.sync(() => {
        this.#waiting.delete(rouse)
      })
    })
  }
}

/** How long a wake-up stays here that its taker no longer wants. */
const SPARE_MILLIS = 250

/** Jobs that those which end may bring ahead of who waits: he comes again at once. */
const AHEAD = 8

interface Held {
  readonly address: Address
  readonly key: string
  readonly job: Job<Tick>
  readonly token: string
}

/** BullMQ answers a job in full, or 0. */
const isJob = (next: unknown): next is JobJson => typeof next === "object" && next !== null

export class InFlightJobs {
  readonly #reach: Reach
  readonly #timing: Timing
  readonly #worker: Worker<Tick>
  readonly #fetching: Fetching
  readonly #waiters = new Waiters()
  /** Whose locks are kept: what is ready and what is in hand. */
  readonly #held = new Set<Held>()
  readonly #ready: Array<Held> = []
  readonly #inHand = new Map<string, Held>()
  /** Assistants in hand for whom there is an order. */
  readonly #orders = new Set<string>()
  readonly #renewing: NodeJS.Timeout
  /** Jobs that are being ended, each of which brings the next one. */
  #bringing = 0
  #isClosing = false
  #whenEmpty = (): void => undefined

  constructor(carrier: Carrier, reach: Reach, timing: Timing, concurrency: number) {
    this.#reach = reach
    this.#timing = timing
    this.#worker = carrier.openTaker()
    this.#fetching = makeFetching(this.#worker, carrier, timing.deadlineMillis, {
      isWanted: () => this.#isWanted() && this.#held.size < concurrency,
      admit: (job, token) => this.#admit(job, token)
    })
    this.#renewing = setInterval(() => void this.#renew(), timing.lockMillis / 2)
    // Both go on by themselves when the server is away.
    void this.#worker.startStalledCheckTimer()
    void carrier.listen((key) => this.#hear(key)).catch(() => undefined)
  }

  readonly take: Effect.Effect<WakeUp> = Effect.uninterruptibleMask((restore) => {
    const waiting = this.#waiters
      .wait(() => this.#fetching.kick())
      .pipe(
        // Who stops waiting may have been the only one that was told.
        Effect.onInterrupt(() =>
          Effect.sync(() => {
            if (this.#ready.length + this.#orders.size > 0) this.#waiters.rouseOne()
          })
        )
      )
    return Effect.gen({ self: this }, function* () {
      while (true) {
        const wakeUp = this.#isClosing ? undefined : this.#pick()
        if (wakeUp !== undefined) return wakeUp
        yield* restore(waiting)
      }
    })
  })

  /** Hands out nothing more, gives back what no one has, and waits for what is in hand. */
  async close(): Promise<void> {
    this.#isClosing = true
    await Promise.all([...this.#ready].map((held) => this.#giveBack(held)))
    const empty = new Promise<void>((resolve) => {
      this.#whenEmpty = resolve
      if (this.#held.size === 0) resolve()
    })
    const { deadlineMillis, drainMillis } = this.#timing
    const quiet = Promise.all([empty, this.#fetching.rest()])
    await within("be done with wake-ups in hand", drainMillis, quiet).catch(() => undefined)
    clearInterval(this.#renewing)
    await within("close", deadlineMillis, this.#worker.close(true)).catch(() => undefined)
  }

  #admit(job: Job<Tick>, token: string): void {
    const address = addressOf(job.data)
    const held: Held = { address, key: addressKey(address), job, token }
    this.#held.add(held)
    this.#ready.push(held)
    if (this.#isClosing) void this.#giveBack(held)
    else setTimeout(() => void this.#giveBack(held), SPARE_MILLIS)
    this.#waiters.rouseOne()
  }

  #pick(): WakeUp | undefined {
    for (const key of this.#orders) {
      this.#orders.delete(key)
      const handled = this.#inHand.get(key)
      if (handled !== undefined) return { address: handled.address, done: Effect.void }
    }
    const held = this.#ready.shift()
    if (held === undefined) return undefined
    this.#inHand.set(held.key, held)
    this.#fetching.kick()
    let ending: Promise<void> | undefined
    return {
      address: held.address,
      ...traceOf(held.job.data),
      done: Effect.promise(() => (ending ??= this.#end(held)))
    }
  }

  #isWanted(ahead = 0): boolean {
    const { count } = this.#waiters
    return !this.#isClosing && count > 0 && this.#ready.length + this.#bringing < count + ahead
  }

  async #end(held: Held): Promise<void> {
    if (this.#inHand.get(held.key) === held) this.#inHand.delete(held.key)
    // The next one comes with the same call, where someone waits for it.
    const bringsNext = this.#isWanted(AHEAD)
    if (bringsNext) this.#bringing++
    const ending = this.#reach.call("end a wake-up", async () => {
      const next = (await held.job.moveToCompleted(undefined, held.token, bringsNext)) as unknown
      if (!Array.isArray(next) || !isJob(next[0])) return
      this.#admit(Job.fromJSON(this.#worker, next[0], String(next[1])), held.token)
    })
    // A job that can not be ended is handed out again when its lock has lapsed.
    await ending.catch(() => undefined)
    if (bringsNext) this.#bringing--
    this.#letGo(held)
  }

  async #giveBack(held: Held): Promise<void> {
    const place = this.#ready.indexOf(held)
    if (place < 0) return
    this.#ready.splice(place, 1)
    await this.#reach.call("take a wake-up back", () => held.job.moveToWait(held.token)).catch(() => undefined)
    this.#letGo(held)
  }

  #letGo(held: Held): void {
    this.#held.delete(held)
    if (this.#held.size === 0) this.#whenEmpty()
    this.#fetching.kick()
  }

  #hear(key: string): void {
    if (!this.#inHand.has(key)) return
    this.#orders.add(key)
    this.#waiters.rouseOne()
  }

  /** A lock that is lost shows when the job ends: it is someone else's then, and there is nothing to do here. */
  async #renew(): Promise<void> {
    const all = [...this.#held]
    if (all.length === 0) return
    const [ids, tokens] = [all.map(({ job }) => job.id ?? ""), all.map(({ token }) => token)]
    const renewing = this.#reach.call("keep locks", () =>
      this.#worker.extendJobLocks(ids, tokens, this.#timing.lockMillis)
    )
    await renewing.catch(() => undefined)
  }
}
