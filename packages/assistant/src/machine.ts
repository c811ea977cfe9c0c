// Machine: the statechart of an assistant.
// Owns which state follows which, and which commands that brings. Leaves running them to `runtime`, time to the store.
// I1  It is only ever driven by the pure transition (decide.ts): nothing here runs, waits or throws away a result.
// I2  Control is heard in every state but `retired`; mail only where the assistant rests (tag `mail`).
// I3  Every job a state starts is stopped when the state is left, and its result fenced by its job id.
// I4  A tick that was begun ends once. A halted tick goes on after `resume`, a retired one ends as failed.
// I5  Compaction at the emergency ratio comes before everything else of a tick; by order it happens outside of one.
// I6  A halt and a retirement go through the whole subtree: whoever leaves has told all below it to retire.
// I7  News of a sub-agent is heard in every state but `retired`.
//
// The sleep phase that the source documents call "compacting" (journal to semantic memory) is `dreaming.consolidating`
// here; the state `compacting` is the compaction of the context window.

import { compacting, dreaming } from "./asleep.ts"
import { awake } from "./awake.ts"
import * as Now from "./context.ts"
import { created, heardNews, hired, hiredWhileHalted, planned } from "./sub-agents/index.ts"
import { base, endCalls, leaving, taking, telling } from "./vocabulary.ts"

/** Why a call that was open has no result. Calls that wait for a person or a report go on waiting through a halt. */
const cutOff = (verb: "halted" | "retired") =>
  `The assistant was ${verb} while this call was open; whether it took effect is unknown.`

const goingOn = [{ type: "remember", params: { ...Now.answered(), haltReason: null } } as const, telling("resume")]

/** The call whose sub-agent a creation was for, from the type of the event that says how it ended. */
const jobCall = ({ type }: { readonly type: string }): string =>
  type.replace(/^xstate\.(done|error)\.actor\.child\./, "")

export const assistantMachine = base.createMachine({
  id: "assistant",
  context: ({ input }) => Now.creationContext(input?.settings ?? {}, input?.subAgentStart),
  initial: "awake",
  on: {
    // A failure that no state receives is late. Unheard, XState would end the whole assistant with it.
    "xstate.error.actor.*": {},
    news: { actions: taking((context, event) => (event.type === "news" ? heardNews(context, event) : undefined)) },
    delegate: {
      actions: taking((context, event) => (event.type === "delegate" ? hired(context, event, -1) : undefined))
    },
    "xstate.done.actor.child.*": { actions: taking((context, event) => created(context, jobCall(event), false)) },
    "xstate.error.actor.child.*": { actions: taking((context, event) => planned(context, jobCall(event))) },
    halt: {
      target: "#assistant.halted",
      actions: [
        endCalls(cutOff("halted"), "running", "ready"),
        { type: "remember", params: ({ event }) => Now.halted(event.reason) }
      ]
    },
    retire: [
      {
        guard: "inTick",
        target: "#assistant.retired",
        actions: [
          endCalls(cutOff("retired"), "running", "ready", "waiting"),
          endCalls("The assistant was retired before this call was approved.", "asking"),
          { type: "endTick", params: { outcome: "failed", reason: "The assistant was retired." } },
          { type: "forgetTick" },
          ...leaving
        ]
      },
      { target: "#assistant.retired", actions: leaving }
    ]
  },
  states: {
    awake,
    dreaming,
    compacting,
    halted: {
      tags: ["halted"],
      entry: telling("halt"),
      on: {
        halt: {},
        resume: [
          { guard: "hasCalls", target: "#assistant.awake.acting", actions: goingOn },
          { guard: "inIteration", target: "#assistant.awake.thinking", actions: goingOn },
          { guard: "inTick", target: "#assistant.awake.assessing", actions: goingOn },
          { target: "#assistant.awake.idle", actions: goingOn }
        ],
        delegate: {
          actions: taking((context, event) =>
            event.type === "delegate" ? hiredWhileHalted(context, event) : undefined
          )
        },
        "xstate.done.actor.child.*": { actions: taking((context, event) => created(context, jobCall(event), true)) }
      }
    },
    retired: { type: "final", tags: ["retired"] }
  }
})
