// SubAgents: what a decision writes for sub-agents, and for the one that sent this one.
// Owns orders to halt, resume and retire, the report home, and removing the records of tasks. Leaves the decision itself to the
// statechart.
// Q1  Everything leaves with the commit of the decision, under an id that follows from it: a crash sends nothing twice.
// Q2  A sub-agent reports once, in the commit in which it retires.
// Q3  A refused order from outside is settled with the refusal.

import { contextOf, type Decision, type DelegationRefusal } from "@reverie/assistant"
import {
  type Address,
  type Amount,
  type Command,
  ENVELOPE_VERSION,
  type Envelope,
  type AssignmentEnd,
  type AssignmentReport,
  type Event,
  type Message,
  type Settlement,
  type TickEnd,
  defined
} from "@reverie/protocol"
import { FINISH_TASK, finishedIn } from "@reverie/tools"
import * as Option from "effect/Option"
import type { CommitDraft } from "../commit/commit-draft.ts"
import type { Session } from "../session/session.ts"
import { assignmentsOver } from "./assignments.ts"
import { orderEnvelope, reportEnvelope, senderOf, subAgentId } from "./names.ts"
import type { CommitView } from "../commit/commit-view.ts"

const paramsOf = (commands: ReadonlyArray<Command>, type: string): ReadonlyArray<unknown> =>
  commands.flatMap((command) => (command._tag === "Action" && command.type === type ? [command.params] : []))

interface Telling {
  readonly verb: "halt" | "resume" | "retire"
  readonly to: ReadonlyArray<{ readonly call: string; readonly tries: number }>
  readonly reason: string
}

/** Orders reach whoever they are for, however many assistants stand between. */
const ordered = (address: Address, no: number, { reason, to, verb }: Telling): ReadonlyArray<Envelope> =>
  to.map(({ call, tries }) => {
    const child = { tenant: address.tenant, assistant: subAgentId(address.assistant, call, tries) }
    const id = orderEnvelope(child, no, verb)
    return { v: ENVELOPE_VERSION, id, to: child, from: senderOf(address), event: { type: verb, reason }, hops: 0 }
  })

const MAX_TEXT_CHARS = 32_000

const clipped = (text: string): string =>
  text.length <= MAX_TEXT_CHARS ? text : `${text.slice(0, MAX_TEXT_CHARS - 30)}\n[Cut: the text was longer.]`

const endOf = (tickEnd: TickEnd | undefined, wasToldTo: boolean): AssignmentEnd => {
  if (wasToldTo || tickEnd === undefined) return "cancelled"
  if (tickEnd.outcome === "failed") return "failed"
  return tickEnd.outcome === "cut" || tickEnd.outcome === "max-iterations" ? "cut" : "completed"
}

interface Ending {
  readonly draft: CommitDraft
  readonly tail: ReadonlyArray<Message>
  readonly spent: Amount
}

/** What the sub-agent says of its task, whichever way it ended. */
const reportOf = ({ draft, spent, tail }: Ending): AssignmentReport => {
  const { event, settled = [], tickEnd } = draft
  const order = event as { readonly type?: string; readonly reason?: string } | null
  const end = endOf(tickEnd, order?.type === "retire")
  const last = [...tail, ...draft.messages].findLast(({ role }) => role === "tool" || role === "assistant")
  const finished = last?.name === FINISH_TASK ? Option.getOrUndefined(finishedIn(last.content)) : undefined
  const reason =
    order?.type === "retire" ? order.reason : (settled.find(({ outcome }) => outcome === "dead")?.reason ?? undefined)
  const spoken = tickEnd === undefined || tickEnd.reply === "" ? nothingSaid(end) : tickEnd.reply
  const { artefacts = [], follow_up = [], output, summary = spoken } = finished ?? {}
  return {
    end,
    cut: end === "cut",
    summary: clipped(summary),
    ...defined({ output: output === undefined ? undefined : clipped(output) }),
    artefacts: artefacts.map(clipped),
    followUp: follow_up.map(clipped),
    spent,
    ...defined({ reason: reason === undefined ? undefined : clipped(reason) })
  }
}

