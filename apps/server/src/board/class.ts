// Class: what a state counts as, for whoever looks at a whole fleet.
// Owns the classes. Leaves counting to counting.ts.

import type { AssistantRow, Counts } from "../api/index.ts"

export type Mode = AssistantRow["mode"]
export type Class = Exclude<keyof Counts, "total" | "stuck">

export const classOf = (mode: Mode, state: string): Class => {
  if (mode !== "awake") return mode
  if (state === "awake.awaitingApproval") return "awaitingApproval"
  if (state.startsWith("awake.acting") || state === "awake.awaitingReports") return "acting"
  return state.startsWith("awake.thinking") || state.startsWith("awake.assessing") ? "thinking" : "idle"
}

/** Something runs for it; waiting for a person, a report, a model that is away, or the next day's allowance is no work. */
export const isWorkingIn = (mode: Mode, state: string): boolean =>
  !state.endsWith(".parked") &&
  (mode === "compacting" ||
    ["awake.assessing", "awake.acting", "awake.thinking"].some((work) => state.startsWith(work)))
