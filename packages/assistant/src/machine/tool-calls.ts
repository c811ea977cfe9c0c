// ToolCalls: the calls of one reply, from their admission to the last result.
// Owns the actions and guards of them, and what a model reads of a call without a result. Leaves which call may run to
// calls.ts, handing tasks on to sub-agents.ts.

import { type CallPhase, inPhase, isInPhase } from "../calls.ts"
import * as Now from "../context.ts"
import { inferOutput, type MachineEvent, type ToolOutput } from "../events.ts"
import { changing, type Enqueue, enqueuing, when, whenHeard } from "./base.ts"

/** Why a call that was open has no result. Calls that wait for a person or a report go on waiting through a halt. */
const reasons = {
  halted: "The assistant was halted while this call was open; whether it took effect is unknown.",
  retired: "The assistant was retired while this call was open; whether it took effect is unknown.",
  retiredUnapproved: "The assistant was retired before this call was approved.",
  broken: "The call broke; whether it took effect is unknown.",
  denied: "A person denied this call.",
  unapproved: "Nobody approved this call in time.",
  unreported: "Its report did not come in time."
}
export type CallEnd = keyof typeof reasons

/** The call whose job ended, from the type of the event that says so. */
export const toolIndex = ({ type }: MachineEvent): number => Number(type.slice(type.lastIndexOf(".") + 1))

const refuse = (enqueue: Enqueue, context: Now.AssistantContext, indexes: ReadonlyArray<number>, because: CallEnd) => {
  const reason = reasons[because]
  enqueue({ type: "refuseCalls", params: { refusals: indexes.map((index) => ({ index, reason })) } })
  enqueue.assign(Now.moved(context, indexes, "refused"))
}

export const toolCallGuards = {
  hasCalls: when(({ calls }) => calls.length > 0),
  hasUnfinishedCalls: when((context) => !Now.isSettled(context)),
  hasCallsToApprove: when(({ calls }) => isInPhase(calls, "asking")),
  hasCallsWithoutReport: when(({ calls }) => isInPhase(calls, "waiting")),
  hasAllReports: when(({ calls }) => !isInPhase(calls, "waiting")),
  hasEndedByTool: when(Now.endedTerminally),
  isCallRunning: whenHeard((context, event) => Now.isRunning(context, toolIndex(event))),
  isReportExpected: whenHeard((context, event) => Now.callOfReport(context, event) !== undefined),
  isCallApproved: whenHeard(
    (context, event) =>
      event.type === "approval" && event.decision === "approved" && Now.callOfApproval(context, event) !== undefined
  ),
  isCallDenied: whenHeard(
    (context, event) =>
      event.type === "approval" && event.decision !== "approved" && Now.callOfApproval(context, event) !== undefined
  )
}

export const toolCallActions = {
  admitCalls: enqueuing((enqueue, context, event) => {
    const { calls } = inferOutput(event)
    enqueue({ type: "refuseCalls", params: { refusals: Now.refusalsOf(context, calls) } })
    enqueue.assign(Now.admitted(context, calls))
  }),
  startReadyCalls: enqueuing((enqueue, context) => {
    const ready = inPhase(context.calls, "ready")
    for (const index of ready) enqueue.spawnChild("tool", { id: `tool.${index}`, input: { index } })
    enqueue.assign(Now.moved(context, ready, "running"))
  }),
  recordResult: enqueuing((enqueue, context, event) => {
    if (!("output" in event)) return
    const index = toolIndex(event)
    enqueue.stopChild(`tool.${index}`)
    enqueue.assign(Now.moved(context, [index], Now.phaseAfter(event.output as ToolOutput)))
  }),
  recordBrokenCall: enqueuing((enqueue, context, event) => {
    const index = toolIndex(event)
    enqueue.stopChild(`tool.${index}`)
    refuse(enqueue, context, [index], "broken")
  }),
  recordReport: enqueuing((enqueue, context, event) => {
    const index = Now.callOfReport(context, event) ?? -1
    enqueue({ type: "answerReport", params: { index } })
    enqueue.assign(Now.moved(context, [index], "done"))
  }),
  askApprovals: enqueuing((enqueue, context) => {
    for (const index of inPhase(context.calls, "asking")) {
      const call = context.calls[index]
      if (call === undefined) continue
      enqueue.emit({
        type: "approval-asked",
        approval: call.approval ?? "",
        tool: call.tool,
        call: `${context.tick}.${context.iteration}.${index}`,
        withinMillis: Now.settingsNow(context).approvalMillis
      })
    }
  }),
  approveCall: changing((context, event) => Now.moved(context, [Now.callOfApproval(context, event) ?? -1], "ready")),
  denyCall: enqueuing((enqueue, context, event) => {
    refuse(enqueue, context, [Now.callOfApproval(context, event) ?? -1], "denied")
  }),
  /** Ends the calls that are in one of the phases; their jobs stop, and the model reads the reason. */
  endCalls: enqueuing<{ readonly phases: ReadonlyArray<CallPhase>; readonly because: CallEnd }>(
    (enqueue, context, _, { because, phases }) => {
      const indexes = inPhase(context.calls, ...phases)
      if (indexes.length === 0) return
      for (const index of inPhase(context.calls, "running")) {
        if (indexes.includes(index)) enqueue.stopChild(`tool.${index}`)
      }
      refuse(enqueue, context, indexes, because)
    }
  )
}
