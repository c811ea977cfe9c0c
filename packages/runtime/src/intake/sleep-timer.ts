// SleepTimer: how an assistant goes to sleep by itself.
// Owns the durable timer of the next night and the order to sleep that it becomes. Leaves when nights are to `assistant`,
// delivering the order to the relay, falling asleep to the statechart.
// I1  An assistant with sleep schedule always has one timer for its next night, whatever its state; one without has none.
// I2  The order of a night has one id: however often it is sent, it is accepted once. It waits behind the mail before it.

import { nextNight, type SleepSchedule } from "@reverie/assistant"
import { type Address, ENVELOPE_VERSION, type Envelope, EnvelopeId, type OpenTimer } from "@reverie/protocol"
import type { TurnInput } from "../commit/commit-draft.ts"

/** The timer of the next night. */
export const SLEEP_TIMER = "sleepTimer"

/** What the timer carries: the end of its night, and the schedule it was set by. */
interface Night {
  readonly type: typeof SLEEP_TIMER
  readonly end: number
  readonly schedule: string
}

/** The next night among some timers, and the schedule it was set by. */
export const sleepTimerIn = (
  timers: ReadonlyArray<OpenTimer>
): { readonly start: number; readonly schedule: string } | undefined => {
  const timer = timers.find(({ name }) => name === SLEEP_TIMER)
  return timer === undefined ? undefined : { start: timer.dueAt, schedule: (timer.event as unknown as Night).schedule }
}

/** The timers with that of the next night among them: kept as long as it lies ahead and the schedule is the same. */
export const addSleepTimer = (
  timers: ReadonlyArray<OpenTimer>,
  schedule: SleepSchedule | undefined,
  now: number
): ReadonlyArray<OpenTimer> => {
  const present = timers.find(({ name }) => name === SLEEP_TIMER)
  const key = JSON.stringify(schedule ?? null)
  const known = sleepTimerIn(timers)
  if (known !== undefined && known.start > now && known.schedule === key) return timers
  const others = present === undefined ? timers : timers.filter((timer) => timer !== present)
  const night = schedule === undefined ? undefined : nextNight(schedule, now)
  if (night === undefined) return others
  const event: Night = { type: SLEEP_TIMER, end: night.end, schedule: key }
  return [...others, { name: SLEEP_TIMER, dueAt: night.start, event: { ...event } }]
}

/** What is written when the timer of a night has come: the order to sleep, sent to the assistant itself. */
export const sleepTimerOf = (address: Address, { dueAt, event }: OpenTimer): TurnInput => {
  const { end } = event as unknown as Night
  const order: Envelope = {
    v: ENVELOPE_VERSION,
    id: EnvelopeId.make(`${SLEEP_TIMER}-${dueAt}`),
    to: address,
    from: "clock",
    event: { type: "sleep", until: end },
    hops: 0
  }
  return { cause: { kind: "timer", name: SLEEP_TIMER }, event: null, messages: [], sends: [order] }
}
