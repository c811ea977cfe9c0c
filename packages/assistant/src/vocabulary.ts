// Vocabulary: the actors, actions, guards and delays that the statechart is written in.
// Owns their names and types. Leaves the states to machine.ts and the changes of context to context.ts.
// I1  Actors are placeholders: a job runs in the runtime, never here.
// I2  Named actions without a body are commands with serialisable params; everything else only changes the context.

import type { Amount, Json, TickOutcome } from "@reverie/protocol"
import { assign, fromPromise, setup } from "xstate"
import { type CallPhase, inPhase, type Refusal } from "./calls.ts"
import * as Now from "./context.ts"
import { NOTHING } from "./budget/index.ts"
import { reserved, settled, whyCut } from "./spending.ts"
import { isAssignmentOver, left, type Order, type DelegationRefusal, type Step, told } from "./sub-agents/index.ts"
import type { AssessOutput, InferOutput, MachineEvent, StepOutput, ToolOutput } from "./events.ts"
import type { Settings } from "./settings.ts"

/** What the machine tells screens, besides its state. */
export type Emitted =
  | {
      readonly type: "approval-asked"
      readonly approval: string
      readonly tool: string
      readonly call: string
      readonly withinMillis: number
    }
  /** The work in hand waits for its model, and goes on by itself; told when the wait begins. */
  | { readonly type: "model-away"; readonly server: string; readonly reason: string; readonly withinMillis: number }

const job = <Output>() => fromPromise<Output, Json>(() => Promise.reject(new Error("jobs run outside the statechart")))

/** The call whose job ended, from the type of the event that says so. */
export const toolIndex = (event: { readonly type: string }): number =>
  Number(event.type.slice(event.type.lastIndexOf(".") + 1))

export const base = setup({
  types: {
    context: {} as Now.AssistantContext,
    events: {} as MachineEvent,
    input: {} as { readonly settings: Partial<Settings>; readonly subAgentStart?: Now.SubAgentStart },
    emitted: {} as Emitted,
    tags: {} as "mail" | "busy" | "halted" | "retired"
  },
  actors: {
    infer: job<InferOutput>(),
    tool: job<ToolOutput>(),
    child: job<null>(),
    assess: job<AssessOutput>(),
    dream: job<StepOutput>(),
    compact: job<StepOutput>()
  },
  actions: {
    // Named actions are commands: the runtime carries them out in the same commit.
    endTick: (_, _params: { readonly outcome: TickOutcome; readonly reason?: string }) => {},
    refuseCalls: (_, _params: { readonly refusals: ReadonlyArray<Refusal> }) => {},
    answerReport: (_, _params: { readonly index: number }) => {},
    refuseDelegation: (
      _,
      _params: { readonly call: string; readonly index: number; readonly refusal: DelegationRefusal }
    ) => {},
    tellSubAgents: (_, _params: Omit<Extract<Order, { order: "tell" }>, "order">) => {},
    reportHome: (_, _params: { readonly spent: Amount }) => {},
    reserveCall: assign(({ context }) => reserved(context)),
    settleCall: assign(({ context, event }) => settled(context, event)),
    forgetTick: assign(() => Now.end()),
    nextIteration: assign(({ context }) => Now.nextIteration(context)),
    wantWake: assign({ wakeWanted: true }),
    countError: assign(({ context }) => Now.failed(context)),
    remember: assign((_, params: Partial<Now.AssistantContext>) => params)
  },
  guards: {
    inTick: ({ context }) => context.envelope !== null,
    inIteration: ({ context }) => context.envelope !== null && context.iteration > 0,
    hasCalls: ({ context }) => context.calls.length > 0,
    overEmergency: ({ context }) => {
      const { compactEnabled, compactEmergencyRatio } = Now.settingsNow(context)
      return compactEnabled && context.signals.tokenRatio >= compactEmergencyRatio
    },
    isBroke: ({ context }) => whyCut(context) !== undefined,
    isAssignmentOver: ({ context }) => isAssignmentOver(context),
    isAssignment: ({ context }) => context.assignment !== null,
    weighsTask: ({ context }) => Now.settingsNow(context).assessTask,
    wakes: ({ context }) => context.wakeWanted || context.signals.mailWaiting,
    mayCompact: ({ context }) => Now.settingsNow(context).compactEnabled,
    cameFromIdle: ({ context }) => context.compactingFrom === "idle",
    cameFromPause: ({ context }) => context.compactingFrom === "pausing" && !context.wakeWanted,
    cameFromSleep: ({ context }) => context.compactingFrom !== "awake" && context.compactingFrom !== "idle"
  },
  delays: {
    park: ({ context }) => context.parkMillis,
    approval: ({ context }) => Now.settingsNow(context).approvalMillis,
    report: ({ context }) => Now.settingsNow(context).reportMillis,
    sleep: ({ context }) => context.sleepMillis,
    dreamTick: ({ context }) =>
      Math.max(1, Now.settingsNow(context).sleepTickMillis, context.outage === null ? 0 : context.parkMillis)
  }
})

