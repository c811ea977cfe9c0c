// FleetJudge: what must be true of a fleet after any number of faults.
// Owns the questions, asked of evidence alone: the ledger, the diaries of the processes, and what was done to them. Leaves
// collecting it to fleet-evidence.ts, and how long recovery took to fleet-recovery.ts.
// J1  Every acknowledged event, and everything that assistants sent each other, was settled exactly once. Only the order to
//     retire may find no one: its receiver has retired by itself meanwhile, and accepts nothing any more.
// J2  What one sender sent to one assistant was taken up in the order in which it was sent, within its lane: an order may
//     overtake mail.
// J3  No one writes, or begins to run a tool, after another one was granted the assistant: along the numbers of entries the
//     epoch never goes back, numbers have no gap, and anyone who starts a tool was granted the assistant last.
// J4  No unsafe tool ran twice under one key.
// J5  No one used more than it was granted, after any commit: see fleet-budget.ts.

import type { Entry } from "@reverie/protocol"
import { budgetsIn } from "./fleet-budget.ts"
import type { Diary, Line } from "./fleet-diary.ts"
import { numberOf } from "./fleet-scene.ts"

/** Something that was done to processes or servers. */
export interface Wound {
  readonly kind: string
  /** The workers that it hit. */
  readonly victims: ReadonlyArray<string>
  /** By the steady clock. */
  readonly at: number
}

/** A worker was granted an assistant. */
export interface Grant {
  readonly assistant: string
  readonly epoch: number
  readonly worker: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

export interface Evidence {
  /** In the order of their times. */
  readonly grants: ReadonlyArray<Grant>
  readonly entries: ReadonlyMap<string, ReadonlyArray<Entry>>
  readonly diaries: ReadonlyArray<Diary>
  readonly wounds: ReadonlyArray<Wound>
  /** What is added to a steady time to have milliseconds since the epoch. */
  readonly epochOffset: number
  /** When the run began and ended, in milliseconds since the epoch. */
  readonly began: number
  readonly ended: number
}

export interface FleetVerdict {
  readonly acknowledged: number
  readonly commits: number
  readonly grants: number
  readonly toolRuns: number
  readonly sends: number
  readonly lost: number
  readonly duplicated: number
  readonly outOfOrder: number
  readonly concurrentWriters: number
  /** The part of them that are tool runs of someone who had been replaced. */
  readonly staleToolRuns: number
  readonly repeatedUnsafeTools: number
  readonly interruptedTools: number
  /** Idempotent runs that came again under their key. */
  readonly repeatedSafeTools: number
  /** Entries dated outside of the run: a worker's wrong clock was believed. */
  readonly strayTimes: number
  /** Acknowledged events that were given up. */
  readonly deadLettered: number
  readonly subAgents: number
  /** Commits after which someone had used more than it was granted, and sub-agents with another grant than was promised. */
  readonly budgetOverruns: number
  readonly staleCommitsRefused: number
  readonly leasesLost: number
}

/** Names of the figures that must be 0. */
export const faultless = [
  "lost",
  "duplicated",
  "outOfOrder",
  "concurrentWriters",
  "repeatedUnsafeTools",
  "strayTimes",
  "deadLettered",
  "budgetOverruns"
] as const

export const isFaultless = (verdict: FleetVerdict): boolean => faultless.every((name) => verdict[name] === 0)

const countOf = (values: Iterable<string>): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}

const repeated = (values: Iterable<string>): number =>
  [...countOf(values).values()].reduce((sum, count) => sum + count - 1, 0)

/** Pairs of neighbours that do not grow. */
const descents = (numbers: ReadonlyArray<number>): number =>
  numbers.filter((number, index) => index > 0 && number <= numbers[index - 1]!).length

export const linesOf = <Is extends Line["is"]>(diaries: ReadonlyArray<Diary>, is: Is) =>
  diaries.flatMap(({ lines, name }) =>
    lines.flatMap((line) => (line.is === is ? [{ ...(line as Extract<Line, { readonly is: Is }>), name }] : []))
  )

const envelopesTakenUp = (entries: ReadonlyArray<Entry>) =>
  entries.flatMap(({ cause }) => (cause.kind === "envelope" || cause.kind === "dead-letter" ? [cause] : []))

interface Sent {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly isRetirement: boolean
}

const sentIn = (from: string, entries: ReadonlyArray<Entry>): ReadonlyArray<Sent> =>
  entries.flatMap(({ sends = [] }) =>
    sends.map(({ event, id, to }) => ({ id, from, to: to.assistant, isRetirement: event.type === "retire" }))
  )

