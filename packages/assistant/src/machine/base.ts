// Base: what the statechart is typed with: its context, events, tags, jobs, timers and commands.
// Owns these types, and how actions and guards are written. Leaves what they do to their neighbours, and which state
// uses them to machine.ts.
// I1  Jobs are placeholders: they run in the runtime, never here.
// I2  A command has no body and params that are JSON: the runtime carries it out. Every other action only changes the
//     context, or asks for commands, jobs and timers.

import type { Amount, Json, TickOutcome } from "@reverie/protocol"
import { type ActionFunction, assign, enqueueActions, fromPromise, setup } from "xstate"
import type { AssistantContext, SubAgentStart } from "../context.ts"
import type { AssessOutput, InferOutput, MachineEvent, StepOutput, ToolOutput } from "../events.ts"
import type { Refusal } from "../calls.ts"
import { settingsNow } from "../context.ts"
import type { Settings } from "../settings.ts"
import type { StateMeta, StateTag } from "../state-tag.ts"
import type { DelegationRefusal, Order } from "../sub-agents/index.ts"

/** What the machine reports to screens, besides its state. */
export type Emitted =
  | {
      readonly type: "approval-asked"
      readonly approval: string
      readonly tool: string
      readonly call: string
      readonly withinMillis: number
    }
  /** The work in hand waits for its model, and goes on by itself; reported when the wait begins. */
  | { readonly type: "model-away"; readonly server: string; readonly reason: string; readonly withinMillis: number }

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
    park: ({ context }) => context.parkMillis,
    approval: ({ context }) => settingsNow(context).approvalMillis,
    report: ({ context }) => settingsNow(context).reportMillis,
    sleep: ({ context }) => context.sleepMillis,
    dreamTick: ({ context }) =>
      Math.max(1, settingsNow(context).sleepTickMillis, context.outage === null ? 0 : context.parkMillis)
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

/** An action that changes the context. */
export const changing = <Params = undefined>(
  change: (context: AssistantContext, event: MachineEvent, params: Params) => Partial<AssistantContext>
): Action<Params> =>
  assign<AssistantContext, MachineEvent, Params, MachineEvent, never>(({ context, event }, params) =>
    change(context, event, params)
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
