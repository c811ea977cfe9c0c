// Steps: from one phase of a sub-agent to the next, and the parent's account with it.
// Owns settlement, retries and the end of the whole subtree. Leaves admission to admission.ts, the states in which steps
// are taken to the chart.
// S1  A line and its grant begin and end in the same step: there is no grant without an open line, nor the other way.
// S2  News of a sub-agent that is not open under that number of tries changes nothing.
// S3  A call that waits for a sub-agent is answered when the last try has ended, once.
// S4  An assistant that retires orders its open sub-agents to retire, and counts their grants as spent.

import { defined } from "@reverie/protocol"
import { type Bound, grantable, NOTHING, settleGrant } from "../budget/account.ts"
import { callId, inPhase, movedTo } from "../events.ts"
import { type AssistantContext, settingsNow } from "../context.ts"
import { accountOf, millisOf, opened, openLines, type Step, tooSmall } from "./admission.ts"
import { creationJob, grantKey, isOpen, type News, type Order, type SubAgent } from "./sub-agent.ts"

/** Ended lines that a snapshot keeps for its readers. */
const KEPT_ENDS = 2

/** The call of the tick in hand that waits for this sub-agent; -1 for none. */
const waitingFor = ({ calls, iteration, tick }: AssistantContext, call: string): number =>
  inPhase(calls, "waiting").find((index) => callId(tick, iteration, index) === call) ?? -1

const lineOf = (context: AssistantContext, call: string, tries?: number): SubAgent | undefined =>
  openLines(context).find((line) => line.call === call && (tries === undefined || line.tries === tries))

const replaced = ({ subAgents }: AssistantContext, line: SubAgent): ReadonlyArray<SubAgent> =>
  subAgents.map((each) => (each.call === line.call ? line : each))

/** Its creation is over: the task goes out with this very commit. */
export const created = (context: AssistantContext, call: string, isHalted: boolean): Step | undefined => {
  const line = lineOf(context, call)
  if (line?.phase !== "spawning") return undefined
  const halt: ReadonlyArray<Order> = isHalted
    ? [{ order: "tell", verb: "halt", to: [named(line)], reason: "the assistant it works for is halted" }]
    : []
  return {
    change: { subAgents: replaced(context, { ...line, phase: "running" }) },
    orders: [{ order: "stop", name: creationJob(call) }, ...halt]
  }
}

/** Its creation has failed: whether it is in the world or not, it never had its task. */
export const planned = (context: AssistantContext, call: string): Step | undefined => {
  const line = lineOf(context, call)
  if (line?.phase !== "spawning") return undefined
  const { change, orders } = closed(context, line, "failed", NOTHING)
  const index = waitingFor(context, call)
  const tell: Order = { order: "tell", verb: "retire", to: [named(line)], reason: "its creation failed" }
  if (index < 0) return { change, orders: [...orders, tell] }
  return {
    change: { ...change, calls: movedTo(context.calls, [index], "failed") },
    orders: [...orders, tell, { order: "refuse", index, reason: PLANNED }]
  }
}

const PLANNED = "The sub-agent could not be brought into the world; nothing of the task was done."

const named = ({ call, tries }: SubAgent) => ({ call, tries })

const stopping = ({ call, phase }: SubAgent): ReadonlyArray<Order> =>
  phase === "spawning" ? [{ order: "stop", name: creationJob(call) }] : []

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
  const end: SubAgent = { ...line, phase, ...defined({ granted }), spent: gone }
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
  const { subAgentGraceMs } = settingsNow(context)
  const { call, tries } = line
  return {
    change: { subAgents: replaced(context, { ...line, phase: "retiring" }) },
    orders: [
      ...stopping(line),
      { order: "cancel", id: `due.${call}` },
      { order: "tell", verb: "retire", to: [named(line)], reason },
      { order: "timer", id: `lost.${call}`, delayMillis: subAgentGraceMs, news: { what: "lost", call, tries } }
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

/** Undefined when the news belongs to no sub-agent. */
export const heardNews = (context: AssistantContext, news: News): Step | undefined => {
  switch (news.what) {
    case "reported":
      return heardReport(context, news)
    case "late": {
      const { assignment } = context
      return assignment === null || assignment.late
        ? undefined
        : { change: { assignment: { ...assignment, late: true } }, orders: [] }
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

/** The assistant retires, and every sub-agent below it. */
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
