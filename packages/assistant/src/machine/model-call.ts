// ModelCall: one call of the model, and what follows when it fails.
// Owns the actions and guards of it. Leaves the choice of what follows to reaction.ts, the budget to spending.ts.

import * as Now from "../context.ts"
import { inferFailure, inferOutput } from "../events.ts"
import { metOutage } from "./outage.ts"
import { type Reaction, reactionTo } from "./reaction.ts"
import { reserved, settled, whyCut } from "../budget/spending.ts"
import { changing, enqueuing, when, whenHeard } from "./base.ts"

const reacts = (reaction: Reaction) =>
  whenHeard((context, event) => reactionTo(context, inferFailure(event)) === reaction)

export const modelCallGuards = {
  isOutOfBudget: when((context) => whyCut(context) !== undefined),
  hasToolCalls: whenHeard((_, event) => inferOutput(event).calls.length > 0),
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
  recordModelSuccess: changing(Now.answered),
  recordOutage: changing((context, event) => metOutage(context, inferFailure(event))),
  recordLimit: changing((context, event) => Now.heldBack(context, inferFailure(event))),
  recordFailedTry: changing((context, event) => Now.triedInVain(context, inferFailure(event))),
  countFailedTick: changing(Now.failed),
  /** Once for each wait. */
  announceOutage: enqueuing((enqueue, { outage, parkMillis }) => {
    if (outage === null || outage.tries > 1) return
    const { reason, server } = outage
    enqueue.emit({ type: "model-away", server, reason, withinMillis: parkMillis })
  })
}
