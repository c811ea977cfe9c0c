// SubAgents: what the statechart does for the assistants below it, and for the one it works for.
// Owns the actions and guards of it, and carrying out what a step asks for. Leaves the steps to sub-agents/.

import type { AssistantContext } from "../context.ts"
import type { MachineEvent, ToolOutput } from "../events.ts"
import { NOTHING } from "../budget/index.ts"
import * as Steps from "../sub-agents/index.ts"
import { type Enqueue, enqueuing, when } from "./base.ts"
import { toolIndex } from "./tool-calls.ts"

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
  isAssignmentOver: when(Steps.isAssignmentOver)
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
