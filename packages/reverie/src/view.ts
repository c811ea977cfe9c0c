// View: an assistant as a person wants to see it.
// Owns what is read out of a stored record. Leaves the record to the ledger, its meaning to the statechart.
// V1  A view is a pure function of the record; a record that can not be read gives a view that says so.

import { type AssistantContext, callId, contextOf, restore } from "@reverie/assistant"
import type { AssistantRecord } from "@reverie/ledger"
import * as Result from "effect/Result"

export interface AssistantView {
  readonly id: string
  readonly definition: string
  /** The path of the machine state, e.g. `awake.idle`. */
  readonly state: string
  /** Ticks begun since birth. */
  readonly ticks: number
  /** Accepted envelopes that have not been handled. */
  readonly waiting: number
  /** Work that was started and has not ended. */
  readonly jobs: ReadonlyArray<string>
  /** What will happen by itself, and when, in milliseconds since the epoch. */
  readonly timers: ReadonlyArray<{ readonly name: string; readonly dueAt: number }>
  /** The approvals that are asked for, the oldest first. */
  readonly approvals: ReadonlyArray<{ readonly approval: string; readonly tool: string; readonly call: string }>
  /** Why it is halted. */
  readonly haltReason?: string
  /** Commits since birth. */
  readonly commits: number
}

const approvalsOf = ({ calls, iteration, tick }: AssistantContext): AssistantView["approvals"] =>
  calls.flatMap(({ approval, phase, tool }, index) =>
    phase === "asking" && approval !== undefined ? [{ approval, tool, call: callId(tick, iteration, index) }] : []
  )

export const viewOf = (record: AssistantRecord): AssistantView => {
  const { address, state, version, waiting } = record
  const restored = restore(state.snapshot)
  const context = Result.isSuccess(restored) ? contextOf(restored.success) : undefined
  const haltReason = context === undefined ? "its snapshot can not be read" : context.haltReason
  return {
    id: address.assistant,
    definition: state.definition,
    state: state.status,
    ticks: context?.tick ?? 0,
    waiting,
    jobs: state.jobs.map(({ name }) => name),
    timers: state.timers.map(({ dueAt, name }) => ({ name, dueAt })),
    approvals: context === undefined ? [] : approvalsOf(context),
    ...(haltReason === null || state.status !== "halted" ? {} : { haltReason }),
    commits: version
  }
}
