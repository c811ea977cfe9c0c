// StateTag: what a state of the chart says of itself to those who show it or serve its mailbox.
// Owns the words. Leaves which state has which to machine.ts, looking them up by the path of a state to decide.ts.
// C1  Every leaf state has one condition and one activity.

/** The outermost states. */
export const modes = ["awake", "dreaming", "compacting", "halted", "retired"] as const
/** The main states: awake, dreaming, compacting, halted, retired. */
export type Mode = (typeof modes)[number]

/** busy: a job runs, or something is decided at once. waiting: for a person, an answer or a time. */
export const conditions = ["busy", "waiting", "atRest", "halted", "retired"] as const
export type Condition = (typeof conditions)[number]

/**
 * acceptsReplies, acceptsMail: lanes of the mailbox that are received besides control. inTick: a tick is in hand, and this
 * is a part of it. paused: a timer of the state ends it, and it goes on. asleep: until the sleep ends or something wakes
 * it. maintaining: works on memory or history, not on an event.
 */
export type StateTag = Condition | "acceptsReplies" | "acceptsMail" | "inTick" | "paused" | "asleep" | "maintaining"

/** What an assistant is shown as doing. */
export const activities = [
  "idle",
  "thinking",
  "acting",
  "awaitingApproval",
  "dreaming",
  "compacting",
  "halted",
  "retired"
] as const
/** What an assistant is doing, as a state of its statechart says it. */
export type Activity = (typeof activities)[number]

export interface StateMeta {
  readonly activity: Activity
}
