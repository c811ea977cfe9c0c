// Machine: the statechart of an assistant.
// Owns which state follows which, and which commands that brings. Leaves running them to `runtime`, time to the store.
// I1  It is only ever driven by the pure transition (decide.ts): nothing here runs, waits or throws away a result.
// I2  Control is heard in every state but `retired`; mail only where the assistant rests (tag `mail`).
// I3  Every job a state starts is stopped when the state is left, and its result fenced by its job id.
// I4  A tick that was begun ends once. A halted tick goes on after `resume`, a retired one ends as failed.
// I5  Compaction at the emergency ratio comes before everything else of a tick.
//
// The sleep phase that the source documents call "compacting" (journal to semantic memory) is `dreaming.consolidating`
// here; the state `compacting` is the compaction of the context window.

import { compacting, dreaming } from "./asleep.ts"
import { awake } from "./awake.ts"
import * as Now from "./context.ts"
import { base, endCalls } from "./vocabulary.ts"

/** Why a call that was open has no result. Calls that wait for a person or a report go on waiting through a halt. */
const cutOff = (verb: "halted" | "retired") =>
  `The assistant was ${verb} while this call was open; whether it took effect is unknown.`

const clearErrors = { type: "remember", params: { errors: 0, haltReason: null } } as const

export const assistantMachine = base.createMachine({
  id: "assistant",
  context: ({ input }) => Now.birthContext(input?.settings ?? {}),
  initial: "awake",
  on: {
    // A failure that no state hears is late. Unheard, XState would end the whole assistant with it.
    "xstate.error.actor.*": {},
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
          { type: "forgetTick" }
        ]
      },
      { target: "#assistant.retired" }
    ]
  },
  states: {
    awake,
    dreaming,
    compacting,
    halted: {
      tags: ["halted"],
      on: {
        halt: {},
        resume: [
          { guard: "hasCalls", target: "#assistant.awake.acting", actions: clearErrors },
          { guard: "inIteration", target: "#assistant.awake.thinking", actions: clearErrors },
          { guard: "inTick", target: "#assistant.awake.assessing", actions: clearErrors },
          { target: "#assistant.awake.idle", actions: clearErrors }
        ]
      }
    },
    retired: { type: "final", tags: ["retired"] }
  }
})
