// Report: what a run did, and how it leaves the fleet.
// Owns the counting and the two forms, a table and one JSON object. Leaves the facts to notices and the store.
// R1  `accepted` to `toolCalls` count what happened in this run; `total` and `assistants` are what the store holds now.
// R2  accepted + relayed = committed + deadLetters, once nothing of an earlier run was left and nothing waits.

import type { AssistantView, Fleet, Notice, Played, Totals } from "reverie"
import type { ListedView, UsageSums } from "../backend/backend.ts"
import { painted } from "../output.ts"
import { counted, onOneLine, table } from "./plain.ts"
import { outageLines, stateText } from "../running/away.ts"

export interface Report {
  readonly ok: boolean
  /** Letters taken in for the first time. */
  readonly accepted: number
  /** Letters that had been accepted before. */
  readonly duplicates: number
  /** What assistants sent one another. */
  readonly relayed: number
  /** Envelopes whose handling was committed. */
  readonly committed: number
  readonly deadLetters: number
  readonly ticks: number
  readonly iterations: number
  readonly toolCalls: number
  readonly elapsedMs: number
  readonly assistants: ReadonlyArray<AssistantView>
  readonly total: {
    readonly accepted: number
    readonly committed: number
    readonly deadLetters: number
    readonly ticks: number
  }
  readonly model: string
  readonly data: string
}

/** Counts what a fleet tells. */
export class Counter {
  committed = 0
  deadLetters = 0
  ticks = 0
  iterations = 0
  toolCalls = 0

  readonly hear = (notice: Notice): void => {
    if (notice.type === "tool-finished") this.toolCalls++
    else if (notice.type === "tick-ended") {
      this.ticks++
      this.iterations += notice.iterations
    } else if (notice.type === "envelope-settled") {
      if (notice.outcome === "dead") this.deadLetters++
      else this.committed++
    }
  }
}

export interface ReportFacts {
  readonly counter: Counter
  readonly before: Totals
  readonly played: Played
  readonly elapsedMs: number
  readonly model: string
  readonly data: string
}

export const reportOf = async (fleet: Fleet, facts: ReportFacts): Promise<Report> => {
  const { before, counter, data, elapsedMs, model, played } = facts
  const assistants = await fleet.views()
  const now = await fleet.monitor.totals()
  const { committed, deadLetters, iterations, ticks, toolCalls } = counter
  return {
    ok: true,
    accepted: played.accepted,
    duplicates: played.duplicates,
    relayed: now.accepted - before.accepted - played.accepted,
    committed,
    deadLetters,
    ticks,
    iterations,
    toolCalls,
    elapsedMs: Math.round(elapsedMs),
    assistants,
    total: {
      accepted: now.accepted,
      committed: now.settled,
      deadLetters: now.dead - now.discarded,
      ticks: assistants.reduce((sum, assistant) => sum + assistant.ticks, 0)
    },
    model,
    data
  }
}

type TableRow = Pick<ListedView, "commits" | "haltReason" | "id" | "outage" | "state" | "ticks" | "waiting">

export const assistantTable = (assistants: ReadonlyArray<TableRow>): string =>
  table([
    ["assistant", "state", "runs", "queued", "events"],
    ...assistants.map((view) => [
      view.id,
      stateText(view),
      String(view.ticks),
      String(view.waiting),
      String(view.commits)
    ])
  ])

/** Rows of a report; more are a list of their own. */
const MOST_ROWS = 10
/** Of one that has nothing new to report. */
const FEW_ROWS = 4

/** Those first that need a person, then those that have something to do. */
const foremost = (views: ReadonlyArray<AssistantView>, rows: number): ReadonlyArray<AssistantView> => {
  const rank = ({ approvals, outage, state, waiting }: AssistantView): number =>
    state === "halted" ? 0 : approvals.length > 0 ? 1 : outage !== undefined ? 2 : waiting > 0 ? 3 : 4
  return views.toSorted((one, other) => rank(one) - rank(other)).slice(0, rows)
}

