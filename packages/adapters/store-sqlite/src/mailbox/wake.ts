// Wake: one number that says since when, or from when on, an assistant has something to do.
// Owns its meaning and its computation. Leaves keeping it in step with the mailbox to mailbox.ts and ledger.ts.
// W1  Who has mail or a job is awake whatever the clock says: its wake is negative, so a clock set back hides nobody.
// W2  Who has only timers wakes at the earliest of them, and who has nothing rests.
// W3  Among the awake the order of wakes is the order of waiting.

import type { AssistantState, Lane } from "@reverie/protocol"
import { AT_REST } from "../formats.ts"

const AWAKE = 2 ** 46

const clamp = (millis: number, most: number): number => Math.trunc(Math.min(Math.max(millis, 0), most))

/** The wake of one who has had something to do since then. */
export const awakeSince = (millis: number): number => clamp(millis, AWAKE - 1) - AWAKE

export const isAwake = (wake: number): boolean => wake < 0

/** Since when, or from when on, in milliseconds since the epoch; undefined at rest. */
export const timeOf = (wake: number): number | undefined =>
  wake === AT_REST ? undefined : isAwake(wake) ? wake + AWAKE : wake

/** The wake after an accepted envelope that is heard. */
export const wakeOnMail = (wake: number, now: number): number =>
  isAwake(wake) ? wake : awakeSince(Math.min(now, timeOf(wake) ?? now))

/** The wake after a commit. `firstAcceptedAt` tells when the first envelope beyond the cursor of a lane arrived. */
export const wakeOnCommit = (
  wake: number,
  { jobs, timers, receives }: AssistantState,
  now: number,
  firstAcceptedAt: (lane: Lane) => number | undefined
): number => {
  // A tick in hand keeps its place, which also spares the index a write.
  if (jobs.length > 0) return wakeOnMail(wake, now)
  const mail = receives.flatMap((lane) => firstAcceptedAt(lane) ?? [])
  const earliest = Math.min(...timers.map(({ dueAt }) => dueAt))
  if (mail.length > 0) return awakeSince(Math.min(...mail, earliest))
  return earliest === Infinity ? AT_REST : clamp(earliest, AT_REST - 1)
}
