// Status: what an assistant can know of its own means (F79-F81, A10).
// Owns the arithmetic, the advisory and the counters of a session. Leaves measuring to the runtime.
// I1  `available` and `estimated_used` always sum up to the limit; calls that worked and failed, to the total.
// I2  The advisory speaks of the percentage that is shown: from 60 on it warns, from 80 on it is critical.

import { isJsonObject, type Json, type RecordChange } from "@reverie/protocol"
import { isoTime, type Records } from "./projects.ts"

/** Shares of the window, in percent, from which on a level holds. */
const WARNING_PERCENT = 60
const CRITICAL_PERCENT = 80

/** Keys of the kind `state`. */
const TOOL_CALLS_KEY = "tool-calls"
export const SESSION_START_KEY = "session-start"

/** Where the tick stands, as the runtime knows it. */
export interface TickMeasures {
  readonly iteration: number
  readonly maxIterations: number
  readonly tokensUsed: number
  readonly maxContextTokens: number
  readonly toolsThisTick: ReadonlyArray<string>
  readonly pendingTools: ReadonlyArray<string>
}

/** Tool calls since the session began. */
export interface CallCounters {
  readonly total: number
  readonly successful: number
  readonly failed: number
}

const countIn = (value: Json, name: string): number => {
  const count = isJsonObject(value) ? value[name] : undefined
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : 0
}

/** The total is always computed, never read (I1). */
export const countersOf = (stateRecords: Records): CallCounters => {
  const kept = stateRecords.get(TOOL_CALLS_KEY) ?? null
  const successful = countIn(kept, "successful")
  const failed = countIn(kept, "failed")
  return { total: successful + failed, successful, failed }
}

/** One more call that ended. */
export const callCounted = (counters: CallCounters, ok: boolean): RecordChange => {
  const successful = counters.successful + (ok ? 1 : 0)
  const failed = counters.failed + (ok ? 0 : 1)
  return { kind: "state", key: TOOL_CALLS_KEY, value: { total: successful + failed, successful, failed } }
}

/** A session begins: the counters with it. */
export const sessionBegun = (now: number): ReadonlyArray<RecordChange> => [
  { kind: "state", key: SESSION_START_KEY, value: isoTime(now) },
  { kind: "state", key: TOOL_CALLS_KEY, value: { total: 0, successful: 0, failed: 0 } }
]

/** `used` of `limit` in percent, to one decimal. */
export const usagePercentage = (used: number, limit: number): number =>
  limit > 0 ? Math.round((used * 1_000) / limit) / 10 : 0

export interface TokenAdvisory {
  readonly level: "normal" | "warning" | "critical"
  readonly message: string
  readonly threshold: number
}

export const tokenAdvisory = (percentage: number): TokenAdvisory => {
  if (percentage >= CRITICAL_PERCENT) {
    return { level: "critical", message: "Context is nearly full: respond now", threshold: CRITICAL_PERCENT }
  }
  if (percentage >= WARNING_PERCENT) {
    return { level: "warning", message: "Context is filling up: begin to wrap up", threshold: WARNING_PERCENT }
  }
  return { level: "normal", message: "Sufficient context available", threshold: WARNING_PERCENT }
}

/** The keys are those of the wire, in their order. `session_start` is null for an assistant that was never begun. */
export const systemStatus = (tick: TickMeasures, stateRecords: Records, now: number) => {
  const { iteration, maxContextTokens, maxIterations, pendingTools, tokensUsed, toolsThisTick } = tick
  const usage_percentage = usagePercentage(tokensUsed, maxContextTokens)
  const { failed, successful, total } = countersOf(stateRecords)
  const begun = stateRecords.get(SESSION_START_KEY)
  return {
    success: true as const,
    timestamp: isoTime(now),
    token_usage: {
      estimated_used: tokensUsed,
      model_limit: maxContextTokens,
      available: maxContextTokens - tokensUsed,
      usage_percentage
    },
    token_advisory: tokenAdvisory(usage_percentage),
    loop_state: {
      iteration,
      max_iterations: maxIterations,
      tools_this_cycle: toolsThisTick,
      tool_count_this_cycle: toolsThisTick.length
    },
    session_metrics: {
      total_tool_calls: total,
      successful_calls: successful,
      failed_calls: failed,
      session_start: typeof begun === "string" ? begun : null
    },
    // The first iteration begins a chain; each further one is a link of it.
    chain_state: {
      in_chain: iteration > 1,
      chain_depth: Math.max(0, iteration - 1),
      pending_tools: pendingTools
    }
  }
}

// Bed: whether an assistant may go to sleep of its own accord.
// Owns the three safeguards and the order they let through. Leaves sending it to the runtime.
// B1  An assistant does not fall asleep twice, while a person waits for an answer, or over dangerous or unapproved work.

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
