// Admission: whether a task may be handed on, and with what grant.
// Owns the account as it stands, the checks in their order, and what is refused in which words. Leaves what becomes of a
// sub-agent afterwards to steps.ts.
// A1  What is refused changes nothing but the call.
// A2  A grant is never more than was wished for, than the settings allow, and than is left; time among it.
// A3  A call has one open sub-agent at most, also while another try of it is under way.

import {
  type Account,
  type Bound,
  dimensions,
  type Dimension,
  grant,
  grantable,
  openAccount,
  regranted,
  remaining
} from "../budget/account.ts"
import { movedTo } from "../events.ts"
import { type AssistantContext, patternNow, settingsNow } from "../context.ts"
import type { Settings } from "../settings.ts"
import {
  creationJob,
  type DelegateRequest,
  type DelegationRefusal,
  grantKey,
  isOpen,
  type Order,
  type SubAgent
} from "./sub-agent.ts"

export interface Step {
  readonly change: Partial<AssistantContext>
  readonly orders: ReadonlyArray<Order>
}

/** Less than this no sub-agent can do anything with. */
const LEAST_GRANT = { tokens: 1_000, costMicros: 1, calls: 1, millis: 1_000 }

const bound = (setting: number): number | null => (setting === 0 ? null : setting)

/** The bound that settings grant to an assistant without a parent. */
const ownBound = ({ budgetCalls, budgetCostMicros, budgetTokens }: Settings): Bound => ({
  tokens: bound(budgetTokens),
  costMicros: bound(budgetCostMicros),
  calls: bound(budgetCalls)
})

/** The account as it stands: that of a root follows its settings, and what a person said before them. */
export const accountOf = (context: AssistantContext): Account => {
  const { account, assignment, budget } = context
  if (assignment !== null && account !== null) return account
  const own = { ...ownBound(settingsNow(context)), ...budget }
  return account === null ? openAccount(own) : regranted(account, own)
}

export const openLines = ({ subAgents }: AssistantContext): ReadonlyArray<SubAgent> => subAgents.filter(isOpen)

/** Levels that are left below this assistant. */
export const depthLeft = (context: AssistantContext): number => {
  const { subAgentDepth } = settingsNow(context)
  return context.assignment === null ? subAgentDepth : Math.min(context.assignment.depth, subAgentDepth)
}

const refusal = (context: AssistantContext, more: Omit<DelegationRefusal, "success" | "open">): DelegationRefusal => ({
  success: false,
  ...more,
  open: openLines(context).map(({ call }) => call)
})

const YOURSELF = "Do the work yourself, or ask for less."

/** Without a request of its own, a sub-agent of a bounded parent gets at most half of what is left. */
const requestOf = (context: AssistantContext, account: Account, request: DelegateRequest): Bound => {
  const { subAgentCalls, subAgentCostMicros, subAgentTokens } = settingsNow(context)
  const left = remaining(account)
  const most = { tokens: subAgentTokens, calls: subAgentCalls, costMicros: bound(subAgentCostMicros) }
  const wished = (dimension: Dimension): number | null => {
    const [limit, own, asked] = [most[dimension], left[dimension], request[dimension]]
    if (asked !== undefined) return limit === null ? asked : Math.min(limit, asked)
    if (own === null) return limit
    return Math.min(limit ?? Infinity, Math.ceil(own / 2))
  }
  return { tokens: wished("tokens"), calls: wished("calls"), costMicros: wished("costMicros") }
}

const notAllowed = (context: AssistantContext): DelegationRefusal | undefined => {
  const { subAgentBudget } = settingsNow(context)
  if (!patternNow(context).subAgents) {
    return refusal(context, {
      error: "sub_agents_not_allowed",
      what: "permission",
      instead: "Do the work yourself: no sub-agents are allowed in this tick."
    })
  }
  if (depthLeft(context) < 1) {
    return refusal(context, {
      error: "sub_agents_not_allowed",
      what: "depth",
      limit: 0,
      left: 0,
      instead: "Do the work yourself: sub-agents of yours may not go deeper."
    })
  }
  if (openLines(context).length < subAgentBudget) return undefined
  return refusal(context, {
    error: "sub_agents_full",
    what: "concurrent",
    limit: subAgentBudget,
    left: 0,
    instead: "Wait until one of the open ones has reported, end one with cancel_task, or do the work yourself."
  })
}

export const tooSmall = (context: AssistantContext, granted: Bound, millis: number): DelegationRefusal | undefined => {
  const short = dimensions.find((dimension) => (granted[dimension] ?? Infinity) < LEAST_GRANT[dimension])
  const what = short ?? (millis < LEAST_GRANT.millis ? "time" : undefined)
  if (what === undefined) return undefined
  const left = what === "time" ? millis : (granted[what] ?? 0)
  const limit = what === "time" ? LEAST_GRANT.millis : LEAST_GRANT[what]
  return refusal(context, { error: "budget_too_small", what, limit, left, instead: YOURSELF })
}

export const millisOf = (
  context: AssistantContext,
  { at, millis = Infinity }: Pick<DelegateRequest, "at" | "millis">
) => {
  const { assignment } = context
  const left = assignment === null ? Infinity : Math.max(0, assignment.until - at)
  return Math.min(settingsNow(context).subAgentMs, millis, left)
}

interface Place {
  readonly call: string
  readonly tries: number
  readonly granted: Bound
  readonly millis: number
  readonly at: number
}

/** Opens a line with its grant. */
export const opened = (context: AssistantContext, account: Account, place: Place): Step | undefined => {
  const { at, call, granted, millis, tries } = place
  const next = grant(account, grantKey(place), granted)
  if (next === undefined) return undefined
  const line: SubAgent = { call, tries, phase: "spawning", millis, until: at + millis }
  const others = context.subAgents.filter((each) => each.call !== call)
  return {
    change: { account: next, subAgents: [...others, line] },
    orders: [
      { order: "spawn", name: creationJob(call), call },
      { order: "timer", id: `due.${call}`, delayMillis: millis, news: { what: "due", call, tries } }
    ]
  }
}

/** Hands a task on, or says why not. `index` is the call of this iteration that asks; -1 when no one of it does. */
export const hired = (context: AssistantContext, request: DelegateRequest, index: number): Step => {
  const { at, call } = request
  const calls = (phase: "waiting" | "refused") => (index < 0 ? {} : { calls: movedTo(context.calls, [index], phase) })
  const account = accountOf(context)
  const granted = grantable(account, requestOf(context, account, request))
  const millis = millisOf(context, request)
  const refused = notAllowed(context) ?? tooSmall(context, granted, millis)
  const isUnderWay = openLines(context).some((line) => line.call === call)
  const step =
    refused === undefined && !isUnderWay ? opened(context, account, { call, tries: 1, granted, millis, at }) : undefined
  if (step !== undefined) return { ...step, change: { ...step.change, ...calls("waiting") } }
  return refusing(
    call,
    index,
    refused ?? refusal(context, { error: "sub_agents_full", what: "concurrent", instead: "It is under way already." }),
    calls("refused")
  )
}

const refusing = (call: string, index: number, why: DelegationRefusal, change: Step["change"]): Step => ({
  change,
  orders: [{ order: "refuseDelegation", call, index, refusal: why }]
})

/** A halted assistant hands nothing on. */
export const hiredWhileHalted = (context: AssistantContext, { call }: DelegateRequest): Step =>
  refusing(call, -1, refusal(context, { error: "halted", what: "permission", instead: "Resume it first." }), {})
