// View: an assistant as a person wants to see it.
// Owns what is read out of a stored record. Leaves the record to the ledger, its meaning to the statechart.
// V1  A view is a pure function of the record; a record that can not be read gives a view that says so.
// V2  A summary says what the view of the same record says, and restores no machine: a fleet of 100,000 is summed up in seconds.

import {
  acceptsOf,
  accountOf,
  type AssistantContext,
  type Bound,
  callId,
  contextOf,
  isBounded,
  isOpen,
  type Mode,
  modeOf,
  restore,
  storedContext,
  timerOfWait,
  used
} from "@reverie/assistant"
import type { AssistantRecord } from "@reverie/ledger"
import { type Amount, type EventType, type Lane, defined } from "@reverie/protocol"
import * as Result from "effect/Result"

/** What an assistant may spend; null where nothing bounds it. */
export interface BudgetView {
  /** What it may spend in its whole life. */
  readonly granted: Bound
  /** What it has spent, its sub-agents included. */
  readonly spent: Amount
  /** Set aside for a model call under way, and promised to sub-agents. */
  readonly reserved: Amount
}

const NOTHING: Amount = { tokens: 0, costMicros: 0, calls: 0 }
const UNKNOWN: BudgetView = {
  granted: { tokens: null, costMicros: null, calls: null },
  spent: NOTHING,
  reserved: NOTHING
}

export const budgetOf = (context: AssistantContext | undefined): BudgetView => {
  if (context === undefined) return UNKNOWN
  const account = accountOf(context)
  const gone = used(account)
  const { granted, spent } = account
  const reserved = {
    tokens: gone.tokens - spent.tokens,
    costMicros: gone.costMicros - spent.costMicros,
    calls: gone.calls - spent.calls
  }
  return { granted, spent, reserved }
}

/** The wait for a model whose server is away. It ends by itself. */
export interface OutageView {
  /** Host and port of the server. */
  readonly server: string
  /** Those of other models that would do as well, where it has several: an answer of any ends the wait. */
  readonly others?: ReadonlyArray<string>
  /** The first failure, in milliseconds since the epoch. */
  readonly since: number
  /** Why the last call failed, or was not sent, in one line. */
  readonly reason: string
  /** Failures in a row. */
  readonly tries: number
  /** When it is tried again at the latest; absent while it is being tried. */
  readonly nextTry?: number
}

/** What a list says of an assistant. */
export interface AssistantSummary {
  /** Its id. */
  readonly id: string
  /** The name of the definition that it was created from. */
  readonly definition: string
  /** The path of the machine state, e.g. `awake.idle`. */
  readonly state: string
  /** Ticks begun since creation. */
  readonly ticks: number
  /** The number of the highest claim ever granted. */
  readonly epoch: number
  /** Accepted envelopes that have not been handled. */
  readonly waiting: number
  /** The approvals that are asked for, the oldest first. */
  readonly approvals: ReadonlyArray<{ readonly approval: string; readonly tool: string; readonly call: string }>
  /** What it may spend, where anything bounds it. */
  readonly budget?: BudgetView
  /** Sub-agents that have not ended. */
  readonly subAgents: number
  /** Why it is halted. */
  readonly haltReason?: string
  /** Set while it waits for its model. */
  readonly outage?: OutageView
  /** Commits since creation. */
  readonly commits: number
}

/** An assistant as a person wants to see it. */
export interface AssistantView extends AssistantSummary {
  /** What it is doing in one word, e.g. `awake` or `dreaming`. */
  readonly mode: Mode
  /** Events that mean something in this state: what a page may offer. */
  readonly accepts: ReadonlyArray<EventType>
  /** Lanes of the mailbox that are heard. */
  readonly receives: ReadonlyArray<Lane>
  /** The tick in hand, or the last one. */
  readonly tick: number
  /** The model call of the tick, from 1 on; 0 before the first. */
  readonly iteration: number
  /** Work that was started and has not ended. */
  readonly jobs: ReadonlyArray<string>
  /** What will happen by itself, and when, in milliseconds since the epoch. */
  readonly timers: ReadonlyArray<{ readonly name: string; readonly dueAt: number }>
}

const approvalsOf = ({ calls, iteration, tick }: AssistantContext): AssistantView["approvals"] =>
  calls.flatMap(({ approval, phase, tool }, index) =>
    phase === "asking" && approval !== undefined ? [{ approval, tool, call: callId(tick, iteration, index) }] : []
  )

const boundsOf = (context: AssistantContext): { readonly budget?: BudgetView } =>
  isBounded(accountOf(context)) ? { budget: budgetOf(context) } : {}

const outageOf = (
  { outage }: AssistantContext,
  { receives, status, timers }: AssistantRecord["state"]
): { readonly outage?: OutageView } => {
  if (outage === null || receives.length === 0 || status === "halted") return {}
  const { others, reason, server, since, tries } = outage
  const nextTry = timers.find(({ name }) => name === timerOfWait(status))?.dueAt
  return { outage: { server, since, reason, tries, ...defined({ others, nextTry }) } }
}

const UNREADABLE = "its snapshot can not be read"

const summed = (
  { address, epoch, state, version, waiting }: AssistantRecord,
  context: AssistantContext | undefined
): AssistantSummary => {
  const haltReason = context === undefined ? UNREADABLE : context.haltReason
  return {
    id: address.assistant,
    definition: state.definition,
    state: state.status,
    ticks: context?.tick ?? 0,
    epoch,
    waiting,
    approvals: context === undefined ? [] : approvalsOf(context),
    ...(context === undefined ? {} : boundsOf(context)),
    subAgents: context === undefined ? 0 : context.subAgents.filter(isOpen).length,
    ...defined({ haltReason: haltReason === null || state.status !== "halted" ? undefined : haltReason }),
    ...(context === undefined ? {} : outageOf(context, state)),
    commits: version
  }
}

/** What a list says of a stored assistant: a part of its view, for a fraction of the work. */
export const summaryOf = (record: AssistantRecord): AssistantSummary =>
  summed(record, storedContext(record.state.snapshot))

/** The view of a stored assistant. */
export const viewOf = (record: AssistantRecord): AssistantView => {
  const { state } = record
  const restored = restore(state.snapshot)
  const context = Result.isSuccess(restored) ? contextOf(restored.success) : undefined
  return {
    ...summed(record, context),
    mode: modeOf(state.status),
    accepts: Result.isSuccess(restored) ? acceptsOf(restored.success) : [],
    receives: state.receives,
    tick: context?.tick ?? 0,
    iteration: context?.iteration ?? 0,
    jobs: state.jobs.map(({ name }) => name),
    timers: state.timers.map(({ dueAt, name }) => ({ name, dueAt }))
  }
}
