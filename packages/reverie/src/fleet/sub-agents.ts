// SubAgents: `fleet.subAgents`: who is below whom, what became of their budgets, and handing tasks on from outside.
// D1  `delegate` resolves when the task was admitted and its grant is durable, and rejects with the refusal when it was not.
// D2  A report is that of the last try.
// D3  What is waited for comes with a commit of the parent, so it looks again after notices about the parent only.
// K1  A reading changes nothing; what can not be read is left out of the tree.

import {
  accountOf,
  type AssistantContext,
  type Bound,
  contextOf,
  type DelegationRefusal,
  type Assignment,
  isBounded,
  isOpen,
  restore,
  settingsNow
} from "@reverie/assistant"
import type { AssistantRecord } from "@reverie/ledger"
import {
  addressKey,
  type Amount,
  type AssignmentReport,
  type AssignmentRequest,
  type Entry,
  defined,
  type Receipt
} from "@reverie/protocol"
import { lookedFor, orderCall, subAgentId } from "@reverie/runtime"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { BudgetRefused, DelegationRefused } from "../errors.ts"
import type { Services } from "../opening/deployment.ts"
import { usageSince } from "../views/usage.ts"
import { type BudgetView, budgetOf, viewOf } from "../views/view.ts"
import type { Post } from "./ordering.ts"
import type { Core } from "./entry-source.ts"

/** How many sub-agents an assistant may have at once, and how many it has. */
export interface SubAgentSlots {
  /** It may have sub-agents at all. */
  readonly enabled: boolean
  /** The sources' `sub_agent_budget`. */
  readonly budget: number
  /** Those that have not ended. */
  readonly open: number
}

/** One sub-agent, as its parent and the store see it. */
export interface SubAgentView extends BudgetView {
  /** Its id: it is an assistant of its own. */
  readonly id: string
  /** The tool call that sent it. */
  readonly call: string
  /** How often the task was handed on, this time included. */
  readonly tries: number
  /** As the one who sent it sees it: `running`, `completed`, `lost`, … */
  readonly phase: string
  /** Its own machine state; `planned` before its creation. */
  readonly state: string
  /** The definition that it is of, and what narrows it; not there before its creation. */
  readonly definition?: string
  /** What it was asked to do. */
  readonly assignment?: Assignment
  /** Its hard deadline, in milliseconds since the epoch. */
  readonly until: number
  /** What went back to the one who sent it, once it has ended. */
  readonly returned?: Bound
  /** Not there before its creation. */
  readonly slots?: SubAgentSlots
  /** Those that it sent itself. */
  readonly subAgents: ReadonlyArray<SubAgentView>
}

/** An assistant with its budget and its sub-agents. */
export interface SubAgentsView extends BudgetView {
  /** The id of the assistant. */
  readonly id: string
  /** How many it may have, and has. */
  readonly slots: SubAgentSlots
  /** Those it sent, the oldest first. */
  readonly subAgents: ReadonlyArray<SubAgentView>
}

export const contextIn = (record: AssistantRecord | undefined): AssistantContext | undefined => {
  const restored = record === undefined ? undefined : restore(record.state.snapshot)
  return restored === undefined || Result.isFailure(restored) ? undefined : contextOf(restored.success)
}

const slotsOf = (context: AssistantContext): SubAgentSlots => {
  const { subAgentBudget: budget, subAgents: enabled } = settingsNow(context)
  return { enabled, budget, open: context.subAgents.filter(isOpen).length }
}

const back = (granted: number | null, spent: number): number | null =>
  granted === null ? null : Math.max(0, granted - spent)

const returnedOf = (granted: Bound, spent: Amount): Bound => ({
  tokens: back(granted.tokens, spent.tokens),
  costMicros: back(granted.costMicros, spent.costMicros),
  calls: back(granted.calls, spent.calls)
})

/** An account without a bound counts what came back of sub-agents only: what it used itself is in the ledger. */
const budgetNow = async ({ address, run }: Core, id: string, context: AssistantContext): Promise<BudgetView> => {
  const budget = budgetOf(context)
  if (isBounded(accountOf(context))) return budget
  const { assistant, tenant } = address(id)
  const { calls, costMicros, tokens } = await run(usageSince(tenant, assistant, 0))
  const { spent } = budget
  const all = {
    tokens: spent.tokens + tokens,
    costMicros: spent.costMicros + costMicros,
    calls: spent.calls + calls
  }
  return { ...budget, spent: all }
}

