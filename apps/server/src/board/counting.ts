// Counting: how many are in each state that somebody wants to see at once.
// Owns the classes. Leaves the rows to board.ts.

import type { Counts } from "../api/index.ts"
import type { Row } from "./row.ts"

/** No model call and no tool takes longer. */
const STUCK_MILLIS = 15 * 60_000

type Class = Exclude<keyof Counts, "total" | "stuck">

const classOf = ({ mode, state }: Row): Class => {
  if (mode !== "awake") return mode
  if (state === "awake.awaitingApproval") return "awaitingApproval"
  if (state.startsWith("awake.acting") || state === "awake.awaitingReports") return "acting"
  return state.startsWith("awake.thinking") || state.startsWith("awake.assessing") ? "thinking" : "idle"
}

/** Something runs for it; waiting for a person, a report, or the next day's allowance is no work. */
export const isWorking = ({ mode, state }: Row): boolean =>
  mode === "compacting" ||
  state.startsWith("awake.assessing") ||
  state.startsWith("awake.acting") ||
  (state.startsWith("awake.thinking") && state !== "awake.thinking.parked")

export class Counting {
  readonly #now: number
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
    this.#now = now
  }

  get counts(): Counts {
    return this.#counts
  }

  take(row: Row): void {
    const of = classOf(row)
    this.#counts.total++
    this.#counts[of]++
    if (isWorking(row) && row.since > 0 && this.#now - row.since > STUCK_MILLIS) this.#counts.stuck++
  }
}
