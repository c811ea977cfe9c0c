// SleepSchedules: sleep schedule as cron schedules, each of whose turns gives its assistant a wake-up.
// Owns keeping them in the queue. Leaves whether it is night to the store: a turn is only a wake-up.
// S1  A schedule that was set stays set: a server that has forgotten everything learns all of them again within
//     RESTORE_MILLIS, and one that lost a few within a round of looking.
// S2  Setting what is already set does not skip a turn that is due.

import { type Address, addressKey } from "@reverie/protocol"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Carrier } from "./carriers/carrier.ts"
import { QueueSilent, SleepScheduleRefused } from "./errors.ts"
import { payloadOf, scheduledOptions } from "./job.ts"
import type { Reach } from "./reach.ts"

export interface SleepHours {
  /** Cron, with five fields or six. */
  readonly pattern: string
  readonly timeZone: string
}

export class SleepSchedules extends Context.Service<
  SleepSchedules,
  {
    /** Sets the hours of an assistant, or takes them away. An unreachable server learns of it when it is back. */
    readonly set: (address: Address, hours: SleepHours | undefined) => Effect.Effect<void, SleepScheduleRefused>
  }
>()("@reverie/queue-bullmq/SleepSchedules") {}

const RESTORE_MILLIS = 2_000

/** Schedules looked at in one round. */
const LOOKED_AT = 16

interface Known {
  readonly address: Address
  /** Undefined: to be taken away. */
  readonly hours: SleepHours | undefined
  isTold: boolean
}

/** A colon parts the key of a scheduler from its turns. */
const schedulerId = (key: string): string => encodeURIComponent(key)

/** The schedules that this process has set. */
export class ScheduleKeeper {
  readonly #carrier: Carrier
  readonly #reach: Reach
  readonly #known = new Map<string, Known>()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(carrier: Carrier, reach: Reach) {
    this.#carrier = carrier
    this.#reach = reach
  }

  async set(address: Address, hours: SleepHours | undefined): Promise<void> {
    const key = addressKey(address)
    const each: Known = { address, hours, isTold: false }
    this.#known.delete(key)
    this.#known.set(key, each)
    if (this.#timer === undefined) this.#rounds()
    try {
      await this.#told(key, each)
    } catch (cause) {
      if (hours === undefined || !isRefusal(cause)) return
      this.#known.delete(key)
      throw new SleepScheduleRefused({ address: key, ...hours, reason: cause.message })
    }
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  async #told(key: string, each: Known): Promise<void> {
    await this.#reach.call("take a schedule", () => this.#tell(schedulerId(key), each))
    each.isTold = true
    if (each.hours === undefined && this.#known.get(key) === each) this.#known.delete(key)
  }

  async #tell(id: string, { address, hours }: Known): Promise<void> {
    const { sleep } = this.#carrier
    if (hours === undefined) {
      await sleep.removeJobScheduler(id)
      return
    }
    const present = await sleep.getJobScheduler(id)
    if (present?.pattern === hours.pattern && present.tz === hours.timeZone) return
    const repeat = { pattern: hours.pattern, tz: hours.timeZone }
    await sleep.upsertJobScheduler(id, repeat, { name: "sleep", data: payloadOf(address), opts: scheduledOptions })
  }

  #rounds(): void {
    if (this.#isClosed) return
    this.#timer = setTimeout(() => {
      const then = (): void => this.#rounds()
      this.#restore().then(then, then)
    }, RESTORE_MILLIS)
  }

  /** Those that the server was not told, and a few of the others in their turn. */
  async #restore(): Promise<void> {
    if (this.#known.size === 0) return
    if (await this.#reach.call("say whether it remembers", () => this.#carrier.hasForgotten())) {
      for (const each of this.#known.values()) each.isTold = false
    }
    const all = [...this.#known]
    const looked = all.filter(([, { isTold }]) => isTold).slice(0, LOOKED_AT)
    for (const [key, each] of looked) {
      // To the end of the line.
      this.#known.delete(key)
      this.#known.set(key, each)
    }
    for (const [key, each] of [...all.filter(([, { isTold }]) => !isTold), ...looked]) {
      if (this.#known.get(key) === each) await this.#told(key, each)
    }
  }
}

export const sleepSchedulesOf = (keeper: ScheduleKeeper): SleepSchedules["Service"] => ({
  set: (address, hours) =>
    Effect.tryPromise({ try: () => keeper.set(address, hours), catch: (cause) => cause as SleepScheduleRefused })
})

/** What the parser of cron patterns says, and not the server. */
const isRefusal = (cause: unknown): cause is Error =>
  cause instanceof Error &&
  !(cause instanceof QueueSilent) &&
  !("command" in cause) &&
  !/connection|READONLY|LOADING/i.test(cause.message)
