// Assignment: a task that an assistant hands to a sub-agent, and what comes back.
// Owns the words both sides share. Leaves who may hand out what to the statechart, bearing the sub-agent to the runtime.
// E1  Amounts are whole numbers and never negative; a bound that is null is none.
// E2  Limits that are wished for can only narrow what would be granted without them.

import * as Schema from "effect/Schema"

const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const atLeastOne = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

/** What model calls cost. Money is in millionths of a unit. */
export const Amount = Schema.Struct({ tokens: count, costMicros: count, calls: count })
export type Amount = typeof Amount.Type

/**
 * What a sub-agent is told of the one that sends it. orchestrator: the task alone, under a specialist's prompt. none: also
 * its goals, the recent conversation and its state. delegate: the task and its three foremost goals; the sub-agent keeps
 * its own personality.
 */
export const insulations = ["none", "orchestrator", "delegate"] as const
export type Insulation = (typeof insulations)[number]

/** Longest task, in UTF-16 units. */
export const MAX_TASK_CHARS = 32_000

/** What is asked for when a task is handed on. */
export const AssignmentRequest = Schema.Struct({
  task: Schema.String.check(Schema.isPattern(/\S/), Schema.isMaxLength(MAX_TASK_CHARS)),
  /** The name of an assistant's definition; that of the one who asks when not said. */
  specialist: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(128))),
  /** orchestrator when not said. */
  insulation: Schema.optionalKey(Schema.Literals(insulations)),
  tokens: Schema.optionalKey(atLeastOne),
  calls: Schema.optionalKey(atLeastOne),
  costMicros: Schema.optionalKey(atLeastOne),
  seconds: Schema.optionalKey(atLeastOne)
})
export type AssignmentRequest = typeof AssignmentRequest.Type

/** completed: done. cut: ended with what it had, because a limit was reached. */
export const assignmentEnds = ["completed", "cut", "failed", "cancelled"] as const
export type AssignmentEnd = (typeof assignmentEnds)[number]

const text = Schema.String.check(Schema.isMaxLength(MAX_TASK_CHARS))

/** What a sub-agent sends home, once. */
export const AssignmentReport = Schema.Struct({
  end: Schema.Literals(assignmentEnds),
  /** True whenever it is not the whole of what was asked for because a limit was reached. */
  cut: Schema.Boolean,
  summary: text,
  output: Schema.optionalKey(text),
  artefacts: Schema.Array(text),
  followUp: Schema.Array(text),
  /** Its own model calls and those of its sub-agents. */
  spent: Amount,
  reason: Schema.optionalKey(text)
})
export type AssignmentReport = typeof AssignmentReport.Type
