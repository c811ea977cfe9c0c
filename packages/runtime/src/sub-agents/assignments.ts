// Assignments: the records of tasks that were handed on.
// Owns reading them, and what of a finished run the statechart is asked. Leaves deciding to the statechart.
// K1  A task stays among the records exactly as long as its sub-agent is open, so that a crash finds it again.
// K2  What is no request for a task is not handed on, whoever wrote it.

import {
  accountOf,
  type AssistantContext,
  contextOf,
  type Decoded,
  type DelegateRequest,
  isBounded,
  isOpen,
  remaining
} from "@reverie/assistant"
import { AssignmentRequest, type Json, type RecordChange, defined } from "@reverie/protocol"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type OwnRecords, recordsOf } from "../session/own-records.ts"

const decode = Schema.decodeUnknownOption(AssignmentRequest)

export const assignmentOn = (own: OwnRecords, call: string): AssignmentRequest | undefined =>
  Option.getOrUndefined(decode(recordsOf(own, "assignment").get(call)))

const SECOND_MILLIS = 1_000

/** What the statechart has to know of a request. */
export const requestOf = (call: string, request: AssignmentRequest, at: number): DelegateRequest => {
  const { calls, costMicros, seconds, tokens } = request
  return {
    call,
    at,
    ...defined({ tokens, calls, costMicros, millis: seconds === undefined ? undefined : seconds * SECOND_MILLIS })
  }
}

export const writtenAssignment = (call: string, { task, ...more }: AssignmentRequest): RecordChange => ({
  kind: "assignment",
  key: call,
  value: { task, ...more } as unknown as Json
})

/** What a run asks of the statechart by what it wrote; the rest of its changes. */
export const askedBy = (call: string, records: ReadonlyArray<RecordChange>, at: number) => {
  const assignments = records.filter(({ kind }) => kind === "assignment")
  if (assignments.length === 0) return { records, asks: {} }
  const gone = assignments.find(({ value }) => value === null)?.key
  const written = assignments.find(({ key, value }) => value !== null && key === call)
  const request = written === undefined ? undefined : Option.getOrUndefined(decode(written.value))
  return {
    // What is ended stays among the records until its sub-agent has reported.
    records: records.filter((change) => change.kind !== "assignment" || (change === written && request !== undefined)),
    asks: defined({ delegate: request === undefined ? undefined : requestOf(call, request, at), dismiss: gone })
  }
}

const openCalls = ({ subAgents }: AssistantContext): ReadonlySet<string> =>
  new Set(subAgents.filter(isOpen).map(({ call }) => call))

/** Removes the records of tasks whose sub-agents are not open after a decision: ended by it, or refused. */
export const assignmentsOver = (
  before: Decoded,
  next: Decoded,
  records: ReadonlyArray<RecordChange> = []
): ReadonlyArray<RecordChange> => {
  const were = openCalls(contextOf(before))
  const are = openCalls(contextOf(next))
  const written = records.flatMap(({ key, kind, value }) => (kind === "assignment" && value !== null ? [key] : []))
  return [...new Set([...were, ...written])].flatMap((key) =>
    are.has(key) ? [] : [{ kind: "assignment", key, value: null } as const]
  )
}

/** Sub-agents that are open, and what is left to spend, as a tool tells it. */
export const subAgentsOf = ({ decoded }: { readonly decoded: Decoded }, now: number) => {
  const context = contextOf(decoded)
  const account = accountOf(context)
  const { calls, tokens } = remaining(account)
  return {
    sub_agents: context.subAgents.filter(isOpen).map(({ call, phase, until }) => ({
      call,
      phase,
      seconds_left: Math.max(0, Math.round((until - now) / SECOND_MILLIS))
    })),
    left: isBounded(account) ? { tokens, calls } : null
  }
}
