// Base: what the statechart is typed with: its context, events, tags, jobs, timers and commands.
// Owns these types, and how actions and guards are written. Leaves what they do to their neighbours, and which state
// uses them to machine.ts.
// I1  Jobs are placeholders: they run in the runtime, never here.
// I2  A command has no body and params that are JSON: the runtime carries it out. Every other action only changes the
//     context, or asks for commands, jobs and timers.

import { type Amount, defined, type Json, type TickOutcome } from "@reverie/protocol"
import { type ActionFunction, assign, enqueueActions, fromPromise, setup } from "xstate"
import * as Now from "../context.ts"
import { type AssistantContext, settingsNow, type SubAgentStart } from "../context.ts"
import {
  type AssessOutput,
  assessOutput,
  inferFailure,
  type InferOutput,
  inferOutput,
  type MachineEvent,
  type Refusal,
  stepFailure,
  type StepOutput,
  stepOutput,
  type ToolOutput
} from "../events.ts"
import type { Settings } from "../settings.ts"
import type { StateMeta, StateTag } from "../state-tag.ts"
import type { DelegationRefusal, Order } from "../sub-agents/index.ts"
import { metOutage, type Reaction, reactionTo } from "./outage.ts"
import type { CompactionPhase, DreamOperation } from "./phases.ts"
import { bounded, reserved, settled, whyCut } from "../budget/spending.ts"

/** What the machine reports to screens, besides its state. */
export type Emitted =
  | {
      readonly type: "approval-asked"
      readonly approval: string
      readonly tool: string
      readonly call: string
      readonly withinMs: number
    }
  /** The work in hand waits for its model, and goes on by itself; reported when the wait begins. */
  | {
      readonly type: "model-away"
      readonly server: string
      /** Servers of other models of a list, which are away as well. */
      readonly others?: ReadonlyArray<string>
      readonly reason: string
      readonly withinMs: number
    }

const job = <Output>() => fromPromise<Output, Json>(() => Promise.reject(new Error("jobs run outside the statechart")))

export const base = setup({
  types: {
    context: {} as AssistantContext,
    events: {} as MachineEvent,
    input: {} as { readonly settings: Partial<Settings>; readonly subAgentStart?: SubAgentStart },
    emitted: {} as Emitted,
    tags: {} as StateTag,
    meta: {} as StateMeta
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
    endTick: (_, _params: { readonly outcome: TickOutcome; readonly reason?: string }) => {},
    refuseCalls: (_, _params: { readonly refusals: ReadonlyArray<Refusal> }) => {},
    answerReport: (_, _params: { readonly index: number }) => {},
    refuseDelegation: (
      _,
      _params: { readonly call: string; readonly index: number; readonly refusal: DelegationRefusal }
    ) => {},
    tellSubAgents: (_, _params: Omit<Extract<Order, { order: "tell" }>, "order">) => {},
    reportHome: (_, _params: { readonly spent: Amount }) => {}
  },
  delays: {
    park: ({ context }) => context.parkMs,
    approval: ({ context }) => settingsNow(context).approvalMs,
    report: ({ context }) => settingsNow(context).reportMs,
    sleep: ({ context }) => context.sleepMs,
    dreamTick: ({ context }) =>
      Math.max(1, settingsNow(context).sleepTickMs, context.outage === null ? 0 : context.parkMs)
  }
})

type Action<Params> = ActionFunction<
  AssistantContext,
  MachineEvent,
  MachineEvent,
  Params,
  never,
  never,
  never,
  never,
  never
>

interface Resolving {
  readonly context: AssistantContext
}

/**
 * An action that changes the context. The `assign` of XState finds value and tags of the state anew for each change, which
 * was the most that a step cost, and neither changes: the snapshot keeps them (T1 of decide.ts).
 */
export const changing = <Params = undefined>(
  change: (context: AssistantContext, event: MachineEvent, params: Params) => Partial<AssistantContext>
): Action<Params> =>
  Object.assign(
    assign<AssistantContext, MachineEvent, Params, MachineEvent, never>(({ context, event }, params) =>
      change(context, event, params)
    ),
    {
      resolve: (_scope: unknown, snapshot: Resolving, { event }: { readonly event: MachineEvent }, params: Params) => {
        const { context } = snapshot
        return [{ ...snapshot, context: { ...context, ...change(context, event, params) } }, undefined, undefined]
      }
    }
  )

