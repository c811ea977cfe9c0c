// Waiting: the wait for a model that a snapshot is in.
// Owns which timer ends it. Leaves its length, and what is remembered of it, to outage.ts.

import { contextOf, type Decoded, statusOf } from "./decide.ts"
import type { Outage } from "./outage.ts"

/** The timers of the states in which an outage is waited for. */
const timers: Readonly<Record<string, string>> = {
  "awake.thinking.parked": "xstate.after.park.assistant.awake.thinking.parked",
  "compacting.parked": "xstate.after.park.assistant.compacting.parked",
  "dreaming.pausing": "xstate.after.dreamTick.assistant.dreaming.pausing"
}

/** True of a state in which an assistant may wait for its model. */
export const mayWait = (status: string): boolean => Object.hasOwn(timers, status)

/** The outage that is waited for and the name of the timer that ends the wait; undefined when none is. */
export const waitOf = (decoded: Decoded): { readonly outage: Outage; readonly timer: string } | undefined => {
  const { outage } = contextOf(decoded)
  if (outage === null) return undefined
  const timer = timers[statusOf(decoded)]
  return timer === undefined ? undefined : { outage, timer }
}
