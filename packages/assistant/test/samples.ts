// Samples: for every state the events that may come there, each guard both ways.
// Owns the choice of samples and what two snapshots must share to count as one node of the graph.

import type { SnapshotFrom } from "xstate"
import {
  type SubAgentStart,
  isBounded,
  type Input,
  isOpen,
  jobDone,
  jobFailed,
  type Settings,
  settingsNow,
  statusOf
} from "../src/index.ts"
import {
  ANSWER,
  asking,
  at,
  away,
  BROKEN,
  compact,
  DONE,
  failure,
  message,
  MISSHAPEN,
  REFUSED,
  PENDING,
  skipped,
  sleep,
  timer,
  unfinished,
  worked
} from "./rig.ts"
import { type assistantMachine } from "../src/machine.ts"
import { callRoom } from "../src/budget/account.ts"

export type Snapshot = SnapshotFrom<typeof assistantMachine>

/** Settings under which the graph is walked; small limits keep it finite. */
export const worlds: {
  readonly [name: string]: { readonly settings: Partial<Settings>; readonly subAgentStart?: SubAgentStart }
} = {
  plain: { settings: { maxIterations: 2, maxErrors: 2 } },
  trusting: {
    settings: { maxIterations: 2, maxErrors: 2, confirmDangerous: false, terminalEndsLoop: false, compactEnabled: true }
  },
  single: { settings: { multiAction: false, maxErrors: 1 } },
  paced: { settings: { maxErrors: 1, sleepTickMs: 60_000, compactEnabled: true } },
  thorough: { settings: { maxIterations: 2, maxErrors: 2, assessTask: true, compactEnabled: true } },
  parent: {
    settings: {
      maxIterations: 1,
      maxErrors: 2,
      assessTask: true,
      compactEnabled: true,
      sleepTickMs: 60_000,
      subAgents: true,
      subAgentBudget: 1,
      subAgentRetries: 1
    }
  },
  poor: { settings: { maxIterations: 2, maxErrors: 1, budgetCalls: 1 } },
  sent: {
    settings: { maxIterations: 2, maxErrors: 1, compactEnabled: false },
    subAgentStart: {
      assignment: {
        parent: "ada",
        owner: "ada",
        call: "1.1.0",
        tries: 1,
        depth: 0,
        millis: 60_000,
        until: 60_000,
        insulation: "orchestrator",
        above: ["tester"],
        categories: null,
        late: false
      },
      granted: { tokens: 50_000, costMicros: null, calls: 20 }
    }
  }
}

const FULL = at(0.8)
const DROWSY = at(0.7)
/** Later than the end of the sleep that is a sample. */
const SLEPT_OUT_MILLIS = 70_000
const MAILED = { tokenRatio: 0, mailWaiting: true }

const ends = (job: string, outputs: ReadonlyArray<unknown>, errors: ReadonlyArray<unknown>): ReadonlyArray<Input> => [
  ...outputs.map((output) => jobDone(job, output)),
  ...errors.map((error) => jobFailed(job, error))
]

const endsOf = (job: string): ReadonlyArray<Input> => {
  switch (job) {
    case "infer":
      return ends(
        job,
        [
          ANSWER,
          MISSHAPEN,
          REFUSED,
          asking("safe_chain"),
          asking("terminal"),
          asking("dangerous"),
          asking("async_required"),
          asking("safe_chain", "dangerous", "dangerous")
        ],
        [
          failure("retry"),
          failure("park", { retryAfterMs: 90_000 }),
          failure("tell-owner"),
          failure("stop"),
          failure("again"),
          failure("cut"),
          failure("park", { limited: true, retryAfterMs: 500 }),
          failure("tell-owner", { limited: true }),
          away()
        ]
      )
    case "assess":
      return ends(
        job,
        [{ restriction: {} }, { restriction: { categories: ["safe_chain"] } }, { restriction: { maxIterations: 1 } }],
        [{}]
      )
    case "dream":
      return ends(
        job,
        [worked(), worked(DROWSY), worked(MAILED), skipped(), unfinished()],
        [{}, away(), away(SLEPT_OUT_MILLIS)]
      )
    case "compact":
      return ends(job, [worked(), skipped(FULL), unfinished()], [{}, away()])
    default:
      return job.startsWith("child.") ? ends(job, [null], [{}]) : ends(job, [DONE, BROKEN, PENDING], [{}])
  }
}