type Enqueuing = Parameters<Parameters<typeof base.enqueueActions>[0]>[0]
export type Enqueue = Enqueuing["enqueue"]

/** An action that asks for commands, jobs and timers, in order. */
export const enqueuing = <Params = undefined>(
  ask: (enqueue: Enqueue, context: AssistantContext, event: MachineEvent, params: Params) => void
): Action<Params> =>
  (enqueueActions as unknown as (collect: (asked: Enqueuing, params: Params) => void) => Action<Params>)(
    ({ context, enqueue, event }, params) => ask(enqueue, context, event, params)
  )

type Guard<Params> = (
  asked: { readonly context: AssistantContext; readonly event: MachineEvent },
  params: Params
) => boolean

/** A guard on the context. */
export const when =
  <Params = undefined>(test: (context: AssistantContext, params: Params) => boolean): Guard<Params> =>
  ({ context }, params) =>
    test(context, params)

/** A guard on the context and the event. */
export const whenHeard =
  (test: (context: AssistantContext, event: MachineEvent) => boolean): Guard<undefined> =>
  ({ context, event }) =>
    test(context, event)

// Dream: the sleep of an assistant and the operations of its dream.

/** What a dream goes on with; `settling` after the last operation. */
export interface Next {
  readonly next: DreamOperation | "settling"
}

const isPaced = (context: Now.AssistantContext): boolean => Now.settingsNow(context).sleepTickMs > 0

/** The step has more to do. */
const hasMore = (event: MachineEvent): boolean => stepOutput(event).more === true

/** Without an order. */
const mayCompact = (context: AssistantContext): boolean =>
  Now.settingsNow(context).compactEnabled && context.signals.historyHeld !== true

export const dreamGuards = {
  isSleepOver: whenHeard((context, event) => Now.endsSleep(context, stepOutput(event))),
  isSleepOverInOutage: whenHeard((context, event) => Now.sleptOut(context, stepFailure(event).outage?.at ?? 0)),
  isWakeRequested: when(({ wakeWanted }) => wakeWanted),
  isWakeDue: when(({ signals, wakeWanted }) => wakeWanted || signals.mailWaiting),
  dreamIsPaced: when(isPaced),
  dreamHasMore: whenHeard((_, event) => hasMore(event)),
  dreamHasMoreAndIsPaced: whenHeard((context, event) => hasMore(event) && isPaced(context)),
  isNextOperation: when<{ readonly operation: DreamOperation }>(
    ({ dreamNext }, { operation }) => dreamNext === operation
  ),
  isWindowFullForSleep: when((context) => {
    const { compactSleepRatio } = Now.settingsNow(context)
    return mayCompact(context) && context.signals.tokenRatio >= compactSleepRatio
  })
}

export const dreamActions = {
  beginSleep: changing((context, event) => (event.type === "sleep" ? Now.fallAsleep(context, event) : {})),
  requestWake: changing(() => ({ wakeWanted: true })),
  wakeUp: changing(() => ({ wakeWanted: false, outage: null })),
  recordDreamStep: changing<Next>((context, event, { next }) => Now.dreamt(context, stepOutput(event), next)),
  recordDreamOutage: changing<Next>((context, event, { next }) => ({
    ...metOutage(context, stepFailure(event)),
    dreamNext: next
  }))
}

// ModelCall: one call of the model, and what follows when it fails.

const reacts = (reaction: Reaction) =>
  whenHeard((context, event) => reactionTo(context, inferFailure(event)) === reaction)

export const modelCallGuards = {
  isOutOfBudget: when((context) => whyCut(context) !== undefined),
  hasToolCalls: whenHeard((_, event) => inferOutput(event).calls.length > 0),
  mayRepairAnswer: whenHeard((context, event) => Now.mayRepair(context, inferOutput(event))),
  isAnswerRefused: whenHeard((_, event) => inferOutput(event).refused === true),
  isMisshapen: whenHeard((_, event) => inferOutput(event).misshapen === true),
  isInterrupted: reacts("again"),
  waitsForServer: reacts("wait"),
  waitsForLimit: reacts("hold back"),
  isRetryable: reacts("retry"),
  needsPerson: reacts("halt"),
  isCutByBudget: reacts("cut"),
  isRefusedByLimit: reacts("refuse"),
  hasFailedTooOften: reacts("fail and halt"),
  /** Of any job that calls a model. */
  isModelAway: whenHeard((_, event) => inferFailure(event).outage !== undefined)
}