const below = (id: string, context: AssistantContext, core: Core): Promise<ReadonlyArray<SubAgentView>> =>
  Promise.all(
    context.subAgents.map(async (line): Promise<SubAgentView> => {
      const { call, granted, phase, spent, tries, until } = line
      const child = subAgentId(id, call, tries)
      const record = await core.inspect(child)
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
        ...(own === undefined ? budgetOf(own) : await budgetNow(core, child, own)),
        ...returned,
        ...defined({ slots: own === undefined ? undefined : slotsOf(own) }),
        subAgents: own === undefined ? [] : await below(child, own, core)
      }
    })
  )

/** An assistant and everybody below it, as far as its snapshot still tells of them. */
const subAgentTreeOf = async (id: string, core: Core): Promise<SubAgentsView | undefined> => {
  const context = contextIn(await core.inspect(id))
  if (context === undefined) return undefined
  const budget = await budgetNow(core, id, context)
  return { id, slots: slotsOf(context), ...budget, subAgents: await below(id, context, core) }
}

/** The report that an entry sends home; undefined for any other. */
const reportIn = ({ sends = [] }: Entry): AssignmentReport | undefined => {
  for (const { event } of sends) if (event.type === "report" && event.assignment !== undefined) return event.assignment
  return undefined
}

/** A task that was handed on. */
export interface Delegated {
  /** The sub-agent that was sent first. */
  readonly child: string
  /** What stands for its call. */
  readonly call: string
  /** Resolves when it has ended, whichever way; undefined when it ended without a word. */
  readonly report: () => Promise<AssignmentReport | undefined>
}

/** The reading of `fleet.subAgents`. */
export interface SubAgentReadings {
  /** An assistant with its budget and every sub-agent below it; undefined when there is no such assistant. Rejects with IdInvalid. */
  readonly tree: (id: string) => Promise<SubAgentsView | undefined>
}

export const subAgentsIn = (core: Core): SubAgentReadings => ({
  tree: (id) => subAgentTreeOf(id, core)
})

/** What an assistant may spend; whole numbers of at least 0. */
export interface BudgetRequest {
  /** Tokens of prompts and replies together. */
  readonly tokens?: number | null
  /** Millionths of the currency. Refused where no one knows what its model costs. */
  readonly costMicros?: number | null
  /** Model calls. */
  readonly calls?: number | null
}

/** `fleet.subAgents`: the tree of sub-agents, what each may spend, and tasks that a program hands on or ends. */
export interface FleetSubAgents extends SubAgentReadings {
  /**
   * Hands a task on to a new sub-agent of an assistant, as its own `delegate_task` would. Resolves when the task was admitted
   * and its budget is durable. `id` is an idempotency key. Rejects with DelegationRefused and UnknownAssistant.
   * @example
   * const { report } = await fleet.subAgents.delegate("desk", "Find every ship that is due tomorrow.")
   * console.log((await report())?.summary)
   */
  readonly delegate: (
    parent: string,
    request: string | AssignmentRequest,
    options?: { readonly id?: string; readonly from?: string }
  ) => Promise<Delegated>
  /**
   * Bounds what an assistant may spend on model calls in its whole life, in the place of what its definition says: a number of each, null
   * for any amount; what is left out stays as it is. Costs are in millionths. Calls count from the first bound on, and one that is
   * under way is finished. With a budget it asks the model in its ticks only: it dreams and compacts by rules. Resolves when the order is
   * durable; `id` is an idempotency key. Rejects with BudgetRefused and UnknownAssistant.
   * @example await fleet.subAgents.setBudget("desk", { tokens: 500_000, costMicros: 2_000_000 })
   */
  readonly setBudget: (
    to: string,
    budget: BudgetRequest,
    options?: { readonly id?: string; readonly from?: string }
  ) => Promise<Receipt>
  /** Ends a sub-agent and everything below it; what it did not spend goes back. Rejects with UnknownAssistant. */
  readonly cancel: (child: string, reason?: string) => Promise<Receipt>
}

const causes: Readonly<Record<DelegationRefusal["what"], string>> = {
  permission: "its definition allows it no sub-agents (subAgents)",
  depth: "it is a sub-agent itself, and may go no deeper",
  concurrent: "all the sub-agents that it may have at once are at work",
  time: "too little time is left to it",
  tokens: "too few tokens are left of its budget",
  costMicros: "too little money is left of its budget",
  calls: "too few model calls are left of its budget"
}