/** Ends the tick in hand. */
export const ending = (outcome: TickOutcome, reason?: string) => [
  { type: "endTick" as const, params: reason === undefined ? { outcome } : { outcome, reason } },
  { type: "forgetTick" as const }
]

export const beginTick = base.assign(({ context, event }) => ("envelope" in event ? Now.begin(context, event) : {}))

/** Compacts the history by order, which is no tick: nothing is asked of the model for it, and a dream keeps its number. */
export const compaction = (from: "idle" | "pausing" | "resting") => ({
  guard: "mayCompact" as const,
  target: "#assistant.compacting" as const,
  actions: base.assign(({ context, event }) =>
    event.type === "compact" ? Now.compactByOrder(context, event, from) : {}
  )
})

/** Ends the calls that are in one of the phases, with a reason the model is told; their jobs stop. */
export const endCalls = (reason: string, ...phases: ReadonlyArray<CallPhase>) =>
  base.enqueueActions(({ context, enqueue }) => {
    const indexes = inPhase(context.calls, ...phases)
    if (indexes.length === 0) return
    for (const index of inPhase(context.calls, "running")) {
      if (indexes.includes(index)) enqueue.stopChild(`tool.${index}`)
    }
    enqueue({ type: "refuseCalls", params: { refusals: indexes.map((index) => ({ index, reason })) } })
    enqueue.assign(Now.moved(context, indexes, "refused"))
  })

export const startReadyCalls = base.enqueueActions(({ context, enqueue }) => {
  const ready = inPhase(context.calls, "ready")
  for (const index of ready) enqueue.spawnChild("tool", { id: `tool.${index}`, input: { index } })
  enqueue.assign(Now.moved(context, ready, "running"))
})

export const askApprovals = base.enqueueActions(({ context, enqueue }) => {
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
})

/** Changes the context by a step of a sub-agent, and asks for what it orders; undefined does nothing. */
export const taking = (stepOf: (context: Now.AssistantContext, event: MachineEvent) => Step | undefined) =>
  base.enqueueActions(({ context, enqueue, event }) => {
    const step = stepOf(context, event)
    if (step === undefined) return
    enqueue.assign(step.change)
    for (const order of step.orders) {
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
  })

/** Tells that the work in hand waits for its model, once for each wait. */
export const tellOutage = base.enqueueActions(({ context, enqueue }) => {
  const { outage, parkMillis } = context
  if (outage === null || outage.tries > 1) return
  const { reason, server } = outage
  enqueue.emit({ type: "model-away", server, reason, withinMillis: parkMillis })
})

/** Leaves for good: nobody below stays, and whoever sent it is told what was spent. */
export const leaving = [
  taking((context) => left(context)),
  base.enqueueActions(({ context, enqueue }) => {
    if (context.assignment === null) return
    enqueue({ type: "reportHome", params: { spent: context.account?.spent ?? NOTHING } })
  })
]

export const telling = (verb: "halt" | "resume") => taking((context) => told(context, verb))
