// Steps: from one phase of a sub-agent to the next, and the parent's account with it.
// Owns admission, settlement, retries and the end of the whole subtree. Leaves the states in which they are heard to the
// chart.
// S1  A line and its grant begin and end in the same step: there is no grant without an open line, nor the other way.
// S2  News of a sub-agent that is not open under that number of tries changes nothing.
// S3  A call that waits for a sub-agent is answered when the last try has ended, once.
// S4  Whoever leaves tells all that are open to retire, and counts them as spent whole.
// S5  What is refused changes nothing but the call.

import {
  type Account,
  type Bound,
  dimensions,
  type Dimension,
  grant,
  grantable,
  NOTHING,
  openAccount,
  regranted,
  remaining,
  settleGrant
} from "../budget/index.ts"
import { callId, inPhase, movedTo } from "../calls.ts"
import { type AssistantContext, patternNow, settingsNow } from "../context.ts"
import type { Settings } from "../settings.ts"
import {
  birthJob,
  type DelegateRequest,
  grantKey,
  isOpen,
  type News,
  type Order,
  type DelegationRefusal,
  type SubAgent
} from "./sub-agent.ts"

export interface Step {
  readonly change: Partial<AssistantContext>
  readonly orders: ReadonlyArray<Order>
}

/** Less than this no sub-agent can do anything with. */
export const LEAST_GRANT = { tokens: 1_000, costMicros: 1, calls: 1, millis: 1_000 }

/** Ended lines that a snapshot keeps, for whoever looks. */
const KEPT_ENDS = 2

const bound = (setting: number): number | null => (setting === 0 ? null : setting)

/** What settings grant an assistant that nobody sent. */
const ownBound = ({ budgetCalls, budgetCostMicros, budgetTokens }: Settings): Bound => ({
  tokens: bound(budgetTokens),
  costMicros: bound(budgetCostMicros),
  calls: bound(budgetCalls)
})

/** The account as it stands: that of a root follows its settings. */
export const accountOf = (context: AssistantContext): Account => {
  const { account, errand } = context
  if (errand !== null && account !== null) return account
  const own = ownBound(settingsNow(context))
  return account === null ? openAccount(own) : regranted(account, own)
}

const openLines = ({ subAgents }: AssistantContext): ReadonlyArray<SubAgent> => subAgents.filter(isOpen)

/** Levels that are left below this assistant. */
export const depthLeft = (context: AssistantContext): number => {
  const { subAgentDepth } = settingsNow(context)
  return context.errand === null ? subAgentDepth : Math.min(context.errand.depth, subAgentDepth)
}

/** The call of the tick in hand that waits for this sub-agent; -1 for none. */
const waitingFor = ({ calls, iteration, tick }: AssistantContext, call: string): number =>
  inPhase(calls, "waiting").find((index) => callId(tick, iteration, index) === call) ?? -1

const refusal = (context: AssistantContext, more: Omit<DelegationRefusal, "success" | "open">): DelegationRefusal => ({
  success: false,
  ...more,
  open: openLines(context).map(({ call }) => call)
})

const YOURSELF = "Do the work yourself, or ask for less."

