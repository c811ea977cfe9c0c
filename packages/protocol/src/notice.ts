// Notice: a fact published for screens, callers and other systems.
// Owns the closed list and the projection from a ledger entry. Leaves delivery to the code that reads the outbox.
// I1  A durable notice is a pure function of one entry, so a feed can be replayed from any position.
// I2  `part` is the only notice that is not durable: it is a preview of a reply that a later entry holds.

import { type Address, defined, type EnvelopeId, isJsonObject, type Json } from "./json.ts"
import {
  type EarlierModel,
  earlierModels,
  type Entry,
  type EnvelopeOutcome,
  type ModelUse,
  type TickOutcome
} from "./records/entry.ts"
import type { Message, ToolCall, Usage } from "./mail/envelope.ts"
import type { ContentPart } from "./mail/part.ts"

/** A piece of a reply that is being made. */
export type Piece =
  /** Of its text, or of what the model thinks before it speaks. */
  | { readonly kind: "text" | "reasoning"; readonly text: string }
  /** A tool call begins. */
  | { readonly kind: "call"; readonly call: string; readonly tool: string }
  /** Of the JSON text of its arguments. */
  | { readonly kind: "arguments"; readonly call: string; readonly text: string }
  /** What was shown of this model call is not its reply: it is asked again, or of another model. */
  | { readonly kind: "dropped" }

interface Base {
  readonly address: Address
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Position in the outbox; absent on `part`. */
  readonly seq?: number
  readonly tick: number
}

/** A fact that a commit made public, for screens and callers. */
export type Notice = Base &
  (
    | { readonly type: "created" }
    | { readonly type: "state-changed"; readonly status: string }
    | { readonly type: "tick-started"; readonly envelope: EnvelopeId; readonly from?: string; readonly text?: string }
    | {
        readonly type: "model-replied"
        readonly iteration: number
        readonly text: string
        readonly calls: ReadonlyArray<ToolCall>
        /** The text is no answer: a hook refused it. */
        readonly isWithheld?: true
        readonly usage?: Usage
        /** What it took and cost, by model. */
        readonly spent?: ReadonlyArray<ModelUse>
        /** The server that answered, where it is known. */
        readonly server?: string
        /** The models that were asked before, and did not answer. */
        readonly earlier?: ReadonlyArray<EarlierModel>
      }
    | {
        readonly type: "model-failed"
        readonly iteration: number
        readonly reason: string
        /** Who acts next. */
        readonly recovery?: string
      }
    | {
        readonly type: "tool-finished"
        readonly call: string
        readonly tool: string
        readonly ok: boolean
        readonly content: string
      }
    | {
        readonly type: "tool-refused"
        readonly call: string
        readonly tool: string
        /** A hook of the user, a person that was asked, the time that a person had, or a rule. */
        readonly by: "hook" | "person" | "time" | "rule"
        readonly reason: string
      }
    | { readonly type: "step-skipped"; readonly step: string; readonly reason: string }
    | {
        readonly type: "step-finished"
        readonly step: string
        readonly ok: boolean
        /** Facts that the step of a dream has learnt, at most MAX_TOLD of them; those that are held back or wait for a person's word are not among them. */
        readonly learnt?: ReadonlyArray<string>
        /** How many there are, where those are not all. */
        readonly learntCount?: number
        /** Facts of it that are held back in quarantine, at most MAX_TOLD of them. */
        readonly heldBack?: ReadonlyArray<string>
        /** How many there are, where those are not all. */
        readonly heldBackCount?: number
        /** Facts of it that wait for a person's word, at most MAX_TOLD of them. */
        readonly waiting?: ReadonlyArray<string>
        /** How many there are, where those are not all. */
        readonly waitingCount?: number
        /** What a compaction took out of the window, and the tokens of the conversation before and after. */
        readonly compacted?: { readonly messages: number; readonly tokensBefore: number; readonly tokensAfter: number }
      }
    | {
        readonly type: "approval-asked"
        readonly approval: string
        readonly tool: string
        readonly call: string
        readonly expiresAt: number
      }
    | {
        readonly type: "approval-decided"
        /** Absent where the decision was about the oldest one. */
        readonly approval?: string
        readonly decision: "approved" | "denied"
      }
    | {
        readonly type: "sub-agent-started"
        readonly id: string
        /** The call that handed the task on. */
        readonly call: string
        readonly task: string
      }
    | { readonly type: "sub-agent-ended"; readonly call: string; readonly end: string }
    | {
        readonly type: "tick-ended"
        readonly envelope: EnvelopeId
        readonly outcome: TickOutcome
        readonly iterations: number
        readonly reply: string
        readonly output?: Json
        readonly misfit?: string
        readonly refusal?: string
        readonly parts?: ReadonlyArray<ContentPart>
      }
    | {
        readonly type: "envelope-settled"
        readonly envelope: EnvelopeId
        readonly outcome: EnvelopeOutcome
        readonly reason?: string
      }
    | { readonly type: "emitted"; readonly event: { readonly type: string; readonly [key: string]: Json } }
    | { readonly type: "part"; readonly envelope: EnvelopeId; readonly iteration: number; readonly piece: Piece }
  )