/** What waits for a person, and where it is decided; nothing where nothing does. */
const needsLines = ({ assistants, total }: Report): ReadonlyArray<string> => {
  const halted = assistants.filter(({ state }) => state === "halted").length
  const approvals = assistants.reduce((sum, view) => sum + view.approvals.length, 0)
  const needs = [
    ...(halted === 0 ? [] : [`${halted} halted (reverie agents resume)`]),
    ...(approvals === 0 ? [] : [`${counted(approvals, "approval")} (reverie approvals ls)`]),
    ...(total.deadLetters === 0 ? [] : [`${counted(total.deadLetters, "dead letter")} (reverie queues dead)`])
  ]
  return needs.length === 0 ? [] : [painted("yellow", `needs you: ${needs.join(", ")}`)]
}

const rowLines = ({ assistants }: Report, rows: number): ReadonlyArray<string> => {
  const more = assistants.length - rows
  return [
    assistantTable(foremost(assistants, rows)),
    ...(more > 0 ? [`and ${counted(more, "assistant")} more: reverie agents ls`] : [])
  ]
}

/** What is there now, of a fleet that all of it had been given before. */
const repeatText = (report: Report): string => {
  const { assistants, duplicates, total } = report
  return [
    `All ${counted(duplicates, "event")} had been received before: nothing new happened.`,
    `${counted(assistants.length, "assistant")}, ${counted(total.ticks, "run")} in all (${report.model})`,
    ...outageLines(assistants).slice(0, 1),
    ...needsLines(report),
    ...rowLines(report, FEW_ROWS)
  ].join("\n")
}

/** The report for people. */
export const reportText = (report: Report): string => {
  const { accepted, committed, deadLetters, duplicates, elapsedMs, iterations, relayed, ticks, toolCalls } = report
  if (accepted === 0 && duplicates > 0 && committed === 0) return repeatText(report)
  const lines = [
    `${accepted} received, ${counted(duplicates, "duplicate")}, ${relayed} passed on between assistants, ` +
      `${committed} processed, ${counted(deadLetters, "dead letter")}`,
    `${counted(ticks, "run")}, ${counted(iterations, "model call")}, ${counted(toolCalls, "tool call")} ` +
      `in ${(elapsedMs / 1000).toFixed(1)} s (${report.model})`,
    ...outageLines(report.assistants),
    ...needsLines(report),
    "",
    ...rowLines(report, MOST_ROWS)
  ]
  return lines.join("\n")
}

// Use: what model calls took, in words and in a table.
// Z1  A call whose price no one knows is unpriced, and never free.

type Use = UsageSums["total"]

const MICROS = 1_000_000

const moneyText = ({ calls, costMicros, unpricedCalls }: Use): string => {
  const money = (costMicros / MICROS).toFixed(4)
  if (unpricedCalls === 0) return money
  return unpricedCalls >= calls ? "unpriced" : `${money} and ${counted(unpricedCalls, "unpriced call")}`
}

export const useText = (use: Use): string => {
  const { cachedTokens, calls, tokens, unpricedCalls } = use
  const cached = cachedTokens === 0 ? "" : ` (${cachedTokens} of them cached)`
  const cost = unpricedCalls >= calls && calls > 0 ? "unpriced" : `cost ${moneyText(use)}`
  return `${counted(calls, "model call")}, ${tokens} tokens${cached}, ${cost}`
}

/** Some rows of sums, and below them the sum of all. */
export const useTable = ({ by, items, total }: Omit<UsageSums, "from" | "to" | "next">): string => {
  const row = (key: string, use: Use) => [
    onOneLine(key, 60),
    ...[use.calls, use.inputTokens, use.cachedTokens, use.outputTokens, use.reasoningTokens].map(String),
    moneyText(use)
  ]
  const rows = items.map(({ key, ...use }) => row(by === "hour" ? key.slice(0, 16).replace("T", " ") : key, use))
  return table([[by, "calls", "input", "cached", "output", "reasoning", "cost"], ...rows, row("all", total)])
}