/** A refusal is written for a model, as JSON; a person reads a sentence, with the code that a program looks for. */
const refusalText = (reason: string): string => {
  const said = Result.getOrUndefined(Result.try(() => JSON.parse(reason) as Partial<DelegationRefusal> | null))
  const { error, limit, what } = said ?? {}
  if (error === undefined || what === undefined) return reason
  const cause = error === "halted" ? "it is halted" : causes[what]
  return `${cause}${what === "concurrent" && limit !== undefined ? `: ${limit}` : ""} (${error})`
}

const MONTH_MILLIS = 30 * 86_400_000

/** Said at once; the runtime judges by the model itself when it hears the order. */
const assertBudget = async ({ address, inspect, run }: Core, id: string, { costMicros }: BudgetRequest) => {
  const record = await inspect(id)
  if (record === undefined) return
  if (!viewOf(record).accepts.includes("budget")) {
    const why =
      record.state.status === "retired" ? "it has retired" : "it is a sub-agent, whose budget is part of another's"
    throw new BudgetRefused({ message: `${id} takes no budget: ${why}` })
  }
  if (typeof costMicros !== "number") return
  const { assistant, tenant } = address(id)
  const since = (await run(Clock.currentTimeMillis)) - MONTH_MILLIS
  const { unpricedCalls } = await run(usageSince(tenant, assistant, since))
  if (unpricedCalls === 0) return
  const message = `${id} makes calls whose price no one knows: bound its tokens or calls, or say what its model costs in prices`
  throw new BudgetRefused({ message })
}

type RunWork = <A, E>(effect: Effect.Effect<A, E, Services>) => Promise<A>

export const openSubAgents = (core: Core, run: RunWork, post: Post): FleetSubAgents => {
  /** What a look finds, now or after a commit of this assistant. Rejects when the fleet ends, and with what the look does. */
  const found = <A>(id: string, look: () => Promise<A | undefined>): Promise<A> => {
    const key = addressKey(core.address(id))
    // A look fails as a run of the fleet does; its reason is passed on as it is.
    const looking = Effect.promise(() => look())
    return run(lookedFor(({ address }) => addressKey(address) === key, looking))
  }

  /** Why an order was refused; undefined when it was not. Waits until it was heard. */
  const refusal = async (parent: string, envelope: string): Promise<string | undefined> => {
    const { outcome, reason } = await found(parent, async () => {
      for await (const { entry } of core.newest(parent)) {
        const end = entry.settled?.find(({ id }) => id === envelope)
        if (end !== undefined) return end
      }
      return undefined
    })
    return outcome === "handled" ? undefined : (reason ?? outcome)
  }

  const lastReport = async (parent: string, call: string): Promise<AssignmentReport | undefined> => {
    let report: AssignmentReport | undefined
    for (let tries = 1; ; tries++) {
      const child = subAgentId(parent, call, tries)
      if ((await core.inspect(child)) === undefined) return report
      for await (const { entry } of core.newest(child)) {
        report = reportIn(entry)
        if (report !== undefined) break
      }
    }
  }

  const reported = async (parent: string, call: string): Promise<AssignmentReport | undefined> => {
    await found(parent, async () => {
      const line = contextIn(await core.inspect(parent))?.subAgents.find((each) => each.call === call)
      return line === undefined || !isOpen(line) ? true : undefined
    })
    return lastReport(parent, call)
  }

  return {
    ...subAgentsIn(core),
    delegate: async (parent, request, options = {}) => {
      const asked = typeof request === "string" ? { task: request } : request
      const { envelope } = await post(parent, { type: "delegate", ...asked }, { from: "person", ...options })
      const refused = await refusal(parent, envelope)
      if (refused !== undefined) {
        throw new DelegationRefused({
          message: `${parent} refused the task: ${refusalText(refused)}`
        })
      }
      const call = orderCall(envelope)
      return { call, child: subAgentId(parent, call, 1), report: () => reported(parent, call) }
    },
    setBudget: async (to, budget, options = {}) => {
      await assertBudget(core, to, budget)
      return post(to, { type: "budget", ...defined(budget) }, { from: "person", ...options })
    },
    cancel: (child, reason = "it was called back") =>
      post(child, { type: "retire", reason }, { from: "person", id: `cancel/${child}` })
  }
}
