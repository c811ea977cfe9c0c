// SubAgents: sub-agents as they are stored: who is below whom, and what became of their budgets.
// Owns reading the tree and a report. Leaves handing tasks on to ordering.ts.
// K1  A reading changes nothing; what can not be read is left out of the tree.

import {
  accountOf,
  type AssistantContext,
  type Bound,
  contextOf,
  type Assignment,
  isOpen,
  restore,
  used
} from "@reverie/assistant"
import type { AssistantRecord } from "@reverie/ledger"
import { type Amount, type AssignmentReport, type Entry, defined } from "@reverie/protocol"
import { subAgentId } from "@reverie/runtime"
import * as Result from "effect/Result"

/** What an assistant may spend; null where nothing bounds it. */
export interface BudgetView {
  readonly granted: Bound
  readonly spent: Amount
  /** Set aside for a model call under way, and promised to sub-agents. */
  readonly reserved: Amount
}

export interface SubAgentView extends BudgetView {
  readonly id: string
  readonly call: string
  readonly tries: number
  /** As the one who sent it sees it: `running`, `completed`, `lost`, … */
  readonly phase: string
  /** Its own machine state; `planned` before its creation. */
  readonly state: string
  /** The definition that it is of, and what narrows it; not there before its creation. */
  readonly definition?: string
  readonly assignment?: Assignment
  /** Its hard deadline, in milliseconds since the epoch. */
  readonly until: number
  /** What went back to the one who sent it, once it has ended. */
  readonly returned?: Bound
  readonly subAgents: ReadonlyArray<SubAgentView>
}

export interface SubAgentsView extends BudgetView {
  readonly id: string
  readonly subAgents: ReadonlyArray<SubAgentView>
}

export type Inspect = (id: string) => Promise<AssistantRecord | undefined>

export const contextIn = (record: AssistantRecord | undefined): AssistantContext | undefined => {
  const restored = record === undefined ? undefined : restore(record.state.snapshot)
  return restored === undefined || Result.isFailure(restored) ? undefined : contextOf(restored.success)
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

const back = (granted: number | null, spent: number): number | null =>
  granted === null ? null : Math.max(0, granted - spent)

const returnedOf = (granted: Bound, spent: Amount): Bound => ({
  tokens: back(granted.tokens, spent.tokens),
  costMicros: back(granted.costMicros, spent.costMicros),
  calls: back(granted.calls, spent.calls)
})

const below = (id: string, context: AssistantContext, inspect: Inspect): Promise<ReadonlyArray<SubAgentView>> =>
  Promise.all(
    context.subAgents.map(async (line): Promise<SubAgentView> => {
      const { call, granted, phase, spent, tries, until } = line
      const child = subAgentId(id, call, tries)
      const record = await inspect(child)
      const own = contextIn(record)
      const returned =
        isOpen(line) || granted === undefined || spent === undefined ? {} : { returned: returnedOf(granted, spent) }
      return {
        id: child,
        call,
        tries,
        phase,
        state: record?.state.status ?? "planned",
        ...defined({
          definition: record === undefined ? undefined : record.state.definition,
          assignment: own === undefined || own.assignment === null ? undefined : own.assignment
        }),
        until,
        ...budgetOf(own),
        ...returned,
        subAgents: own === undefined ? [] : await below(child, own, inspect)
      }
    })
  )

/** An assistant and everybody below it, as far as its snapshot still tells of them. */
export const subAgentTreeOf = async (id: string, inspect: Inspect): Promise<SubAgentsView | undefined> => {
  const context = contextIn(await inspect(id))
  return context === undefined ? undefined : { id, ...budgetOf(context), subAgents: await below(id, context, inspect) }
}

/** The report that an entry sends home; undefined for any other. */
export const reportIn = ({ sends = [] }: Entry): AssignmentReport | undefined => {
  for (const { event } of sends) if (event.type === "report" && event.assignment !== undefined) return event.assignment
  return undefined
}