const nothingSaid = (end: AssignmentEnd): string =>
  end === "completed" ? "It ended without a word." : "It ended before it said anything."

/** The report as the model of the parent reads it. */
const toldReport = ({ artefacts, cut, end, followUp, output, reason, spent, summary }: AssignmentReport): string =>
  JSON.stringify({
    success: end === "completed",
    end,
    ...defined({ cut: cut ? "It is not the whole of what was asked for: a limit was reached." : undefined, reason }),
    summary,
    ...defined({
      output,
      artefacts: artefacts.length === 0 ? undefined : artefacts,
      follow_up: followUp.length === 0 ? undefined : followUp
    }),
    spent: { tokens: spent.tokens, calls: spent.calls, cost_micros: spent.costMicros }
  })

const reportHome = (session: Session, parent: string, ending: Ending): Envelope => {
  const report = reportOf(ending)
  const { address } = session
  const outcome = report.end === "completed" || report.end === "cut" ? "reported" : "failed"
  const event: Event = { type: "report", outcome, content: toldReport(report), assignment: report }
  return {
    v: ENVELOPE_VERSION,
    id: reportEnvelope(address),
    to: { tenant: address.tenant, assistant: parent as Address["assistant"] },
    from: senderOf(address),
    event,
    hops: 0
  }
}

interface Refused {
  readonly index: number
  readonly refusal: DelegationRefusal
}

const refusedOrder = (commands: ReadonlyArray<Command>, settled: ReadonlyArray<Settlement>) => {
  const [refused] = paramsOf(commands, "refuseDelegation") as ReadonlyArray<Refused>
  if (refused === undefined || refused.index >= 0) return settled
  const reason = JSON.stringify(refused.refusal)
  return settled.map((each) => (each.outcome === "handled" ? { ...each, outcome: "ignored" as const, reason } : each))
}

/** What a decision brings about for sub-agents, and for the one that sent this one. */
export const addSubAgentSends = (draft: CommitDraft, decision: Decision, view: CommitView): Partial<CommitDraft> => {
  const { commands, next } = decision
  const { session, tail } = view
  const { assignment } = contextOf(next)
  const orders = (paramsOf(commands, "tellSubAgents") as ReadonlyArray<Telling>).flatMap((each) =>
    ordered(session.address, draft.no, each)
  )
  const [home] = paramsOf(commands, "reportHome") as ReadonlyArray<{ readonly spent: Amount }>
  const report =
    home === undefined || assignment === null
      ? []
      : [reportHome(session, assignment.parent, { draft, tail, spent: home.spent })]
  const over = assignmentsOver(session.decoded, next, draft.records)
  if (orders.length + report.length + over.length === 0) return {}
  const gone = new Set(over.map(({ key }) => key))
  const records = [...(draft.records ?? []).filter(({ key, kind }) => kind !== "assignment" || !gone.has(key)), ...over]
  const sends = [...orders, ...(draft.sends ?? []), ...report]
  const settled = refusedOrder(commands, draft.settled ?? [])
  return defined({
    settled: settled.length === 0 ? undefined : settled,
    records: records.length === 0 ? undefined : records,
    sends: sends.length === 0 ? undefined : sends
  })
}

/** News of a sub-agent that this envelope is; undefined for any other. */
export const newsOf = (session: Session, from: string, event: Event, at: number) => {
  if (event.type !== "report" || event.assignment === undefined) return undefined
  const { end, spent } = event.assignment
  const { assistant } = session.address
  const line = contextOf(session.decoded).subAgents.find(
    ({ call, tries }) => from === `assistant:${subAgentId(assistant, call, tries)}`
  )
  return line === undefined
    ? ({ type: "report", call: "assignment" } as const)
    : ({ type: "news", what: "reported", call: line.call, tries: line.tries, end, spent, at } as const)
}
