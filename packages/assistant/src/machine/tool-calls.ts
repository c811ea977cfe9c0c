// ToolCalls: the calls of one reply, from their admission to the last result.
// Owns the actions and guards of them, delegating tasks, and what a model reads of a call without a result. Leaves which call
// may run to events.ts.

import { type CallPhase, inferOutput, inPhase, isInPhase, type MachineEvent, type ToolOutput } from "../events.ts"
import * as Now from "../context.ts"
import type { AssistantContext } from "../context.ts"
import { changing, type Enqueue, enqueuing, when, whenHeard } from "./base.ts"
import { NOTHING } from "../budget/account.ts"
import * as Steps from "../sub-agents/index.ts"

/** Why a call that was open has no result. Calls that wait for a person or a report go on waiting through a halt. */
const reasons = {
  halted: "The assistant was halted while this call was open; whether it took effect is unknown.",
  retired: "The assistant was retired while this call was open; whether it took effect is unknown.",
  retiredUnapproved: "The assistant was retired before this call was approved.",
  stopped: "A person stopped the turn while this call was open; whether it took effect is unknown.",
  stoppedUnapproved: "A person stopped the turn before this call was approved.",
  broken: "The call broke; whether it took effect is unknown.",
  denied: "A person denied this call.",
  unapproved: "Nobody approved this call in time.",
  unreported: "Its report did not come in time."
}
export type CallEnd = keyof typeof reasons

/** The call whose job ended, from the type of the event that says so. */
const toolIndex = ({ type }: MachineEvent): number => Number(type.slice(type.lastIndexOf(".") + 1))

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
    const output = inferOutput(event)
    const pressed = Now.pressedBy(context, output)
    enqueue({ type: "refuseCalls", params: { refusals: Now.refusalsOf(pressed, output.calls) } })
    enqueue.assign(Now.admitted(pressed, output.calls))
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
    enqueue.assign(Now.ran(context, index, event.output as ToolOutput))
  }),
  recordBrokenCall: enqueuing((enqueue, context, event) => {
    const index = toolIndex(event)
    enqueue.stopChild(`tool.${index}`)
    refuse(enqueue, context, [index], "broken")
    enqueue.assign({ toolFailures: context.toolFailures + 1 })
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
        withinMs: Now.settingsNow(context).approvalMs
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

// SubAgents: what the statechart does for the assistants below it, and for the one it works for.

const carryOut = (enqueue: Enqueue, order: Steps.Order): void => {
  switch (order.order) {
    case "spawn":
      enqueue.spawnChild("child", { id: order.name, input: { call: order.call } })
      break
    case "stop":
      enqueue.stopChild(order.name)
      break
    case "timer":
      enqueue.raise({ type: "news", ...order.news }, { id: order.id, delay: order.delayMillis })
      break
    case "cancel":
      enqueue.cancel(order.id)
      break
    case "answer":
      enqueue({ type: "answerReport", params: { index: order.index } })
      break
    case "refuse":
      enqueue({ type: "refuseCalls", params: { refusals: [{ index: order.index, reason: order.reason }] } })
      break
    case "refuseDelegation": {
      const { call, index, refusal } = order
      enqueue({ type: "refuseDelegation", params: { call, index, refusal } })
      break
    }
    case "tell": {
      const { reason, to, verb } = order
      enqueue({ type: "tellSubAgents", params: { verb, to, reason } })
      break
    }
  }
}

/** Changes the context by a step of a sub-agent, and asks for what it orders; undefined does nothing. */
const taking = (stepOf: (context: AssistantContext, event: MachineEvent) => Steps.Step | undefined) =>
  enqueuing((enqueue, context, event) => {
    const step = stepOf(context, event)
    if (step === undefined) return
    enqueue.assign(step.change)
    for (const order of step.orders) carryOut(enqueue, order)
  })

/** The call whose sub-agent a creation was for, from the type of the event that says how it ended. */
const creationCall = ({ type }: MachineEvent): string => type.replace(/^xstate\.(done|error)\.actor\.child\./, "")

export const subAgentGuards = {
  isAssignmentOver: when(Now.isAssignmentOver)
}

export const subAgentActions = {
  applyNews: taking((context, event) => (event.type === "news" ? Steps.heardNews(context, event) : undefined)),
  delegate: taking((context, event) => (event.type === "delegate" ? Steps.hired(context, event, -1) : undefined)),
  refuseDelegationWhileHalted: taking((context, event) =>
    event.type === "delegate" ? Steps.hiredWhileHalted(context, event) : undefined
  ),
  /** A tool call may hand a task on, or end a sub-agent. */
  applyDelegation: taking((context, event) => {
    const { delegate, dismiss } = ("output" in event ? event.output : {}) as Partial<ToolOutput>
    if (dismiss !== undefined) return Steps.dismissed(context, dismiss, "it was ended by the one who sent it")
    return delegate === undefined ? undefined : Steps.hired(context, delegate, toolIndex(event))
  }),
  recordSubAgentCreated: taking((context, event) => Steps.created(context, creationCall(event), false)),
  recordSubAgentCreatedWhileHalted: taking((context, event) => Steps.created(context, creationCall(event), true)),
  recordCreationFailed: taking((context, event) => Steps.planned(context, creationCall(event))),
  dismissUnneededSubAgents: taking(Steps.unwaited),
  haltSubAgents: taking((context) => Steps.told(context, "halt")),
  resumeSubAgents: taking((context) => Steps.told(context, "resume")),
  retireSubAgents: taking(Steps.left),
  /** A sub-agent says what it spent. */
  reportToParent: enqueuing((enqueue, context) => {
    if (context.assignment === null) return
    enqueue({ type: "reportHome", params: { spent: context.account?.spent ?? NOTHING } })
  })
}
