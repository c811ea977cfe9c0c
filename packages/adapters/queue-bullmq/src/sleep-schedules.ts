// SleepSchedules: hours of sleep as cron schedules, each of whose turns gives its assistant a hint.
// Owns keeping them in the queue. Leaves whether it is night to the store: a turn is only a hint.
// S1  A schedule that was set stays set: a server that has forgotten everything is told all of them again within
//     RESTORE_MILLIS, and one that lost a few within a round of looking.
// S2  Setting what is already set does not skip a turn that is due.

import { type Address, addressKey } from "@reverie/protocol"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Carrier } from "./carrier.ts"
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
    /** Sets the hours of an assistant, or takes them away. An unreachable server is told when it is back. */
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

export const makeSleepSchedules = (carrier: Carrier, reach: Reach) => {
  const known = new Map<string, Known>()
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  const tell = async (key: string, { address, hours }: Known): Promise<void> => {
    if (hours === undefined) {
      await carrier.sleep.removeJobScheduler(schedulerId(key))
      return
    }
    const id = schedulerId(key)
    const present = await carrier.sleep.getJobScheduler(id)
    if (present !== undefined && present.pattern === hours.pattern && present.tz === hours.timeZone) return
    await carrier.sleep.upsertJobScheduler(
      id,
      { pattern: hours.pattern, tz: hours.timeZone },
      { name: "sleep", data: payloadOf(address), opts: scheduledOptions }
    )
  }

  const told = async (key: string, each: Known): Promise<void> => {
    await reach.call("take a schedule", () => tell(key, each))
    each.isTold = true
    if (each.hours === undefined && known.get(key) === each) known.delete(key)
  }

  /** Those that the server was not told, and a few of the others in their turn. */
  const restore = async (): Promise<void> => {
    if (known.size === 0) return
    if (await reach.call("say whether it remembers", carrier.hasForgotten)) {
      for (const each of known.values()) each.isTold = false
    }
    const looked = [...known].filter(([, { isTold }]) => isTold).slice(0, LOOKED_AT)
    for (const [key, each] of [...known].filter(([, { isTold }]) => !isTold)) await told(key, each)
    for (const [key, each] of looked) {
      if (known.get(key) !== each) continue
      // To the end of the line.
      known.delete(key)
      known.set(key, each)
      await told(key, each)
    }
  }

  const rounds = (): void => {
    timer = setTimeout(() => {
      void restore()
        .catch(() => undefined)
        .then(() => (isClosed ? undefined : rounds()))
    }, RESTORE_MILLIS)
  }

  const set = async (address: Address, hours: SleepHours | undefined): Promise<void> => {
    const key = addressKey(address)
    const each: Known = { address, hours, isTold: false }
    known.delete(key)
    known.set(key, each)
    if (timer === undefined && !isClosed) rounds()
    try {
      await told(key, each)
    } catch (cause) {
      if (cause instanceof QueueSilent || hours === undefined) return
      if (!isRefusal(cause)) return
      known.delete(key)
      throw new SleepScheduleRefused({ address: key, ...hours, reason: cause.message })
    }
  }

  const service: SleepSchedules["Service"] = {
    set: (address, hours) =>
      Effect.tryPromise({ try: () => set(address, hours), catch: (cause) => cause as SleepScheduleRefused })
  }
  return {
    service,
    close: () => {
      isClosed = true
      clearTimeout(timer)
    }
  }
}

/** What the parser of cron patterns says, and not the server. */
const isRefusal = (cause: unknown): cause is Error =>
  cause instanceof Error && !("command" in cause) && !/connection|READONLY|LOADING/i.test(cause.message)
