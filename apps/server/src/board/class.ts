// Class: what a state counts as, for those who look at a whole fleet.
// Owns the classes, which are the activities of the chart. Leaves counting to counting.ts.

import { type Activity, activityOf, isTagged } from "reverie"

export type Class = Activity

export const classOf = (state: string): Class => activityOf(state)

/**
 * Something runs for it that no model call and no tool outlasts; waiting for a person, a report, a model that is away, or
 * the next day's allowance is no work. A dream stays in one state for as many steps as it has.
 */
export const isWorkingIn = (state: string): boolean => isTagged(state, "busy") && !isTagged(state, "asleep")
