// Calls: the tool calls of one iteration, as the statechart follows them.
// Owns which call may run, waits or is refused. Leaves arguments and results to the ledger's messages.
// I1  At most one dangerous call runs in a tick; the others are refused with a reason.
// I2  A call outside the pattern's categories never runs.
// I3  A dangerous call runs without approval only when the pattern asks for none and the call itself neither.
// I4  A call that a tool rule refuses never runs.
// I5  A call that has ended (done, failed, refused) never runs again.

import type { ToolCategory } from "@reverie/protocol"
import type { ExecutionPattern } from "./patterns/pattern.ts"

/**
 * ready: may be started. running: its job is open. asking: waits for approval. waiting: its report is outstanding.
 * done: it worked. failed: its result says that it did not. refused: it never ran, or nobody knows how far.
 */
export type CallPhase = (typeof callPhases)[number]
export const callPhases = ["ready", "running", "asking", "waiting", "done", "failed", "refused"] as const

/** What the model asked for, as control data. */
export interface CallRequest {
  readonly tool: string
  readonly category: ToolCategory
  /** Names this very call with these very arguments, for whoever decides on it. */
  readonly approval?: string
  /** The epoch in which that approval was asked for: a part of what it is bound to. */
  readonly askedIn?: number
  /** A person has to agree to it, whatever the pattern says of dangerous calls. */
  readonly asks?: true
  /** Why a tool rule refuses it. */
  readonly refused?: string
  /** What a tool rule makes of its end, whatever its category. */
  readonly ends?: "exit" | "continue"
}

export interface Call extends CallRequest {
  readonly phase: CallPhase
}

export interface Refusal {
  readonly index: number
  readonly reason: string
}

export interface Admission {
  readonly calls: ReadonlyArray<Call>
  readonly refusals: ReadonlyArray<Refusal>
  readonly dangerousUsed: number
}

/** Decides what becomes of each call the model asked for. */
export const admit = (
  requests: ReadonlyArray<CallRequest>,
  pattern: ExecutionPattern,
  dangerousUsed: number
): Admission => {
  const refusals: Array<Refusal> = []
  let dangerous = dangerousUsed
  const calls = requests.map((request, index): Call => {
    const refuse = (reason: string): Call => {
      refusals.push({ index, reason })
      return { ...request, phase: "refused" }
    }
    if (request.refused !== undefined) return refuse(request.refused)
    if (!pattern.multiTool && index > 0) return refuse("Only one tool call is allowed in this tick.")
    if (!pattern.categories.includes(request.category)) {
      return refuse(`Tools of the category ${request.category} are not allowed in this tick.`)
    }
    if (request.category !== "dangerous") return { ...request, phase: "ready" }
    if (dangerous > 0) return refuse("Only one dangerous tool may run in a tick; ask for it again in a later one.")
    dangerous++
    return { ...request, phase: pattern.confirmDangerous || request.asks === true ? "asking" : "ready" }
  })
  return { calls, refusals, dangerousUsed: dangerous }
}

/** Moves the calls named by `indexes` to another phase. */
export const movedTo = (
  calls: ReadonlyArray<Call>,
  indexes: ReadonlyArray<number>,
  phase: CallPhase
): ReadonlyArray<Call> => calls.map((call, index) => (indexes.includes(index) ? { ...call, phase } : call))

/** Indexes of the calls in one of the phases. */
export const inPhase = (calls: ReadonlyArray<Call>, ...phases: ReadonlyArray<CallPhase>): ReadonlyArray<number> =>
  calls.flatMap((call, index) => (phases.includes(call.phase) ? [index] : []))

export const isInPhase = (calls: ReadonlyArray<Call>, phase: CallPhase): boolean =>
  calls.some((call) => call.phase === phase)

/** The id of a call, the same in messages, jobs, approvals and reports. */
export const callId = (tick: number, iteration: number, index: number): string => `${tick}.${iteration}.${index}`
