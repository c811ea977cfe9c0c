// Asleep: dreaming and compacting.
// Owns the order of a dream's operations and of a compaction's phases. Leaves what they do to the jobs of the runtime.
// I1  An operation is isolated: its failure, or its being skipped, leads on to the next.
// I2  Who wakes the assistant waits until the step at hand has committed; mail waits in the mailbox until then. The end
//     of the sleep wakes it in the same way.
// I3  Compaction goes back to where it came from, whatever happens in it; skipped at any phase, it changes nothing. A
//     failed extraction does not keep it from going on (A18).
// I4  An operation or phase that has more to do is another job with another commit: a crash repeats one step, no more.
// I5  With a pace, a pause lies between two steps of a dream; whoever comes in a pause is heard at once.
// I6  An order to compact is followed whatever the ratio, and is no tick: idle goes back to idle, a sleeper to its rest, or
//     to its pause, whose operation begins to count anew. A halt cuts it off, as it does a dream.
// I7  An outage of the model is no failure of a step: the same step is tried again after a pause. A dream pauses as it does
//     where it is paced, until its sleep ends; a compaction waits as long as it takes, for what it makes room for needs the
//     same model.

import * as Now from "./context.ts"
import type { StepOutput } from "./events.ts"
import { metOutage, type ServerFailure } from "./outage.ts"
import { type CompactionPhase, type DreamOperation, dreamOperations } from "./phases.ts"
import { base, beginTick, compaction, tellOutage } from "./vocabulary.ts"

const WAKE = "#assistant.awake.idle"

const awoken = { type: "remember", params: { wakeWanted: false, outage: null } } as const

const outageIn = ({ event }: { readonly event: { readonly error: unknown } }) => (event.error as ServerFailure).outage

const isPaced = ({ context }: { readonly context: Now.AssistantContext }): boolean =>
  Now.settingsNow(context).sleepTickMillis > 0

interface Done {
  readonly context: Now.AssistantContext
  readonly event: { readonly output: StepOutput }
}

const hasMore = ({ event }: Pick<Done, "event">): boolean => event.output.more === true

const operation = <const Name extends DreamOperation, const Next extends string>(name: Name, next: Next) =>
  base.createStateConfig({
    on: { wake: { actions: "wantWake" } },
    invoke: {
      src: "dream",
      id: "dream",
      input: { operation: name },
      onDone: [
        { guard: ({ context, event }) => Now.endsSleep(context, event.output), target: WAKE, actions: awoken },
        {
          guard: (done) => hasMore(done) && isPaced(done),
          target: "pausing",
          actions: { type: "remember", params: ({ context, event }) => Now.dreamt(context, event.output, name) }
        },
        {
          guard: hasMore,
          target: name,
          reenter: true,
          actions: { type: "remember", params: ({ context, event }) => Now.dreamt(context, event.output, name) }
        },
        {
          guard: isPaced,
          target: "pausing",
          actions: { type: "remember", params: ({ context, event }) => Now.dreamt(context, event.output, next) }
        },
        {
          target: next,
          actions: { type: "remember", params: ({ context, event }) => Now.dreamt(context, event.output, next) }
        }
      ],
      onError: [
        { guard: "wakes", target: WAKE, actions: awoken },
        {
          guard: ({ context, event }) => Now.sleptOut(context, outageIn({ event })?.at ?? 0),
          target: WAKE,
          actions: awoken
        },
        {
          guard: ({ event }) => outageIn({ event }) !== undefined,
          target: "pausing",
          actions: {
            type: "remember",
            params: ({ context, event }) => ({ ...metOutage(context, event.error as ServerFailure), dreamNext: name })
          }
        },
        { target: next, actions: { type: "remember", params: { round: 0, outage: null } } }
      ]
    }
  })

