// Modes: how long an assistant was in each of its modes.
// Owns the reckoning from its newest entries. Leaves what a mode is to the statechart.
// M1  It tells of at most an hour, and of no more than the entries that were read: `from` says since when.
// M2  A mode lasts from the entry after which it was so to the next one; the present one has not ended, and counts from when
//     it does. Together they are all of the time up to the newest entry.

import { activityOf } from "reverie"
import type { Modes } from "../api/index.ts"

export interface Turn {
  readonly at: number
  /** The state after it. */
  readonly status: string
}

const HOUR_MILLIS = 3_600_000

/** Of its newest entries, the oldest first. */
export const modesOf = (turns: ReadonlyArray<Turn>, now: number): Modes => {
  const from = Math.max(now - HOUR_MILLIS, turns[0]?.at ?? now)
  const newest = turns.at(-1)?.at ?? now
  const millis: Record<string, number> = {}
  turns.forEach(({ at, status }, index) => {
    const lasted = Math.max(from, turns[index + 1]?.at ?? newest) - Math.max(from, at)
    const mode = activityOf(status) ?? status
    if (lasted > 0) millis[mode] = (millis[mode] ?? 0) + lasted
  })
  return { from, millis }
}
