// Awake: the states in which an assistant handles an event.
// Owns the ReAct loop: assess, think, act, wait, end. Leaves sleep to asleep.ts.
// I1  `idle` is the only state here that receives mail; every other one has a tick in hand.
// I2  A tick makes at most `maxIterations` model calls.
// I3  An outage of the model never ends a tick, nor a limit of the tenant: the call is made again after a pause, however often.
//     A call that fails for a reason of its own is tried `maxErrors` times, then its tick fails; so many ticks in a row that
//     failed halt the assistant, so that what waits for it is not lost as well. A refusal that only a person can cure halts
//     at once, with the tick in hand.
// I4  A model call that has no room in the budget is not made: the tick ends as cut.
// I5  A sub-agent retires with the end of its first tick.

import { inPhase, isInPhase } from "./calls.ts"
import * as Now from "./context.ts"
import type { InferFailure, MachineEvent, ToolOutput } from "./events.ts"
import { metOutage } from "./outage.ts"
import { type Reaction, reactionTo } from "./reaction.ts"
import { whyCut } from "./spending.ts"
import { dismissed, hired, unwaited } from "./sub-agents/index.ts"
import {
  askApprovals,
  base,
  beginTick,
  ending,
  endCalls,
  compaction,
  leaving,
  startReadyCalls,
  taking,
  tellOutage,
  toolIndex
} from "./vocabulary.ts"

const idle = base.createStateConfig({
  tags: ["mail"],
  always: { guard: "isAssignmentOver", target: "#assistant.retired", actions: leaving },
  on: {
    message: { target: "assessing", actions: beginTick },
    timer: { target: "assessing", actions: beginTick },
    sleep: {
      target: "#assistant.dreaming",
      actions: [
        beginTick,
        { type: "remember", params: ({ context, event }) => Now.fallAsleep(context, event) },
        ...ending("slept")
      ]
    },
    compact: compaction("idle")
  }
})

const assessing = base.createStateConfig({
  initial: "choosing",
  states: {
    choosing: {
      always: [
        {
          guard: "overEmergency",
          target: "#assistant.compacting",
          actions: { type: "remember", params: { compactingFrom: "awake", round: 0 } }
        },
        { guard: "weighsTask", target: "weighing" },
        { target: "#assistant.awake.thinking", actions: "nextIteration" }
      ]
    },
    weighing: {
      invoke: {
        src: "assess",
        id: "assess",
        input: {},
        onDone: {
          target: "#assistant.awake.thinking",
          actions: [
            { type: "remember", params: ({ event }) => ({ restriction: event.output.restriction }) },
            "nextIteration"
          ]
        },
        onError: { target: "#assistant.awake.thinking", actions: "nextIteration" }
      }
    }
  }
})

/** What a failed call ends the tick with. */
const failing = (outcome: "failed" | "cut") => [
  {
    type: "endTick" as const,
    params: ({ event }: { readonly event: { readonly error: unknown } }) => ({
      outcome,
      reason: (event.error as InferFailure).reason
    })
  },
  { type: "forgetTick" as const }
]

const reacts =
  (...reactions: ReadonlyArray<Reaction>) =>
  ({ context, event }: { readonly context: Now.AssistantContext; readonly event: { readonly error: unknown } }) =>
    reactions.includes(reactionTo(context, event.error as InferFailure))

const halting = {
  type: "remember" as const,
  params: ({ event }: { readonly event: { readonly error: unknown } }) =>
    Now.halted((event.error as InferFailure).reason)
}

const inferring = base.createStateConfig({
  exit: "settleCall",
  invoke: {
    src: "infer",
    id: "infer",
    input: {},
    onDone: [
      {
        guard: ({ event }) => event.output.calls.length === 0,
        target: "#assistant.awake.idle",
        actions: [{ type: "remember", params: Now.answered() }, ...ending("answered")]
      },
      {
        target: "#assistant.awake.acting",
        actions: [
          {
            type: "refuseCalls",
            params: ({ context, event }) => ({ refusals: Now.refusalsOf(context, event.output.calls) })
          },
          { type: "remember", params: ({ context, event }) => Now.admitted(context, event.output.calls) }
        ]
      }
    ],
    onError: [
      { guard: reacts("again"), target: "affording" },
      {
        guard: reacts("wait"),
        target: "parked",
        actions: {
          type: "remember",
          params: ({ context, event }) => metOutage(context, event.error as InferFailure)
        }
      },
      {
        guard: reacts("hold back"),
        target: "parked",
        actions: {
          type: "remember",
          params: ({ context, event }) => Now.heldBack(context, event.error as InferFailure)
        }
      },
      {
        guard: reacts("retry"),
        target: "parked",
        actions: {
          type: "remember",
          params: ({ context, event }) => Now.triedInVain(context, event.error as InferFailure)
        }
      },
      { guard: reacts("halt"), target: "#assistant.halted", actions: halting },
      { guard: reacts("cut"), target: "#assistant.awake.idle", actions: failing("cut") },
      { guard: reacts("refuse"), target: "#assistant.awake.idle", actions: failing("failed") },
      {
        guard: reacts("fail and halt"),
        target: "#assistant.halted",
        actions: ["countError", halting, ...failing("failed")]
      },
      { target: "#assistant.awake.idle", actions: ["countError", ...failing("failed")] }
    ]
  }
})

