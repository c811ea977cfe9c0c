// Counting: how many are in each state that somebody wants to see at once.
// Owns the sums. Leaves the classes to row.ts, the rows to board.ts.

import type { Counts } from "../api/index.ts"
import type { Row } from "./row.ts"

/** No model call and no tool takes longer. */
const STUCK_MILLIS = 15 * 60_000

export class Counting {
  readonly #before: number
  readonly #counts = {
    total: 0,
    idle: 0,
    thinking: 0,
    acting: 0,
    awaitingApproval: 0,
    dreaming: 0,
    compacting: 0,
    halted: 0,
    retired: 0,
    stuck: 0
  }

  constructor(now: number) {
    this.#before = now - STUCK_MILLIS
  }

  get counts(): Counts {
    return this.#counts
  }

  take(row: Row): void {
    this.#counts.total++
    this.#counts[row.class]++
    if (row.isWorking && row.since > 0 && row.since < this.#before) this.#counts.stuck++
  }
}
