// Dream: the sleep of an assistant and the operations of its dream.
// Owns the actions and guards of it. Leaves the order of the operations to machine.ts, what they do to the runtime.

import * as Now from "../context.ts"
import { type MachineEvent, stepFailure, stepOutput } from "../events.ts"
import { metOutage } from "./outage.ts"
import type { DreamOperation } from "./phases.ts"
import { changing, when, whenHeard } from "./base.ts"

/** What a dream goes on with; `settling` after the last operation. */
export interface Next {
  readonly next: DreamOperation | "settling"
}

const isPaced = (context: Now.AssistantContext): boolean => Now.settingsNow(context).sleepTickMillis > 0

/** The step has more to do. */
export const hasMore = (event: MachineEvent): boolean => stepOutput(event).more === true

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
    const { compactEnabled, compactSleepRatio } = Now.settingsNow(context)
    return compactEnabled && context.signals.tokenRatio >= compactSleepRatio
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