const affording = base.createStateConfig({
  always: [
    {
      guard: "isBroke",
      target: "#assistant.awake.idle",
      actions: [
        { type: "endTick", params: ({ context }) => ({ outcome: "cut", reason: whyCut(context) ?? "" }) },
        { type: "forgetTick" }
      ]
    },
    { target: "inferring", actions: "reserveCall" }
  ]
})

const thinking = base.createStateConfig({
  initial: "affording",
  states: { affording, inferring, parked: { entry: tellOutage, after: { park: "affording" } } }
})

const acting = base.createStateConfig({
  initial: "running",
  states: {
    running: {
      // A report may come before the call it answers is known to wait for one: it stays in the mailbox until then.
      tags: ["busy"],
      entry: startReadyCalls,
      always: [
        { guard: ({ context }) => !Now.isSettled(context) },
        { guard: ({ context }) => isInPhase(context.calls, "asking"), target: "#assistant.awake.awaitingApproval" },
        { guard: ({ context }) => isInPhase(context.calls, "waiting"), target: "#assistant.awake.awaitingReports" },
        {
          guard: ({ context }) => Now.endedTerminally(context),
          target: "#assistant.awake.idle",
          actions: ending("terminal")
        },
        {
          guard: ({ context }) => context.iteration >= Now.patternNow(context).maxIterations,
          target: "#assistant.awake.idle",
          actions: ending("max-iterations")
        },
        { target: "#assistant.awake.thinking", actions: "nextIteration" }
      ],
      on: {
        "xstate.done.actor.tool.*": {
          guard: ({ context, event }) => Now.isRunning(context, toolIndex(event)),
          actions: [
            base.enqueueActions(({ context, event, enqueue }) => {
              if (!("output" in event)) return
              const index = toolIndex(event)
              enqueue.stopChild(`tool.${index}`)
              enqueue.assign(Now.moved(context, [index], Now.phaseAfter(event.output as ToolOutput)))
            }),
            taking((context, event) => {
              const { delegate, dismiss } = ("output" in event ? event.output : {}) as Partial<ToolOutput>
              if (dismiss !== undefined) return dismissed(context, dismiss, "it was ended by the one who sent it")
              return delegate === undefined ? undefined : hired(context, delegate, toolIndex(event))
            })
          ]
        },
        "xstate.error.actor.tool.*": {
          guard: ({ context, event }) => Now.isRunning(context, toolIndex(event)),
          actions: base.enqueueActions(({ context, event, enqueue }) => {
            const index = toolIndex(event)
            const reason = "The call broke; whether it took effect is unknown."
            enqueue.stopChild(`tool.${index}`)
            enqueue({ type: "refuseCalls", params: { refusals: [{ index, reason }] } })
            enqueue.assign(Now.moved(context, [index], "refused"))
          })
        }
      }
    }
  }
})

const report = {
  guard: ({ context, event }: { readonly context: Now.AssistantContext; readonly event: MachineEvent }) =>
    Now.callOfReport(context, event) !== undefined,
  actions: base.enqueueActions(({ context, event, enqueue }) => {
    const index = Now.callOfReport(context, event) ?? -1
    enqueue({ type: "answerReport", params: { index } })
    enqueue.assign(Now.moved(context, [index], "done"))
  })
}

const awaitingApproval = base.createStateConfig({
  entry: askApprovals,
  on: {
    report,
    approval: [
      {
        guard: ({ context, event }) =>
          event.decision === "approved" && Now.callOfApproval(context, event) !== undefined,
        target: "acting",
        actions: base.assign(({ context, event }) =>
          Now.moved(context, [Now.callOfApproval(context, event) ?? -1], "ready")
        )
      },
      {
        guard: ({ context, event }) => Now.callOfApproval(context, event) !== undefined,
        target: "acting",
        actions: base.enqueueActions(({ context, event, enqueue }) => {
          const index = Now.callOfApproval(context, event) ?? -1
          enqueue({ type: "refuseCalls", params: { refusals: [{ index, reason: "A person denied this call." }] } })
          enqueue.assign(Now.moved(context, [index], "refused"))
        })
      }
    ]
  },
  after: {
    approval: { target: "acting", actions: endCalls("Nobody approved this call in time.", "asking") }
  }
})

const awaitingReports = base.createStateConfig({
  always: { guard: ({ context }) => inPhase(context.calls, "waiting").length === 0, target: "acting" },
  on: {
    report
  },
  after: {
    report: {
      target: "acting",
      actions: [endCalls("Its report did not come in time.", "waiting"), taking((context) => unwaited(context))]
    }
  }
})

/** Awake: handles one event after the other. */
export const awake = base.createStateConfig({
  initial: "idle",
  states: { idle, assessing, thinking, acting, awaitingApproval, awaitingReports }
})
