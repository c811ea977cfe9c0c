// Outage: what an assistant remembers of a model whose server does not answer.
// Owns how long it waits before it tries again, and whether others' success may end the wait. Leaves what counts as an
// outage to the runtime, and the states in which it waits to the chart.
// O1  An outage is no error of the assistant: whatever its length, it ends no tick and halts no assistant.
// O2  The pause doubles with each failure up to the maximum, and is never shorter than the time that the server named.
// O3  Those that wait do not come back at once: `spread` takes up to half of a pause away, or adds it to a named time.
// O4  The success of others ends a pause, unless the server named a time to this very assistant, or has answered others again
//     and again while it failed this one: then something is wrong with what is asked, and only its own pause counts. To try
//     out whether the server is back, no one is chosen who was given a time.

import { defined } from "@reverie/protocol"
import { type AssistantContext, clipped, type Haste, type Outage, settingsNow } from "../context.ts"
import { settingsOf } from "../settings.ts"
import type { InferFailure, OutageSeen, ServerFailure } from "../events.ts"

/** A server that answers others so often while it fails one is well. */
const MOST_ALONE = 3

const hasteOf = (alone: number, named: OutageSeen["named"]): Haste => {
  if (alone >= MOST_ALONE || named === "one") return "never"
  return named === "all" ? "answer" : "try"
}

/** How long the wait lasts after so many failures before this one. */
const pauseMillis = (context: AssistantContext, { outage, retryAfterMs = 0 }: ServerFailure, tries: number): number => {
  const { parkMaxMs, parkMinMs } = settingsOf(context.settings)
  const whole = Math.min(parkMaxMs, parkMinMs * 2 ** Math.min(tries, 40))
  const away = (whole / 2) * Math.min(1, Math.max(0, outage?.spread ?? 0))
  const named = retryAfterMs === 0 ? 0 : retryAfterMs + away
  return Math.max(1, Math.round(Math.max(whole - away, named)))
}

/** One more failure of the server: what is remembered of it, and the pause that follows. */
export const metOutage = (
  context: AssistantContext,
  failure: ServerFailure,
  phase: Outage["phase"] = ""
): Partial<AssistantContext> => {
  const { outage: seen, reason } = failure
  if (seen === undefined) return {}
  const { at, others, server } = seen
  const known = context.outage
  const tries = known?.tries ?? 0
  const alone = (known?.alone ?? 0) + (seen.alone === true ? 1 : 0)
  const outage: Outage = {
    server,
    ...defined({ others }),
    since: known?.since ?? at,
    at,
    tries: tries + 1,
    alone,
    sooner: hasteOf(alone, seen.named),
    reason: clipped(reason),
    phase
  }
  return { outage, parkMs: pauseMillis(context, failure, tries) }
}

// Reaction: what follows a failed model call of a tick.
// R1  What speaks of the server, or of a limit, waits: it is no error of the assistant and is not counted as one.
// R2  What speaks of the call ends its tick when trying again can not help, or has not helped often enough.
// R3  A sub-agent that can not go on fails; no person would come to resume it.

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