export const modelCallActions = {
  reserveBudget: changing(reserved),
  settleBudget: changing(settled),
  setBudget: changing(bounded),
  recordModelSuccess: changing(Now.answered),
  recordRepair: changing((context, event) => Now.repaired(context, inferOutput(event))),
  recordOutage: changing((context, event) => metOutage(context, inferFailure(event))),
  recordLimit: changing((context, event) => Now.heldBack(context, inferFailure(event))),
  recordFailedTry: changing((context, event) => Now.triedInVain(context, inferFailure(event))),
  countFailedTick: changing(Now.failed),
  /** Once for each wait. */
  announceOutage: enqueuing((enqueue, { outage, parkMs }) => {
    if (outage === null || outage.tries > 1) return
    const { others, reason, server } = outage
    enqueue.emit({ type: "model-away", server, ...defined({ others }), reason, withinMs: parkMs })
  })
}

// Tick: the event in hand, from its beginning to its one end.

export const tickGuards = {
  isInTick: when(({ envelope }) => envelope !== null),
  isTickToStop: whenHeard(
    ({ envelope, tick }, event) => envelope !== null && event.type === "stop" && event.tick === tick
  ),
  isInIteration: when(({ envelope, iteration }) => envelope !== null && iteration > 0),
  isAssessmentOn: when((context) => Now.settingsNow(context).assessTask),
  isIterationLimitReached: when((context) => context.iteration >= Now.patternNow(context).maxIterations)
}

export const tickActions = {
  beginTick: changing((context, event) => ("envelope" in event ? Now.begin(context, event) : {})),
  recordAssessment: changing((_, event) => ({ restriction: assessOutput(event).restriction })),
  nextIteration: changing(Now.nextIteration),
  clearTick: changing(Now.end),
  /** With the reason of the model call that failed. */
  endTickAsCallFailed: enqueuing<{ readonly outcome: "failed" | "cut" }>((enqueue, _, event, { outcome }) => {
    enqueue({ type: "endTick", params: { outcome, reason: inferFailure(event).reason } })
  }),
  endTickAsOutOfBudget: enqueuing((enqueue, context) => {
    enqueue({ type: "endTick", params: { outcome: "cut", reason: whyCut(context) ?? "" } })
  })
}

// Compaction: the history is compacted in phases, for a tick, for a dream or by command.

export const compactionGuards = {
  isCompactionOn: when((context) => Now.settingsNow(context).compactEnabled),
  isWindowNearlyFull: when((context) => {
    const { compactEmergencyRatio } = Now.settingsNow(context)
    return mayCompact(context) && context.signals.tokenRatio >= compactEmergencyRatio
  }),
  isCompactionSkipped: whenHeard((_, event) => stepOutput(event).skipped),
  compactionHasMore: whenHeard((_, event) => hasMore(event)),
  wasSummarizing: when(({ outage }) => outage?.phase === "summarizing"),
  cameFromIdle: when(({ compactingFrom }) => compactingFrom === "idle"),
  cameFromPause: when(({ compactingFrom, wakeWanted }) => compactingFrom === "pausing" && !wakeWanted),
  cameFromSleep: when(({ compactingFrom }) => compactingFrom !== "awake" && compactingFrom !== "idle")
}

export const compactionActions = {
  beginCompaction: changing<{ readonly from: "awake" | "dreaming" }>((_, __, { from }) => ({
    compactingFrom: from,
    round: 0
  })),
  /** No tick: the model is asked nothing for it, and a dream keeps its number. */
  compactByCommand: changing<{ readonly from: "idle" | "pausing" | "resting" }>((context, event, { from }) =>
    event.type === "compact" ? Now.compactByOrder(context, event, from) : {}
  ),
  recordCompactionStep: changing((context, event) => Now.compacted(context, stepOutput(event))),
  recordPhaseOutage: changing<{ readonly phase: CompactionPhase }>((context, event, { phase }) =>
    metOutage(context, stepFailure(event), phase)
  ),
  /** A step has failed, of a compaction or of a dream. */
  skipFailedStep: changing(() => ({ round: 0, outage: null }))
}