/** The assistant sleeps: digests what it lived through, then rests until its sleep ends or somebody wakes it. */
export const dreaming = base.createStateConfig({
  initial: "consolidating",
  states: {
    consolidating: operation("consolidating", "linking"),
    linking: operation("linking", "profiling"),
    profiling: operation("profiling", "reflecting"),
    reflecting: operation("reflecting", "pruning"),
    pruning: operation("pruning", "settling"),
    pausing: {
      tags: ["mail"],
      entry: tellOutage,
      on: {
        message: { target: "#assistant.awake.assessing", actions: beginTick },
        timer: { target: "#assistant.awake.assessing", actions: beginTick },
        wake: { target: WAKE, actions: awoken },
        compact: compaction("pausing")
      },
      after: {
        dreamTick: [
          ...dreamOperations.map((name) => ({
            guard: ({ context }: { readonly context: Now.AssistantContext }) => context.dreamNext === name,
            target: name
          })),
          { target: "settling" }
        ]
      }
    },
    settling: {
      always: [
        {
          guard: ({ context }) => {
            const { compactEnabled, compactSleepRatio } = Now.settingsNow(context)
            return compactEnabled && context.signals.tokenRatio >= compactSleepRatio
          },
          target: "#assistant.compacting",
          actions: { type: "remember", params: { compactingFrom: "dreaming", round: 0 } }
        },
        { target: "resting" }
      ]
    },
    resting: {
      tags: ["mail"],
      always: { guard: ({ context }) => context.wakeWanted, target: WAKE, actions: awoken },
      on: {
        message: { target: "#assistant.awake.assessing", actions: beginTick },
        timer: { target: "#assistant.awake.assessing", actions: beginTick },
        wake: { target: WAKE },
        compact: compaction("resting")
      },
      after: { sleep: { target: WAKE } }
    }
  }
})

const phase = <const Name extends CompactionPhase, const Next extends string, const Failed extends string>(
  name: Name,
  next: Next,
  failed: Failed
) =>
  base.createStateConfig({
    on: { wake: { actions: "wantWake" } },
    invoke: {
      src: "compact",
      id: "compact",
      input: { phase: name },
      onDone: [
        {
          guard: ({ event }) => event.output.skipped,
          target: "returning",
          actions: { type: "remember", params: ({ context, event }) => Now.compacted(context, event.output) }
        },
        {
          guard: hasMore,
          target: name,
          reenter: true,
          actions: { type: "remember", params: ({ context, event }) => Now.compacted(context, event.output) }
        },
        {
          target: next,
          actions: { type: "remember", params: ({ context, event }) => Now.compacted(context, event.output) }
        }
      ],
      onError: [
        {
          guard: ({ event }) => outageIn({ event }) !== undefined,
          target: "parked",
          actions: {
            type: "remember",
            params: ({ context, event }) => metOutage(context, event.error as ServerFailure, name)
          }
        },
        { target: failed, actions: { type: "remember", params: { round: 0, outage: null } } }
      ]
    }
  })

/** The history is being compacted; a tick that waits for it goes on afterwards. */
export const compacting = base.createStateConfig({
  initial: "extracting",
  states: {
    extracting: phase("extracting", "summarizing", "summarizing"),
    summarizing: phase("summarizing", "replacing", "returning"),
    replacing: phase("replacing", "returning", "returning"),
    parked: {
      entry: tellOutage,
      on: { wake: { actions: "wantWake" } },
      after: {
        park: [
          { guard: ({ context }) => context.outage?.phase === "summarizing", target: "summarizing" },
          { target: "extracting" }
        ]
      }
    },
    returning: {
      always: [
        { guard: "cameFromIdle", target: WAKE, actions: awoken },
        { guard: "cameFromPause", target: "#assistant.dreaming.pausing" },
        { guard: "cameFromSleep", target: "#assistant.dreaming.resting" },
        { guard: "weighsTask", target: "#assistant.awake.assessing.weighing" },
        { target: "#assistant.awake.thinking", actions: "nextIteration" }
      ]
    }
  }
})