const wire: ReadonlyArray<Input> = [
  message("m"),
  message("m", { signals: FULL }),
  timer("t"),
  sleep("s", { forMs: 60_000, at: 1 }),
  compact(),
  { type: "wake" },
  { type: "report" },
  { type: "report", tool: "async_required" },
  { type: "report", call: "0.0.0" },
  { type: "approval", decision: "approved" },
  { type: "approval", decision: "denied" },
  { type: "approval", decision: "approved", approval: "somebody-else's" },
  { type: "halt", reason: "fire drill" },
  { type: "stop", tick: 1 },
  { type: "resume" },
  { type: "refresh" },
  { type: "remind", reminder: "tea" },
  { type: "budget" },
  { type: "undoCompaction", compaction: "compact_20260101_000000" },
  { type: "releaseHistory" },
  { type: "deletePassage", passage: "passage_0123456789abcdef" },
  { type: "releaseFact", fact: "fact_1_0" },
  { type: "retireFact", fact: "fact_1_0", reason: "it was a joke" },
  { type: "writeFact", text: "The ferry leaves at nine.", fact: "fact_1_0" },
  { type: "writeProfile", entity: "ann", attribute: "a1", text: "Has a boat." },
  { type: "undoDream", dream: "dream_1", items: ["fact/fact_1_0"] },
  { type: "acceptDream", dream: "dream_1" },
  { type: "retire" },
  { type: "delegate", call: "order", at: 0 },
  { type: "news", what: "reported", call: "order", tries: 1, end: "completed", at: 0 },
  { type: "news", what: "reported", call: "order", tries: 1, end: "failed", at: 0 },
  { type: "news", what: "due", call: "order", tries: 1 },
  { type: "news", what: "lost", call: "order", tries: 1 },
  { type: "news", what: "late" }
]

/** Every event that may come here: in whatever lane, from open jobs, from set timers. */
export const eventsIn = (snapshot: Snapshot): ReadonlyArray<Input> =>
  snapshot.status === "active"
    ? [
        ...wire,
        ...Object.keys(snapshot.children).flatMap(endsOf),
        ...snapshot._nodes.flatMap((node) => node.after.map(({ eventType }) => ({ type: eventType })))
      ]
    : []

export const leafOf = (snapshot: Snapshot): string => statusOf({ machine: snapshot })

/** What every state reads: who is below, and whether there is something to spend. */
const agents = ({ account, assignment, subAgents, tick }: Snapshot["context"], settings: Settings) => ({
  open: subAgents.filter(isOpen).map(({ phase, tries }) => `${phase}#${tries}`),
  ...(assignment === null ? {} : { late: assignment.late, isOver: tick > 0 }),
  ...(account === null || !isBounded(account)
    ? {}
    : { room: "short" in callRoom(account, settings) ? "none" : "some", warned: account.warned !== "" })
})

/** What a state reads of the context. Whatever it does not read is set anew before anything reads it. */
const read = (leaf: string, { calls, compactingFrom, envelope, ...rest }: Snapshot["context"]) => {
  const { dangerousUsed, dreamNext, errors, iteration, outage, parkMs, repairs, restriction, signals, tries } = rest
  const { wakeWanted } = rest
  const tick = { inTick: envelope !== null, errors, tries }
  if (leaf === "awake.idle" || leaf === "retired") return tick
  if (leaf === "dreaming.pausing") return { ...tick, signals, dreamNext }
  if (leaf.startsWith("dreaming")) return { ...tick, signals, wakeWanted }
  if (leaf === "compacting.parked") return { ...tick, compactingFrom, signals, wakeWanted, phase: outage?.phase }
  if (leaf.startsWith("compacting")) return { ...tick, compactingFrom, signals, wakeWanted }
  const inTick = { ...tick, calls, dangerousUsed, iteration, repairs, restriction }
  if (leaf === "halted") return envelope === null ? tick : { ...inTick, signals }
  return leaf === "awake.thinking.parked" ? { ...inTick, parkMs } : inTick
}

/** Two snapshots with the same key decide alike; ticks are not counted, envelopes not told apart. */
export const keyOf = (snapshot: Snapshot): string => {
  const leaf = leafOf(snapshot)
  const { context } = snapshot
  const all = leaf === "retired" ? {} : agents(context, settingsNow(context))
  return JSON.stringify([leaf, Object.keys(snapshot.children), read(leaf, context), all])
}
