// Bed: whether an assistant may go to sleep of its own accord.
// Owns the three safeguards and the order they let through. Leaves sending it to the runtime.
// B1  An assistant does not fall asleep twice, while a person waits for an answer, or over dangerous or unapproved work.

import type { RecordChange } from "@reverie/protocol"

/** Under this key of the kind `state` the order is handed to the runtime; it is never kept there. */
export const SLEEP_ORDER_KEY = "sleep-order"

export interface SleepBlockers {
  readonly isAsleep: boolean
  /** The sender that waits for an answer, if there is one. */
  readonly waitsForAnswer?: string
  /** Tools that were called, are dangerous or wait for approval, and have not ended. */
  readonly unfinished: ReadonlyArray<string>
}

export interface BedRefused {
  readonly success: false
  readonly error: string
}

/** Why it may not go to sleep now; undefined when it may. */
export const whyAwake = ({ isAsleep, unfinished, waitsForAnswer }: SleepBlockers): BedRefused | undefined => {
  if (isAsleep) return { success: false, error: "Already in sleep mode" }
  if (waitsForAnswer !== undefined) {
    return { success: false, error: `${waitsForAnswer} is waiting for an answer: give it first` }
  }
  return unfinished.length === 0
    ? undefined
    : { success: false, error: `Not before this has ended: ${unfinished.join(", ")}` }
}

export const sleepOrder = (forMs: number | undefined): RecordChange => ({
  kind: "state",
  key: SLEEP_ORDER_KEY,
  value: forMs === undefined ? {} : { forMs }
})