/** Without a wish of its own, a sub-agent of somebody with a bound gets half of what is left at most. */
const wishOf = (context: AssistantContext, account: Account, request: DelegateRequest): Bound => {
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

const tooSmall = (context: AssistantContext, granted: Bound, millis: number): DelegationRefusal | undefined => {
  const short = dimensions.find((dimension) => (granted[dimension] ?? Infinity) < LEAST_GRANT[dimension])
  const what = short ?? (millis < LEAST_GRANT.millis ? "time" : undefined)
  if (what === undefined) return undefined
  const left = what === "time" ? millis : (granted[what] ?? 0)
  const limit = what === "time" ? LEAST_GRANT.millis : LEAST_GRANT[what]
  return refusal(context, { error: "budget_too_small", what, limit, left, instead: YOURSELF })
}

const millisOf = (context: AssistantContext, { at, millis = Infinity }: Pick<DelegateRequest, "at" | "millis">) => {
  const { errand } = context
  const left = errand === null ? Infinity : Math.max(0, errand.until - at)
  return Math.min(settingsNow(context).subAgentMillis, millis, left)
}

interface Place {
  readonly call: string
  readonly tries: number
  readonly granted: Bound
  readonly millis: number
  readonly at: number
}

/** Opens a line with its grant. */
const opened = (context: AssistantContext, account: Account, place: Place): Step | undefined => {
  const { at, call, granted, millis, tries } = place
  const next = grant(account, grantKey(place), granted)
  if (next === undefined) return undefined
  const line: SubAgent = { call, tries, phase: "spawning", millis, until: at + millis }
  const others = context.subAgents.filter((each) => each.call !== call)
  return {
    change: { account: next, subAgents: [...others, line] },
    orders: [
      { order: "spawn", name: birthJob(call), call },
      { order: "timer", id: `due.${call}`, delayMillis: millis, news: { what: "due", call, tries } }
    ]
  }
}

/** Hands a task on, or says why not. `index` is the call of this iteration that asks; -1 when nobody of it does. */
export const hired = (context: AssistantContext, request: DelegateRequest, index: number): Step => {
  const { at, call } = request
  const calls = (phase: "waiting" | "refused") => (index < 0 ? {} : { calls: movedTo(context.calls, [index], phase) })
  const account = accountOf(context)
  const granted = grantable(account, wishOf(context, account, request))
  const millis = millisOf(context, request)
  const refused = notAllowed(context) ?? tooSmall(context, granted, millis)
  const step = refused === undefined ? opened(context, account, { call, tries: 1, granted, millis, at }) : undefined
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

const lineOf = (context: AssistantContext, call: string, tries?: number): SubAgent | undefined =>
  openLines(context).find((line) => line.call === call && (tries === undefined || line.tries === tries))

const replaced = ({ subAgents }: AssistantContext, line: SubAgent): ReadonlyArray<SubAgent> =>
  subAgents.map((each) => (each.call === line.call ? line : each))

/** Its birth is over: the task goes out with this very commit. */
export const born = (context: AssistantContext, call: string, isHalted: boolean): Step | undefined => {
  const line = lineOf(context, call)
  if (line?.phase !== "spawning") return undefined
  const halt: ReadonlyArray<Order> = isHalted
    ? [{ order: "tell", verb: "halt", to: [named(line)], reason: "the assistant it works for is halted" }]
    : []
  return {
    change: { subAgents: replaced(context, { ...line, phase: "running" }) },
    orders: [{ order: "stop", name: birthJob(call) }, ...halt]
  }
}

/** Its birth has failed: whether it is in the world or not, it never had its task. */
export const unborn = (context: AssistantContext, call: string): Step | undefined => {
  const line = lineOf(context, call)
  if (line?.phase !== "spawning") return undefined
  const { change, orders } = closed(context, line, "failed", NOTHING)
  const index = waitingFor(context, call)
  const tell: Order = { order: "tell", verb: "retire", to: [named(line)], reason: "its birth failed" }
  if (index < 0) return { change, orders: [...orders, tell] }
  return {
    change: { ...change, calls: movedTo(context.calls, [index], "failed") },
    orders: [...orders, tell, { order: "refuse", index, reason: UNBORN }]
  }
}

const UNBORN = "The sub-agent could not be brought into the world; nothing of the task was done."

const named = ({ call, tries }: SubAgent) => ({ call, tries })

const stopping = ({ call, phase }: SubAgent): ReadonlyArray<Order> =>
  phase === "spawning" ? [{ order: "stop", name: birthJob(call) }] : []

/** The line ends; `spent` is not said where it is not known. */
const closed = (context: AssistantContext, line: SubAgent, phase: SubAgent["phase"], spent?: SubAgent["spent"]) => {
  const before = accountOf(context)
  const key = grantKey(line)
  const account = settleGrant(before, key, spent)
  const granted = before.out[key]
  const gone = {
    tokens: account.spent.tokens - before.spent.tokens,
    costMicros: account.spent.costMicros - before.spent.costMicros,
    calls: account.spent.calls - before.spent.calls
  }
  const end: SubAgent = { ...line, phase, ...(granted === undefined ? {} : { granted }), spent: gone }
  const others = context.subAgents.filter(({ call }) => call !== line.call)
  const ended = others.filter((each) => !isOpen(each)).slice(-(KEPT_ENDS - 1))
  const subAgents = [...others.filter(isOpen), ...ended, end]
  const orders: ReadonlyArray<Order> = [
    ...stopping(line),
    { order: "cancel", id: `due.${line.call}` },
    { order: "cancel", id: `lost.${line.call}` }
  ]
  return { context: { ...context, account, subAgents }, change: { account, subAgents }, orders, granted }
}

/** Another one in the place of one that failed; undefined when none may be sent. */
const retried = (context: AssistantContext, line: SubAgent, granted: Bound, at: number): Step | undefined => {
  const { subAgentRetries } = settingsNow(context)
  if (line.tries > subAgentRetries) return undefined
  const millis = millisOf(context, { at, millis: line.millis })
  const account = accountOf(context)
  const again = grantable(account, granted)
  if (tooSmall(context, again, millis) !== undefined) return undefined
  return opened(context, account, { call: line.call, tries: line.tries + 1, granted: again, millis, at })
}

const GIVEN_UP = "The sub-agent failed, and the task is given up. Do not hand it on again."

const heardReport = (context: AssistantContext, news: Extract<News, { what: "reported" }>): Step | undefined => {
  const line = lineOf(context, news.call, news.tries)
  if (line === undefined) return undefined
  const { change, context: after, granted, orders } = closed(context, line, news.end, news.spent)
  const isFailed = news.end === "failed"
  const again =
    isFailed && line.phase === "running" && granted !== undefined ? retried(after, line, granted, news.at) : undefined
  if (again !== undefined) return { change: { ...change, ...again.change }, orders: [...orders, ...again.orders] }
  const index = waitingFor(context, news.call)
  if (index < 0) return { change, orders }
  const answer: Order =
    isFailed && settingsNow(context).subAgentGiveUp
      ? { order: "refuse", index, reason: GIVEN_UP }
      : { order: "answer", index }
  return {
    change: { ...change, calls: movedTo(context.calls, [index], isFailed ? "failed" : "done") },
    orders: [...orders, answer]
  }
}

/** Tells a sub-agent to end; it has a while to say what it spent. */
const sentAway = (context: AssistantContext, line: SubAgent, reason: string): Step => {
  const { subAgentGraceMillis } = settingsNow(context)
  const { call, tries } = line
  return {
    change: { subAgents: replaced(context, { ...line, phase: "retiring" }) },
    orders: [
      ...stopping(line),
      { order: "cancel", id: `due.${call}` },
      { order: "tell", verb: "retire", to: [named(line)], reason },
      { order: "timer", id: `lost.${call}`, delayMillis: subAgentGraceMillis, news: { what: "lost", call, tries } }
    ]
  }
}

const LOST = "The sub-agent did not say how it ended, in time. What it was granted counts as spent."

const lost = (context: AssistantContext, line: SubAgent): Step => {
  const { change, orders } = closed(context, line, "lost")
  const index = waitingFor(context, line.call)
  if (index < 0) return { change, orders }
  return {
    change: { ...change, calls: movedTo(context.calls, [index], "failed") },
    orders: [...orders, { order: "refuse", index, reason: LOST }]
  }
}

/** Undefined when it is news of nobody. */
export const heardNews = (context: AssistantContext, news: News): Step | undefined => {
  switch (news.what) {
    case "reported":
      return heardReport(context, news)
    case "late": {
      const { errand } = context
      return errand === null || errand.late ? undefined : { change: { errand: { ...errand, late: true } }, orders: [] }
    }
    default: {
      const line = lineOf(context, news.call, news.tries)
      if (line === undefined || (line.phase === "retiring") !== (news.what === "lost")) return undefined
      return news.what === "lost" ? lost(context, line) : sentAway(context, line, "its time is over")
    }
  }
}

/** Ends the sub-agent of a call before its time; undefined when there is none to end. */
export const dismissed = (context: AssistantContext, call: string, reason: string): Step | undefined => {
  const line = lineOf(context, call)
  return line === undefined || line.phase === "retiring" ? undefined : sentAway(context, line, reason)
}

/** Ends those whose call no longer waits for them. */
export const unwaited = (context: AssistantContext): Step => {
  const { calls, iteration, tick } = context
  const given = calls.flatMap(({ phase }, index) => (phase === "waiting" ? [] : [callId(tick, iteration, index)]))
  return given.reduce<Step>(
    ({ change, orders }, call) => {
      const step = dismissed({ ...context, ...change }, call, "nobody waits for it any more")
      return step === undefined
        ? { change, orders }
        : { change: { ...change, ...step.change }, orders: [...orders, ...step.orders] }
    },
    { change: {}, orders: [] }
  )
}

/** A halt, or the end of one, goes through the whole subtree. */
export const told = (context: AssistantContext, verb: "halt" | "resume"): Step => {
  const to = openLines(context).filter(({ phase }) => phase === "running")
  const reason = verb === "halt" ? "the assistant it works for is halted" : "the assistant it works for goes on"
  return { change: {}, orders: to.length === 0 ? [] : [{ order: "tell", verb, to: to.map(named), reason }] }
}

/** The assistant leaves for good, and everybody below it. */
export const left = (context: AssistantContext): Step => {
  const open = openLines(context)
  if (open.length === 0) return { change: {}, orders: [] }
  const ends = open.reduce(
    ({ context: before, orders }, line) => {
      const { context: after, orders: more } = closed(before, line, "lost")
      return { context: after, orders: [...orders, ...more] }
    },
    { context, orders: [] as ReadonlyArray<Order> }
  )
  const { account, subAgents } = ends.context
  const reason = "the assistant it works for has retired"
  return {
    change: { account, subAgents },
    orders: [...ends.orders, { order: "tell", verb: "retire", to: open.map(named), reason }]
  }
}

/** Its one task is done: a sub-agent does not wait for another. */
export const isErrandOver = ({ envelope, errand, tick }: AssistantContext): boolean =>
  errand !== null && envelope === null && tick > 0
