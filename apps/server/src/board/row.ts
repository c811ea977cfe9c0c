// Row: what the board keeps of one assistant.
// Owns what an entry and what a record change of it. Leaves which rows there are, and when they are read anew, to board.ts.
// W1  An entry that was applied before changes nothing; an older one neither.
// W2  What entries do not tell (what waits, what is left) is that of the newest record that was read.
// W3  A row is bounded, whatever its assistant lives through.

import { defined } from "@reverie/protocol"
import {
  type Activity,
  activityOf,
  type AssistantRecord,
  type BudgetView,
  contextReportOf,
  isTagged,
  modeOf,
  type OutboxRow,
  viewOf
} from "reverie"
import type { AssistantRow } from "../api/index.ts"

// Day: what the last 24 hours took.
// Y1  What is older than a day is forgotten, an hour at a time; memory is bounded by the hours of a day.

const HOUR_MILLIS = 3_600_000
const HOURS = 24
const FIELDS = 4

export class Day {
  /** Hour, tokens, cost, calls; one after the other. No one who does nothing has one. */
  #hours: Array<number> | undefined

  add(at: number, tokens: number, costMicros: number, calls: number): void {
    const hour = Math.floor(at / HOUR_MILLIS)
    this.#hours ??= []
    const hours = this.#hours
    let index = hours.length - FIELDS
    while (index >= 0 && hours[index] !== hour) index -= FIELDS
    if (index < 0) {
      index = hours.push(hour, 0, 0, 0) - FIELDS
      if (hours.length > (HOURS + 1) * FIELDS) {
        hours.splice(0, FIELDS)
        index -= FIELDS
      }
    }
    hours[index + 1] = (hours[index + 1] ?? 0) + tokens
    hours[index + 2] = (hours[index + 2] ?? 0) + costMicros
    hours[index + 3] = (hours[index + 3] ?? 0) + calls
  }

  get isEmpty(): boolean {
    return this.#hours === undefined
  }

  sum(now: number): AssistantRow["day"] {
    const sum = { tokens: 0, costMicros: 0, calls: 0 }
    const first = Math.floor(now / HOUR_MILLIS) - HOURS
    const hours = this.#hours ?? []
    for (let index = 0; index < hours.length; index += FIELDS) {
      if ((hours[index] ?? 0) <= first) continue
      sum.tokens += hours[index + 1] ?? 0
      sum.costMicros += hours[index + 2] ?? 0
      sum.calls += hours[index + 3] ?? 0
    }
    return sum
  }
}

// Class: what a state counts as, for those who look at a whole fleet: the activities of the chart.

type Class = Activity

export const classOf = (state: string): Class => activityOf(state)

/**
 * Something runs for it that no model call and no tool outlasts; waiting for a person, a report, a model that is away, or
 * the next day's allowance is no work. A dream stays in one state for as many steps as it has.
 */
export const isWorkingIn = (state: string): boolean => isTagged(state, "busy") && !isTagged(state, "asleep")

export interface Row {
  readonly id: string
  /** Lower case, for searching. */
  readonly words: string
  definition: string
  state: string
  mode: AssistantRow["mode"]
  /** 0 while no one has looked back for it. */
  since: number
  ticks: number
  commits: number
  waiting: number
  contextShare: number | undefined
  readonly day: Day
  left: AssistantRow["left"]
  approvals: number
  lastError: AssistantRow["lastError"]
  haltReason: string | undefined
  outage: AssistantRow["outage"]
  subAgents: number
  epoch: number
  /** When its record was read, by the clock of this process. */
  readAt: number
  /** What it counts as, and whether something runs for it: both of its state. */
  class: Class
  isWorking: boolean
  /** The newest entry that was told, the state after it, and since when it was in it; 0 where that is not known. */
  toldNo: number
  toldState: string
  toldSince: number
}

const MAX_ERROR_CHARS = 300

const enter = (row: Row, state: string): void => {
  row.state = state
  row.mode = modeOf(state)
  row.class = classOf(state)
  row.isWorking = isWorkingIn(state)
}

export const rowOf = (record: AssistantRecord, now: number): Row => {
  const row: Row = {
    id: record.address.assistant,
    words: `${record.address.assistant} ${record.state.definition}`.toLowerCase(),
    definition: record.state.definition,
    state: record.state.status,
    mode: modeOf(record.state.status),
    since: 0,
    ticks: 0,
    commits: 0,
    waiting: 0,
    contextShare: undefined,
    day: new Day(),
    left: undefined,
    approvals: 0,
    lastError: undefined,
    haltReason: undefined,
    outage: undefined,
    subAgents: 0,
    epoch: 0,
    readAt: 0,
    class: "idle",
    isWorking: false,
    toldNo: -1,
    toldState: "",
    toldSince: 0
  }
  readInto(row, record, now)
  return row
}

