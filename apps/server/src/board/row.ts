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
  type FleetReadings,
  isTagged,
  modeOf,
  type OutboxRow,
  summaryOf
} from "reverie"
import type { AssistantRow } from "../api/index.ts"

// Day: what the last 24 hours took of each assistant, as the ledger has summed it.
// Y1  Hours that are over are read once an hour, the others with each question after an entry that used something: a list costs
//     what was used lately, and no restart changes a sum.

const HOUR_MILLIS = 3_600_000
const HOURS = 24
/** Entries of the hour before are written a little late. */
const OPEN_HOURS = 2
const PAGE = 100_000

type Spent = AssistantRow["day"]
type Sums = ReadonlyMap<string, Spent>
type Usage = FleetReadings["usage"]

const NOTHING_SPENT: Spent = { tokens: 0, costMicros: 0, calls: 0, unpricedCalls: 0 }

export const together = (a: Spent, b: Spent): Spent => ({
  tokens: a.tokens + b.tokens,
  costMicros: a.costMicros + b.costMicros,
  calls: a.calls + b.calls,
  unpricedCalls: a.unpricedCalls + b.unpricedCalls
})

export class Day {
  readonly #usage: Usage
  #hour = -1
  #over: Sums = new Map()
  #open: Sums = new Map()
  #isKnown = false
  #reading: Promise<void> = Promise.resolve()

  constructor(usage: Usage) {
    this.#usage = usage
  }

  /** Something was used since. */
  touch(): void {
    this.#isKnown = false
  }

  /** What was used in the 24 hours of which this is the last. */
  async read(now: number): Promise<(id: string) => Spent> {
    const hour = Math.floor(now / HOUR_MILLIS)
    const isNewHour = this.#hour !== hour
    if (isNewHour || !this.#isKnown) {
      this.#isKnown = true
      this.#hour = hour
      this.#reading = this.#reading.catch(() => {}).then(() => this.#refresh(hour, isNewHour))
    }
    await this.#reading
    const [over, open] = [this.#over, this.#open]
    return (id) => together(over.get(id) ?? NOTHING_SPENT, open.get(id) ?? NOTHING_SPENT)
  }

  async #refresh(hour: number, isNewHour: boolean): Promise<void> {
    const border = hour - OPEN_HOURS + 1
    try {
      if (isNewHour) this.#over = await this.#sums(hour - HOURS + 1, border)
      this.#open = await this.#sums(border, undefined)
    } catch (error) {
      this.#hour = -1
      throw error
    }
  }

  async #sums(from: number, to: number | undefined): Promise<Sums> {
    const sums = new Map<string, Spent>()
    let after: string | undefined
    while (true) {
      const hours = defined({ to: to === undefined ? undefined : to * HOUR_MILLIS, after })
      const page = await this.#usage({ from: from * HOUR_MILLIS, ...hours, limit: PAGE })
      for (const { calls, costMicros, key, tokens, unpricedCalls } of page.rows)
        sums.set(key, { tokens, costMicros, calls, unpricedCalls })
      if (page.next === null) return sums
      after = page.next
    }
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

/** A step of a dream runs: each ends with an entry, however long the dream stays in one state. */
export const isDreamingIn = (state: string): boolean => isTagged(state, "busy") && isTagged(state, "asleep")

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
  /** Tokens of the context window, as the newest prompt told it. */
  contextTokens: number | undefined
  /** As of the last list. */
  day: AssistantRow["day"]
  budget: BudgetView | undefined
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
  isDreaming: boolean
  /** The newest entry that was told, when, the state after it, and since when it was in it; 0 where that is not known. */
  toldNo: number
  toldAt: number
  toldState: string
  toldSince: number
}

const MAX_ERROR_CHARS = 300

const enter = (row: Row, state: string): void => {
  row.state = state
  row.mode = modeOf(state)
  row.class = classOf(state)
  row.isWorking = isWorkingIn(state)
  row.isDreaming = isDreamingIn(state)
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
    contextTokens: undefined,
    day: NOTHING_SPENT,
    budget: undefined,
    approvals: 0,
    lastError: undefined,
    haltReason: undefined,
    outage: undefined,
    subAgents: 0,
    epoch: 0,
    readAt: 0,
    class: "idle",
    isWorking: false,
    isDreaming: false,
    toldNo: -1,
    toldAt: 0,
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
  const summary = summaryOf(record)
  // It may have been in other states in between: the entries that come will tell, or a look back.
  if (record.version > row.commits) row.since = 0
  if (row.state !== summary.state || row.commits === 0) enter(row, summary.state)
  row.ticks = summary.ticks
  row.commits = summary.commits
  row.approvals = summary.approvals.length
  row.haltReason = summary.haltReason
  row.outage = summary.outage
  row.subAgents = summary.subAgents
  row.budget = summary.budget
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
  row.toldAt = at
  row.toldState = status
}

/** What a compaction took away; undefined of any other entry. */
const savedIn = ({ step }: OutboxRow["entry"]): number | undefined => {
  const { tokens_after: after, tokens_before: before } = step?.kind === "compact" ? (step.detail ?? {}) : {}
  return typeof before === "number" && typeof after === "number" ? before - after : undefined
}

/** How full the window is: as the newest prompt was, without what was compacted since. */
const tellContext = (row: Row, { entry }: OutboxRow): void => {
  const report = contextReportOf(entry)
  if (report !== undefined) {
    row.contextShare = report.share
    row.contextTokens = report.share > 0 ? report.tokens / report.share : undefined
    return
  }
  const saved = savedIn(entry)
  if (saved === undefined || row.contextShare === undefined || row.contextTokens === undefined) return
  row.contextShare = Math.max(0, row.contextShare - saved / row.contextTokens)
}

/** True when the entry told something new. */
export const tellRow = (row: Row, told: OutboxRow): boolean => {
  const { entry } = told
  row.lastError = errorIn(told) ?? row.lastError
  tellContext(row, told)
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
  row.toldAt = Math.max(row.toldAt, entries.at(-1)?.entry.at ?? 0)
  if (row.contextShare === undefined) for (const told of entries) tellContext(row, told)
  for (const told of entries.toReversed()) row.lastError ??= errorIn(told)
}

export const shownOf = (row: Row): AssistantRow => ({
  id: row.id,
  definition: row.definition,
  state: row.state,
  mode: row.mode,
  since: row.since,
  ticks: row.ticks,
  commits: row.commits,
  waiting: row.waiting,
  day: row.day,
  approvals: row.approvals,
  subAgents: row.subAgents,
  epoch: row.epoch,
  ...defined({
    contextShare: row.contextShare,
    left: row.budget === undefined ? undefined : leftIn(row.budget),
    lastError: row.lastError,
    haltReason: row.haltReason,
    outage: row.outage
  })
})
