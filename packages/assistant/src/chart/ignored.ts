// Ignored: what each state passes over on purpose.
// Owns the list of such pairs of state and event, with the reason. Leaves everything else to be handled by the chart.
// G1  Every pair of a leaf state and a machine event is either handled by the chart or listed here, once.
// G2  A pair that is listed is never handled: hearing it changes nothing and asks for nothing.
// G3  What waits is exactly what the state does not hear (`receives` in decide.ts): the mailbox keeps it, nothing is lost.

import { compactionPhases, dreamOperations } from "../machine/phases.ts"

const operations = dreamOperations.map((operation) => `dreaming.${operation}` as const)
const phases = compactionPhases.map((phase) => `compacting.${phase}` as const)
const compacting = [...phases, "compacting.parked"] as const

/** States in which an assistant can be found between two events. */
export const restingStates = [
  "awake.idle",
  "awake.assessing.weighing",
  "awake.thinking.inferring",
  "awake.thinking.parked",
  "awake.acting.running",
  "awake.awaitingApproval",
  "awake.awaitingReports",
  ...operations,
  "dreaming.pausing",
  "dreaming.resting",
  ...compacting,
  "halted",
  "retired"
] as const

/** States that are left in the same step in which they were entered. */
export const passingStates = [
  "awake.assessing.choosing",
  "awake.thinking.affording",
  "dreaming.settling",
  "compacting.returning"
] as const

export type LeafState = (typeof restingStates)[number] | (typeof passingStates)[number]

const leafStates: ReadonlyArray<LeafState> = [...restingStates, ...passingStates]

const allBut = (...states: ReadonlyArray<LeafState>) => leafStates.filter((state) => !states.includes(state))

/** waits: not heard, the mailbox keeps it. late: of a job or timer that is no longer open. nothing: it means nothing here. */
export type IgnoredKind = "waits" | "late" | "nothing"

export interface Ignored {
  readonly kind: IgnoredKind
  readonly states: ReadonlyArray<LeafState>
  /** Types of machine events; `tool.*` stands for the tool jobs of every index, `child.*` for creations of every call. */
  readonly events: ReadonlyArray<string>
  readonly reason: string
}

const lateJob = (job: string, ...openIn: ReadonlyArray<LeafState>): Ignored => ({
  kind: "late",
  states: allBut(...openIn),
  events: [`xstate.done.actor.${job}`, `xstate.error.actor.${job}`],
  reason: "a late result: its job is not open, and its id is known to nobody"
})

const lateTimer = (delay: string, setIn: LeafState): Ignored => ({
  kind: "late",
  states: allBut(setIn),
  events: [`xstate.after.${delay}.assistant.${setIn}`],
  reason: "a late timer: it was cancelled when its state was left"
})

/** Orders about history and memory: the records say it all. */
const OF_RECORDS = [
  "undoCompaction",
  "releaseHistory",
  "deletePassage",
  "releaseFact",
  "retireFact",
  "writeFact",
  "writeProfile",
  "undoDream",
  "acceptDream"
] as const
const MAIL = ["message", "timer", "sleep", "compact", ...OF_RECORDS] as const
const REPLY = ["wake", "report", "approval"] as const
const CONTROL = ["halt", "stop", "resume", "refresh", "remind", "retire", "delegate", "budget"] as const

const thinking = ["awake.assessing.weighing", "awake.thinking.inferring", "awake.thinking.parked"] as const
const waiting = ["awake.awaitingApproval", "awake.awaitingReports"] as const

export const ignored: ReadonlyArray<Ignored> = [
  {
    kind: "waits",
    states: [...thinking, "awake.acting.running", ...waiting, ...operations, ...compacting, "halted"],
    events: MAIL,
    reason: "mail is heard at rest: it waits until the assistant is idle or rests"
  },
  {
    kind: "waits",
    states: ["awake.acting.running"],
    events: REPLY,
    reason: "the call it answers may not be known to wait for it yet: it waits until the calls have run"
  },
  { kind: "waits", states: ["halted"], events: REPLY, reason: "it waits until the assistant is resumed" },
  { kind: "nothing", states: ["awake.idle", ...thinking, ...waiting], events: ["wake"], reason: "it is awake" },
  {
    kind: "nothing",
    states: ["dreaming.pausing", "dreaming.resting"],
    events: ["sleep"],
    reason: "it sleeps already, and its end stands"
  },
  {
    kind: "nothing",
    states: ["awake.idle", ...thinking, ...operations, "dreaming.pausing", "dreaming.resting", ...compacting],
    events: ["report", "approval"],
    reason: "no call waits for it: it has expired, or was answered before"
  },
  {
    kind: "nothing",
    states: ["awake.awaitingReports"],
    events: ["approval"],
    reason: "no call asks for approval any more"
  },
  {
    kind: "nothing",
    states: restingStates.filter((state) => !["awake.thinking.parked", "halted", "retired"].includes(state)),
    events: ["resume"],
    reason: "it is neither halted, nor does a call of it wait"
  },
  {
    kind: "nothing",
    states: ["awake.idle", ...operations, "dreaming.pausing", "dreaming.resting", "dreaming.settling"],
    events: ["stop"],
    reason: "no tick is in progress"
  },
  {
    kind: "nothing",
    states: ["halted"],
    events: ["halt"],
    reason: "it is halted already, and the first reason stands"
  },
  {
    kind: "nothing",
    states: ["awake.idle", "dreaming.pausing", "dreaming.resting"],
    events: OF_RECORDS,
    reason: "the runtime deals with it: history and memory are none of the chart's business"
  },
  {
    kind: "nothing",
    states: restingStates.filter((state) => state !== "retired"),
    events: ["refresh", "remind"],
    reason: "the runtime deals with it: sleep schedules and reminders are none of the chart's business"
  },
  {
    kind: "nothing",
    states: ["retired"],
    events: [...MAIL, ...REPLY, ...CONTROL, "news"],
    reason: "it has retired: whatever still comes is dead-lettered"
  },
  {
    kind: "nothing",
    states: passingStates,
    events: [...MAIL, ...REPLY, "resume", "refresh", "remind"],
    reason: "it is never at rest here, so nothing can come"
  },
  lateJob("assess", "awake.assessing.weighing"),
  lateJob("infer", "awake.thinking.inferring"),
  lateJob("tool.*", "awake.acting.running"),
  lateJob("child.*", ...leafStates.filter((state) => state !== "retired")),
  lateJob("dream", ...operations),
  lateJob("compact", ...phases),
  lateTimer("park", "awake.thinking.parked"),
  lateTimer("park", "compacting.parked"),
  lateTimer("approval", "awake.awaitingApproval"),
  lateTimer("report", "awake.awaitingReports"),
  lateTimer("dreamTick", "dreaming.pausing"),
  lateTimer("sleep", "dreaming.resting")
]

/** Why a state ignores an event of this type on purpose; undefined when the chart may handle it. */
export const whyIgnored = (status: string, eventType: string): string | undefined => {
  const type = eventType.replace(/\.tool\.\d+$/, ".tool.*").replace(/\.child\..+$/, ".child.*")
  return ignored.find(({ events, states }) => events.includes(type) && states.some((state) => state === status))?.reason
}
