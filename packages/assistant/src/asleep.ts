// Asleep: dreaming and compacting.
// Owns the order of a dream's operations and of a compaction's phases. Leaves what they do to the jobs of the runtime.
// I1  An operation is isolated: its failure, or its being skipped, leads on to the next.
// I2  Who wakes the assistant waits until the operation at hand has committed; mail waits in the mailbox until then.
// I3  Compaction goes back to where it came from, whatever happens in it; skipped at any phase, it changes nothing.

import * as Now from "./context.ts"
import { base, beginTick } from "./vocabulary.ts"

/** The operations of a dream, in their order. */
export const dreamOperations = ["consolidating", "linking", "profiling", "reflecting", "pruning"] as const
export type DreamOperation = (typeof dreamOperations)[number]

export const compactionPhases = ["extracting", "summarizing", "replacing"] as const
export type CompactionPhase = (typeof compactionPhases)[number]

const WAKE = "#assistant.awake.idle"

const operation = <const Name extends DreamOperation, const Next extends string>(name: Name, next: Next) =>
  base.createStateConfig({
    on: { wake: { actions: "wantWake" } },
    invoke: {
      src: "dream",
      id: "dream",
      input: { operation: name },
      onDone: [
        {
          guard: ({ context, event }) => context.wakeWanted || event.output.signals.mailWaiting,
          target: WAKE,
          actions: { type: "remember", params: { wakeWanted: false } }
        },
        { target: next, actions: { type: "remember", params: ({ event }) => ({ signals: event.output.signals }) } }
      ],
      onError: [
        { guard: "wakes", target: WAKE, actions: { type: "remember", params: { wakeWanted: false } } },
        { target: next }
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
    settling: {
      always: [
        {
          guard: ({ context }) => {
            const { compactEnabled, compactSleepRatio } = Now.settingsNow(context)
            return compactEnabled && context.signals.tokenRatio >= compactSleepRatio
          },
          target: "#assistant.compacting",
          actions: { type: "remember", params: { compactingFrom: "dreaming" } }
        },
        { target: "resting" }
      ]
    },
    resting: {
      tags: ["mail"],
      always: {
        guard: ({ context }) => context.wakeWanted,
        target: WAKE,
        actions: { type: "remember", params: { wakeWanted: false } }
      },
      on: {
        message: { target: "#assistant.awake.assessing", actions: beginTick },
        timer: { target: "#assistant.awake.assessing", actions: beginTick },
        wake: { target: WAKE }
      },
      after: { sleep: { target: WAKE } }
    }
  }
})

const phase = <const Name extends CompactionPhase, const Next extends string>(name: Name, next: Next) =>
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
          actions: { type: "remember", params: ({ event }) => ({ signals: event.output.signals }) }
        },
        { target: next, actions: { type: "remember", params: ({ event }) => ({ signals: event.output.signals }) } }
      ],
      onError: { target: "returning" }
    }
  })

/** The history is being folded; a tick that waits for it goes on afterwards. */
export const compacting = base.createStateConfig({
  initial: "extracting",
  states: {
    extracting: phase("extracting", "summarizing"),
    summarizing: phase("summarizing", "replacing"),
    replacing: phase("replacing", "returning"),
    returning: {
      always: [
        { guard: "cameFromDreaming", target: "#assistant.dreaming.resting" },
        { guard: "weighsTask", target: "#assistant.awake.assessing.weighing" },
        { target: "#assistant.awake.thinking", actions: "nextIteration" }
      ]
    }
  }
})