/** Of what one assistant took up: events by their number, sends by their place among those of their sender. */
const misplaced = (
  entries: ReadonlyArray<Entry>,
  sent: ReadonlyMap<string, { from: string; place: number }>
): number => {
  const numbers = new Map<string, Array<number>>()
  for (const { id, lane } of envelopesTakenUp(entries)) {
    const number = numberOf(id)
    const { from, place } = number === undefined ? (sent.get(id) ?? {}) : { from: "producer", place: number }
    if (from === undefined || place === undefined) continue
    const road = `${from} ${lane}`
    numbers.set(road, [...(numbers.get(road) ?? []), place])
  }
  return [...numbers.values()].reduce((sum, each) => sum + descents(each), 0)
}

const badWrites = (entries: ReadonlyArray<Entry>): number =>
  entries.filter(({ epoch, no }, index) => no !== index + 1 || epoch < (entries[index - 1]?.epoch ?? 0)).length

/** Who was granted each assistant last, at a time in milliseconds since the epoch. Asked in the order of time. */
export const holdersIn = (grants: ReadonlyArray<Grant>) => {
  const holders = new Map<string, string>()
  let next = 0
  return (at: number): ReadonlyMap<string, string> => {
    for (; next < grants.length && grants[next]!.at < at; next++)
      holders.set(grants[next]!.assistant, grants[next]!.worker)
    return holders
  }
}

/** Reading two clocks of one machine one after the other takes less. */
const READING_MILLIS = 5

/** Runs of tools that began in a process after another one had been granted the assistant. */
const staleRuns = ({ diaries, epochOffset, grants }: Evidence): number => {
  const holdersAt = holdersIn(grants)
  const runs = linesOf(diaries, "run").toSorted((a, b) => a.at - b.at)
  return runs.filter(({ assistant, at, name }) => {
    return (holdersAt(at + epochOffset - READING_MILLIS).get(assistant) ?? name) !== name
  }).length
}

/** Clocks of processes that share a machine differ by less. */
const CLOCK_TOLERANCE_MILLIS = 2_000

export const judgeFleet = (evidence: Evidence): FleetVerdict => {
  const { began, diaries, ended, entries } = evidence
  const all = [...entries.values()].flat()
  const settled = countOf(all.flatMap(({ settled: these = [] }) => these.map(({ id }) => id)))
  const acknowledged = new Set(linesOf(diaries, "ack").map(({ id }) => id))
  const sent = [...entries].flatMap(([from, these]) => sentIn(from, these))
  const hasRetired = (id: string): boolean => entries.get(id)?.at(-1)?.status === "retired"
  const awaited = sent.filter(({ id, isRetirement, to }) => !isRetirement || settled.has(id) || !hasRetired(to))
  const expected = new Set([...acknowledged, ...awaited.map(({ id }) => id)])
  const places = new Map(sent.map(({ from, id }, place) => [id, { from, place }]))
  const takenUpTwice = [...entries.values()].reduce(
    (sum, each) => sum + repeated(envelopesTakenUp(each).map(({ id }) => id)),
    0
  )
  const runs = linesOf(diaries, "run")
  const keysOf = (tool: string) => runs.flatMap((run) => (run.tool === tool ? [run.key] : []))
  const troubles = countOf(linesOf(diaries, "trouble").map(({ what }) => what))
  const staleToolRuns = staleRuns(evidence)
  const isStray = ({ at }: Entry): boolean => at < began - CLOCK_TOLERANCE_MILLIS || at > ended + CLOCK_TOLERANCE_MILLIS
  return {
    acknowledged: acknowledged.size,
    commits: all.length,
    grants: evidence.grants.length,
    toolRuns: runs.length,
    sends: sent.length,
    lost: [...expected].filter((id) => !settled.has(id)).length,
    duplicated: takenUpTwice + [...settled].filter(([id, count]) => count > 1 && expected.has(id)).length,
    outOfOrder: [...entries.values()].reduce((sum, each) => sum + misplaced(each, places), 0),
    concurrentWriters: [...entries.values()].reduce((sum, each) => sum + badWrites(each), 0) + staleToolRuns,
    staleToolRuns,
    repeatedUnsafeTools: repeated(keysOf("ring")),
    interruptedTools: all.filter(({ step }) => step?.detail?.["failure"] === "interrupted").length,
    repeatedSafeTools: repeated(keysOf("note")),
    strayTimes: all.filter(isStray).length,
    deadLettered: all.flatMap(({ settled: these = [] }) =>
      these.filter(({ id, outcome }) => outcome === "dead" && acknowledged.has(id))
    ).length,
    ...budgetsIn(entries),
    staleCommitsRefused: troubles.get("CommitFenced") ?? 0,
    leasesLost: troubles.get("LeaseLost") ?? 0
  }
}
