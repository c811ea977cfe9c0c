// Reaction: what follows a failed model call of a tick.
// Owns the choice. Leaves the states that it leads to to machine.ts.
// R1  What speaks of the server, or of a limit, waits: it is no error of the assistant and is not counted as one.
// R2  What speaks of the call ends its tick when trying again can not help, or has not helped often enough.
// R3  A sub-agent that can not go on fails; no person would come to resume it.

import { type AssistantContext, settingsNow } from "../context.ts"
import type { InferFailure } from "../events.ts"

/**
 * again: the call is made anew at once. wait: until its server may be tried. hold back: until a limit leaves room. retry:
 * after a pause. refuse: the tick fails, and nothing is counted. fail and halt: the tick fails, and was the last one that may.
 */
export type Reaction = "again" | "wait" | "hold back" | "retry" | "halt" | "cut" | "refuse" | "fail" | "fail and halt"

export const reactionTo = (context: AssistantContext, failure: InferFailure): Reaction => {
  const { maxErrors } = settingsNow(context)
  const { limited, outage, recovery } = failure
  if (recovery === "again" || recovery === "cut") return recovery
  if (outage !== undefined) return "wait"
  if (limited === true) return recovery === "tell-owner" ? "refuse" : "hold back"
  const isAssignment = context.assignment !== null
  if (recovery === "stop") return isAssignment ? "fail" : "halt"
  if (recovery !== "tell-owner" && context.tries + 1 < maxErrors) return "retry"
  return !isAssignment && context.errors + 1 >= maxErrors ? "fail and halt" : "fail"
}
