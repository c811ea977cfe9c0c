// Waiting: the wait for a model that a snapshot is in.
// Owns which timer ends it. Leaves its length, and what is remembered of it, to outage.ts.

import { contextOf, type Decoded, statusOf } from "../decide.ts"

import { isTagged, stateNodes } from "../state.ts"
import type { Outage } from "../context.ts"

/** The timers of the states in which an outage is waited for. */
const timers = new Map(
  stateNodes.flatMap(({ after, path }) => {
    const status = path.join(".")
    return isTagged(status, "paused")
      ? after.map(({ eventType }): readonly [string, string] => [status, eventType])
      : []
  })
)

/** True of a state in which an assistant may wait for its model. */
export const mayWait = (status: string): boolean => timers.has(status)

/** The outage that is waited for and the name of the timer that ends the wait; undefined when none is. */
export const waitOf = (decoded: Decoded): { readonly outage: Outage; readonly timer: string } | undefined => {
  const { outage } = contextOf(decoded)
  if (outage === null) return undefined
  const timer = timers.get(statusOf(decoded))
  return timer === undefined ? undefined : { outage, timer }
}
