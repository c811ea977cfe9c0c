// Report: what a run did, and how it leaves the fleet.
// Owns the counting and the two forms, a table and one JSON object. Leaves the facts to notices and the store.
// R1  `accepted` to `toolCalls` count what happened in this run; `total` and `assistants` are what the store holds now.
// R2  accepted + relayed = committed + deadLetters, once nothing of an earlier run was left and nothing waits.

import type { AssistantView, Fleet, Notice, Played, Totals } from "reverie"
import type { ListedView } from "../backend/backend.ts"
import { painted } from "../output.ts"
import { counted, table } from "./plain.ts"
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

export const assistantTable = (assistants: ReadonlyArray<ListedView>): string =>
  table([
    ["assistant", "state", "ticks", "waiting", "commits"],
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

/** Those first that need a person, then those that have something to do. */
const foremost = (views: ReadonlyArray<AssistantView>): ReadonlyArray<AssistantView> => {
  const rank = ({ approvals, outage, state, waiting }: AssistantView): number =>
    state === "halted" ? 0 : approvals.length > 0 ? 1 : outage !== undefined ? 2 : waiting > 0 ? 3 : 4
  return views.toSorted((one, other) => rank(one) - rank(other)).slice(0, MOST_ROWS)
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

/** The report for people. */
export const reportText = (report: Report): string => {
  const { accepted, committed, deadLetters, duplicates, elapsedMs, iterations, relayed, ticks, toolCalls } = report
  const more = report.assistants.length - MOST_ROWS
  const isRepeat = accepted === 0 && duplicates > 0 && committed === 0
  const lines = [
    `${accepted} accepted, ${counted(duplicates, "duplicate")}, ${relayed} passed on between assistants, ` +
      `${committed} committed, ${counted(deadLetters, "dead letter")}`,
    `${counted(ticks, "tick")}, ${counted(iterations, "iteration")}, ${counted(toolCalls, "tool call")} ` +
      `in ${(elapsedMs / 1000).toFixed(1)} s (${report.model})`,
    ...outageLines(report.assistants),
    ...(isRepeat ? ["All of it had been accepted before: nothing new happened."] : []),
    ...needsLines(report),
    "",
    assistantTable(foremost(report.assistants)),
    ...(more > 0 ? [`and ${counted(more, "assistant")} more: reverie agents ls`] : [])
  ]
  return lines.join("\n")
}