const leftIn = ({ granted, reserved, spent }: BudgetView): AssistantRow["left"] => {
  const left = (granted: number | null, gone: number) => (granted === null ? null : Math.max(0, granted - gone))
  return {
    tokens: left(granted.tokens, spent.tokens + reserved.tokens),
    costMicros: left(granted.costMicros, spent.costMicros + reserved.costMicros),
    calls: left(granted.calls, spent.calls + reserved.calls)
  }
}

/** A record that is older than what entries have told changes nothing but what entries do not tell. */
export const readInto = (row: Row, record: AssistantRecord, now: number): void => {
  row.readAt = now
  row.waiting = record.waiting
  row.epoch = Math.max(row.epoch, record.epoch)
  if (record.version < row.commits) return
  const view = viewOf(record)
  // It may have been in other states in between: the entries that come will tell, or a look back.
  if (record.version > row.commits) row.since = 0
  if (row.state !== view.state || row.commits === 0) enter(row, view.state)
  row.ticks = view.ticks
  row.commits = view.commits
  row.approvals = view.approvals.length
  row.haltReason = view.haltReason
  row.outage = view.outage
  row.subAgents = view.subAgents
  row.left = view.budget === undefined ? undefined : leftIn(view.budget)
}

const errorIn = ({ entry: { at, settled = [], step } }: OutboxRow): AssistantRow["lastError"] => {
  const dead = settled.find(({ outcome }) => outcome === "dead")
  const error = step?.kind === "infer" && !step.ok ? step.detail?.["error"] : dead?.reason
  if (error === undefined) return undefined
  const message = typeof error === "string" ? error : JSON.stringify(error)
  return { at, message: message.slice(0, MAX_ERROR_CHARS) }
}

/** Entries come in order. What was before the first of them only the record can tell, if it is the one right before. */
const tellSince = (row: Row, { at, no, status }: OutboxRow["entry"]): void => {
  const isNext = no === row.toldNo + 1
  const isAfterRecord = !isNext && no === row.commits + 1
  const before = isNext ? row.toldState : isAfterRecord ? row.state : undefined
  if (no === 1 || (before !== undefined && before !== status)) row.toldSince = at
  else if (!isNext) row.toldSince = isAfterRecord ? row.since : 0
  row.toldNo = no
  row.toldState = status
}

/** True when the entry told something new. */
export const tellRow = (row: Row, told: OutboxRow): boolean => {
  const { entry } = told
  row.lastError = errorIn(told) ?? row.lastError
  row.contextShare = contextReportOf(entry)?.share ?? row.contextShare
  const { step } = entry
  if (step?.usage !== undefined) {
    const cost = step.detail?.["costMicros"]
    const tokens = step.usage.inputTokens + step.usage.outputTokens
    row.day.add(entry.at, tokens, typeof cost === "number" ? cost : 0, step.kind === "infer" ? 1 : 0)
  }
  tellSince(row, entry)
  if (entry.no < row.commits) return false
  row.since = row.toldSince === 0 && entry.no === row.commits ? row.since : row.toldSince
  if (entry.no === row.commits) return false
  if (entry.status !== row.state) enter(row, entry.status)
  row.commits = entry.no
  row.ticks = entry.tick
  row.epoch = Math.max(row.epoch, entry.epoch)
  return true
}

/** What its newest entries, the oldest first, tell of a time before anybody watched. */
export const lookBackInto = (row: Row, entries: ReadonlyArray<OutboxRow>): void => {
  let since = 0
  for (const told of entries) {
    if (told.entry.status !== row.state) since = 0
    else if (since === 0) since = told.entry.at
  }
  row.since = since
  for (const told of entries.toReversed()) {
    row.contextShare ??= contextReportOf(told.entry)?.share
    row.lastError ??= errorIn(told)
  }
}

export const shownOf = (row: Row, now: number): AssistantRow => ({
  id: row.id,
  definition: row.definition,
  state: row.state,
  mode: row.mode,
  since: row.since,
  ticks: row.ticks,
  commits: row.commits,
  waiting: row.waiting,
  day: row.day.sum(now),
  approvals: row.approvals,
  subAgents: row.subAgents,
  epoch: row.epoch,
  ...defined({
    contextShare: row.contextShare,
    left: row.left,
    lastError: row.lastError,
    haltReason: row.haltReason,
    outage: row.outage
  })
})