/** The types of notices, for `fleet.on`. */
export type NoticeType = Notice["type"]

/** A text as it stands, anything else as JSON. */
const textOf = (value: Json = "unknown"): string => (typeof value === "string" ? value : JSON.stringify(value))

const stringIn = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined)

/** Of a reply: its calls bear it, for the machine may have gone on to the next one in the same commit. */
const iterationOf = ({ calls }: Message, entry: Entry): number =>
  calls?.[0] === undefined ? entry.iteration : Number(calls[0].id.split(".")[1])

/** Texts that a notice holds of one step. */
const MAX_TOLD = 8

/** As a fact stands that waits for a person's word, and one that is held back. */
const WAITS = "proposed"
const HELD_BACK = "quarantined"

/** How many there are, where they are not all named. */
const countOf = (all: ReadonlyArray<string>): number | undefined => (all.length > MAX_TOLD ? all.length : undefined)

/** What the step of a dream has learnt: facts bear the tick; what is linked or weighed later is written once more. */
const learntIn = ({ records = [], step, tick }: Entry) => {
  if (step?.name !== "dream consolidating") return {}
  const textsOf = (isWanted: (state: Json | undefined) => boolean): ReadonlyArray<string> =>
    records.flatMap(({ key, kind, value }) => {
      if (kind !== "fact" || !key.startsWith(`fact_${tick}_`) || !isJsonObject(value)) return []
      return isWanted(value["state"]) ? (stringIn(value["text"]) ?? []) : []
    })
  const [learnt, heldBack, waiting] = [
    textsOf((state) => state !== WAITS && state !== HELD_BACK),
    textsOf((state) => state === HELD_BACK),
    textsOf((state) => state === WAITS)
  ]
  const shown = (all: ReadonlyArray<string>) => (all.length === 0 ? undefined : all.slice(0, MAX_TOLD))
  return defined({
    learnt: shown(learnt),
    learntCount: countOf(learnt),
    heldBack: shown(heldBack),
    heldBackCount: countOf(heldBack),
    waiting: shown(waiting),
    waitingCount: countOf(waiting)
  })
}

const compactedIn = ({ step }: Entry) => {
  const { compacted_count: messages, tokens_after: after, tokens_before: before } = step?.detail ?? {}
  return typeof messages === "number" && typeof before === "number" && typeof after === "number"
    ? { compacted: { messages, tokensBefore: before, tokensAfter: after } }
    : {}
}

const stepNotice = (base: Base, entry: Entry): Notice | undefined => {
  const { step } = entry
  if (step === undefined) return undefined
  const skipped = step.detail?.["skipped"]
  if (typeof skipped === "string") return { ...base, type: "step-skipped", step: step.name, reason: skipped }
  switch (step.kind) {
    case "infer": {
      const reply = entry.messages.find((message) => message.role === "assistant")
      if (!step.ok || reply === undefined) {
        return {
          ...base,
          type: "model-failed",
          iteration: entry.iteration,
          reason: textOf(step.detail?.["error"]),
          ...defined({ recovery: stringIn(step.detail?.["recovery"]) })
        }
      }
      const { earlier, server } = step.detail ?? {}
      return {
        ...base,
        type: "model-replied",
        iteration: iterationOf(reply, entry),
        text: reply.content,
        calls: reply.calls ?? [],
        ...defined({
          isWithheld: reply.meta?.["type"] === "withheld" ? true : undefined,
          usage: step.usage,
          spent: step.spent,
          server: stringIn(server),
          earlier: earlier === undefined ? undefined : earlierModels(earlier)
        })
      }
    }
    case "tool": {
      const result = entry.messages.find((message) => message.role === "tool")
      // A call that answers later has no message yet.
      const { call = step.id } = step.detail ?? {}
      return {
        ...base,
        type: "tool-finished",
        call: result?.call ?? textOf(call),
        tool: step.name,
        ok: step.ok,
        content: result?.content ?? ""
      }
    }
    case "child": {
      const { call, child, task } = step.detail ?? {}
      return step.ok && call !== undefined
        ? { ...base, type: "sub-agent-started", id: textOf(child), call: textOf(call), task: textOf(task) }
        : { ...base, type: "step-finished", step: step.name, ok: step.ok }
    }
    case "dream":
      return { ...base, type: "step-finished", step: step.name, ok: step.ok, ...learntIn(entry) }
    case "compact":
      return { ...base, type: "step-finished", step: step.name, ok: step.ok, ...compactedIn(entry) }
    case "assess":
    case "coordinate":
      return { ...base, type: "step-finished", step: step.name, ok: step.ok }
  }
}

