// Counting: how many are in each state that somebody wants to see at once.
// Owns the classes. Leaves the rows to board.ts.

import type { Counts } from "../api/index.ts"
import type { Row } from "./row.ts"

/** No model call and no tool takes longer. */
const STUCK_MILLIS = 15 * 60_000

type Class = Exclude<keyof Counts, "total" | "stuck">

const classOf = ({ mode, state }: Row): Class => {
  if (mode !== "awake") return mode
  if (state.startsWith("awake.awaitingApproval") || state.includes("awaitingApproval")) return "awaitingApproval"
  if (state.startsWith("awake.acting")) return "acting"
  return state.startsWith("awake.thinking") || state.startsWith("awake.assessing") ? "thinking" : "idle"
}

/** Waiting for a person, or for the next day's allowance, is no fault. */
const isBusy = ({ state }: Row, of: Class): boolean =>
  (of === "thinking" && state !== "awake.thinking.parked") || of === "compacting" || state === "awake.acting.running"

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
    if (isBusy(row, of) && row.since > 0 && this.#now - row.since > STUCK_MILLIS) this.#counts.stuck++
  }
}
