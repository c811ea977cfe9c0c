// Compaction: the history is compacted in phases, for a tick, for a dream or by command.
// Owns the actions and guards of it. Leaves the order of the phases to machine.ts, what they do to the runtime.

import * as Now from "../context.ts"
import { stepFailure, stepOutput } from "../events.ts"
import { metOutage } from "./outage.ts"
import type { CompactionPhase } from "./phases.ts"
import { changing, when, whenHeard } from "./base.ts"
import { hasMore } from "./dream.ts"

export const compactionGuards = {
  isCompactionOn: when((context) => Now.settingsNow(context).compactEnabled),
  isWindowNearlyFull: when((context) => {
    const { compactEnabled, compactEmergencyRatio } = Now.settingsNow(context)
    return compactEnabled && context.signals.tokenRatio >= compactEmergencyRatio
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