/** How the result of a call begins that was refused. */
export const REFUSED = "Refused: "

const refuserOf = ({ cause, event, hooks = [] }: Entry, call: string): "hook" | "person" | "time" | "rule" => {
  if (hooks.some((each) => each.hook === "beforeTool" && each.call === call)) return "hook"
  if (isJsonObject(event) && event["type"] === "approval") return "person"
  return cause.kind === "timer" ? "time" : "rule"
}

/** Results of calls that no run of a tool has given: refusals, and reports that came later. */
const answerNotices = (base: Base, entry: Entry): ReadonlyArray<Notice> => {
  const results = entry.messages.filter(({ role }) => role === "tool")
  return (entry.step?.kind === "tool" ? results.slice(1) : results).map(({ call = "", content, name: tool = "" }) => {
    if (!content.startsWith(REFUSED)) return { ...base, type: "tool-finished", call, tool, ok: true, content }
    return {
      ...base,
      type: "tool-refused",
      call,
      tool,
      by: refuserOf(entry, call),
      reason: content.slice(REFUSED.length)
    }
  })
}

/** What a person decided, or how a sub-agent ended, where the machine event says so. */
const eventNotices = (base: Base, { event }: Entry): ReadonlyArray<Notice> => {
  if (!isJsonObject(event)) return []
  const { approval, call, decision, end, type, what } = event
  if (type === "approval" && (decision === "approved" || decision === "denied"))
    return [{ ...base, type: "approval-decided", decision, ...defined({ approval: stringIn(approval) }) }]
  return type === "news" && what === "reported"
    ? [{ ...base, type: "sub-agent-ended", call: textOf(call), end: textOf(end) }]
    : []
}

const emittedNotice = (base: Base, event: { readonly type: string; readonly [key: string]: Json }): Notice =>
  event.type === "approval-asked"
    ? {
        ...base,
        type: "approval-asked",
        approval: textOf(event["approval"]),
        tool: textOf(event["tool"]),
        call: textOf(event["call"]),
        expiresAt: base.at + Number(event["withinMs"])
      }
    : { ...base, type: "emitted", event }

/** Every notice of one entry, in the order in which they are reported. */
export const noticesOf = (address: Address, seq: number, entry: Entry): ReadonlyArray<Notice> => {
  const base: Base = { address, at: entry.at, seq, tick: entry.tick }
  const notices: Array<Notice> = []
  if (entry.cause.kind === "creation") notices.push({ ...base, type: "created" })
  if (entry.cause.kind === "envelope" && entry.cause.lane === "mail" && entry.settled === undefined) {
    const said = entry.messages.find((message) => message.role === "user")
    notices.push({
      ...base,
      type: "tick-started",
      envelope: entry.cause.id,
      ...(said === undefined ? {} : { text: said.content, ...defined({ from: said.name }) })
    })
  }
  notices.push(...eventNotices(base, entry))
  const step = stepNotice(base, entry)
  if (step !== undefined) notices.push(step)
  notices.push(...answerNotices(base, entry))
  for (const event of entry.emitted ?? []) notices.push(emittedNotice(base, event))
  notices.push({ ...base, type: "state-changed", status: entry.status })
  if (entry.tickEnd !== undefined) notices.push({ ...base, type: "tick-ended", ...entry.tickEnd })
  for (const { id, outcome, reason } of entry.settled ?? []) {
    notices.push({
      ...base,
      type: "envelope-settled",
      envelope: id,
      outcome,
      ...defined({ reason })
    })
  }
  return notices
}
