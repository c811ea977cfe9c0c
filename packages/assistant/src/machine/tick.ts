// Tick: the event in hand, from its beginning to its one end.
// Owns the actions and guards of it. Leaves the model calls of a tick to model-call.ts, the tool calls to tool-calls.ts.

import * as Now from "../context.ts"
import { assessOutput, inferFailure } from "../events.ts"
import { whyCut } from "../budget/spending.ts"
import { changing, enqueuing, when } from "./base.ts"

export const tickGuards = {
  isInTick: when(({ envelope }) => envelope !== null),
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
