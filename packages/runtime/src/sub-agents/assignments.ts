// Assignments: the records of tasks that were handed on.
// Owns reading them, and what of a finished run the statechart is asked. Leaves deciding to the statechart.
// K1  A task stays among the records exactly as long as its sub-agent is open, so that a crash finds it again.
// K2  Only a valid request for a task is handed on.

import {
  accountOf,
  type AssistantContext,
  contextOf,
  type Decision,
  type Decoded,
  type DelegateRequest,
  type DelegationRefusal,
  isBounded,
  isOpen,
  remaining
} from "@reverie/assistant"
import {
  type Address,
  addressKey,
  type Amount,
  type AssignmentEnd,
  type AssignmentReport,
  AssignmentRequest,
  AssistantId,
  assistantSender,
  type Command,
  defined,
  type Envelope,
  ENVELOPE_VERSION,
  EnvelopeId,
  type Event,
  type Json,
  type Message,
  type RecordChange,
  type Settlement,
  type TickEnd
} from "@reverie/protocol"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { FINISH_TASK, finishedIn } from "@reverie/tools"
import { type OwnRecords, recordsOf } from "../session/own-records.ts"
import type { Session } from "../session/session.ts"
import type { CommitDraft } from "../commit/commit-draft.ts"
import type { CommitView } from "../commit/commit-view.ts"

const decode = Schema.decodeUnknownOption(AssignmentRequest)

export const assignmentOn = (own: OwnRecords, call: string): AssignmentRequest | undefined =>
  Option.getOrUndefined(decode(recordsOf(own, "assignment").get(call)))

const SECOND_MILLIS = 1_000

/** What the statechart has to know of a request. */
export const requestOf = (call: string, request: AssignmentRequest, at: number): DelegateRequest => {
  const { calls, costMicros, seconds, tokens } = request
  return {
    call,
    at,
    ...defined({ tokens, calls, costMicros, millis: seconds === undefined ? undefined : seconds * SECOND_MILLIS })
  }
}

export const writtenAssignment = (call: string, { task, ...more }: AssignmentRequest): RecordChange => ({
  kind: "assignment",
  key: call,
  value: { task, ...more } as unknown as Json
})

/** What a run asks of the statechart by what it wrote; the rest of its changes. */
export const askedBy = (call: string, records: ReadonlyArray<RecordChange>, at: number) => {
  const assignments = records.filter(({ kind }) => kind === "assignment")
  if (assignments.length === 0) return { records, asks: {} }
  const gone = assignments.find(({ value }) => value === null)?.key
  const written = assignments.find(({ key, value }) => value !== null && key === call)
  const request = written === undefined ? undefined : Option.getOrUndefined(decode(written.value))
  return {
    // What is ended stays among the records until its sub-agent has reported.
    records: records.filter((change) => change.kind !== "assignment" || (change === written && request !== undefined)),
    asks: defined({ delegate: request === undefined ? undefined : requestOf(call, request, at), dismiss: gone })
  }
}

const openCalls = ({ subAgents }: AssistantContext): ReadonlySet<string> =>
  new Set(subAgents.filter(isOpen).map(({ call }) => call))

/** Removes the records of tasks whose sub-agents are not open after a decision: ended by it, or refused. */
const assignmentsOver = (
  before: Decoded,
  next: Decoded,
  records: ReadonlyArray<RecordChange> = []
): ReadonlyArray<RecordChange> => {
  if (records.length === 0 && contextOf(before).subAgents.length === 0) return []
  const were = openCalls(contextOf(before))
  const are = openCalls(contextOf(next))
  const written = records.flatMap(({ key, kind, value }) => (kind === "assignment" && value !== null ? [key] : []))
  return [...new Set([...were, ...written])].flatMap((key) =>
    are.has(key) ? [] : [{ kind: "assignment", key, value: null } as const]
  )
}

/** Sub-agents that are open, and what is left to spend, as a tool tells it. */
export const subAgentsOf = ({ decoded }: { readonly decoded: Decoded }, now: number) => {
  const context = contextOf(decoded)
  const account = accountOf(context)
  const { calls, tokens } = remaining(account)
  return {
    sub_agents: context.subAgents.filter(isOpen).map(({ call, phase, until }) => ({
      call,
      phase,
      seconds_left: Math.max(0, Math.round((until - now) / SECOND_MILLIS))
    })),
    left: isBounded(account) ? { tokens, calls } : null
  }
}

// Names: how a sub-agent, its task and its report are called.
// N1  Two calls, or two tries of one, never give the same name.

const MAX_ID_CHARS = 128
const MAX_ENVELOPE_CHARS = 256
const HASHED = "assignment:"

const hash = (text: string): string => createHash("sha256").update(text).digest("hex")

/** `ada+3.1.0`, and `ada+3.1.0#2` for the second try; a long one keeps its identity as a hash. */
export const subAgentId = (parent: string, call: string, tries: number): AssistantId => {
  const id = `${parent}+${call}${tries === 1 ? "" : `#${tries}`}`
  return AssistantId.make(id.length <= MAX_ID_CHARS ? id : `${id.slice(0, 60)}+${hash(id).slice(0, 32)}`)
}

/** What stands for the call where an order from outside hands on a task. */
export const orderCall = (envelope: string): string => `order-${hash(envelope).slice(0, 16)}`

const envelopeId = (id: string): EnvelopeId =>
  EnvelopeId.make(id.length <= MAX_ENVELOPE_CHARS ? id : `${HASHED}${hash(id)}`)

const TASK = "task:"

/** The one message a sub-agent receives. */
export const taskEnvelope = (child: Address): EnvelopeId => envelopeId(`${TASK}${addressKey(child)}`)

/** Whether this is the first message of a sub-agent. */
export const isTask = (id: EnvelopeId): boolean => id.startsWith(TASK) || id.startsWith(HASHED)

/** The one report it sends. */
const reportEnvelope = (child: Address): EnvelopeId => envelopeId(`report:${addressKey(child)}`)

/** An order of the commit with this number. */
const orderEnvelope = (child: Address, no: number, verb: string): EnvelopeId =>
  envelopeId(`${verb}:${no}:${addressKey(child)}`)

export const senderOf = ({ assistant }: Address): string => assistantSender(assistant)

// SubAgents: what a decision writes for sub-agents, and for the one that sent this one.
// Q1  Everything leaves with the commit of the decision, under an id that follows from it: a crash sends nothing twice.
// Q2  A sub-agent reports once, in the commit in which it retires.
// Q3  A refused order from outside is settled with the refusal.

const paramsOf = (commands: ReadonlyArray<Command>, type: string): ReadonlyArray<unknown> =>
  commands.flatMap((command) => (command._tag === "Action" && command.type === type ? [command.params] : []))

interface Telling {
  readonly verb: "halt" | "resume" | "retire"
  readonly to: ReadonlyArray<{ readonly call: string; readonly tries: number }>
  readonly reason: string
}

/** Orders reach the one they are for, however many assistants stand between. */
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
  if (tickEnd.outcome === "stopped") return "cancelled"
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
