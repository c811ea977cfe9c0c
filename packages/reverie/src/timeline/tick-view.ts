// TickView: a tick, a dream, a compaction or an order as a person wants to see it.
// Owns what is shown of it, and how much of each text. Leaves finding its entries to spans.ts.
// V1  A view is a pure function of the entries and the letter that began them. A call costs what its entry says it did.
// V2  Every call that a model asked for is shown once, whatever became of it.

import type { OutboxRow } from "@reverie/ledger"
import {
  type AcceptedEnvelope,
  type ContentPart,
  defined,
  type EarlierModel,
  earlierModels,
  type Entry,
  type HookRecord,
  isJsonObject,
  type Json,
  type Message,
  noticesOf,
  type StepRecord,
  type TickOutcome,
  type ToolCall,
  type Usage,
  usageOf
} from "@reverie/protocol"
import { iterationOf } from "../views/context-report.ts"
import { textOfEvent } from "../views/mail-view.ts"
import type { Span, SpanKind } from "./spans.ts"

/** One model call of a tick. */
export interface ModelCallView {
  /** Which call of the tick it is, from 1 on. */
  readonly iteration: number
  /** When it ended, in milliseconds since the epoch. */
  readonly at: number
  /** The model that answered, as it names itself. */
  readonly model?: string
  /** The server that answered, where it is known. */
  readonly server?: string
  /** Models that were asked before, and why each did not answer. */
  readonly earlier?: ReadonlyArray<EarlierModel>
  /** How long it took, in milliseconds. */
  readonly elapsedMs: number
  /** From its start to the first token of the reply, in milliseconds; absent where it was not measured: nothing came piece by piece. */
  readonly firstTokenMs?: number
  /** False when it failed. */
  readonly ok: boolean
  /** Tokens of the call. */
  readonly usage?: Usage
  /** Why the model stopped, in its own words. */
  readonly finishReason?: string
  /** What it cost, in millionths of a unit: 0 where its price is nothing, absent where no price is known. */
  readonly costMicros?: number
  /** No one has said what this model costs. */
  readonly unpriced?: true
  /** Why it failed, without secrets. */
  readonly error?: string
  /** What it said besides its calls. */
  readonly text?: string
  /** What of its answer does not fit, where that has another form than it must have. */
  readonly misfit?: string
}

/** One tool call of a tick. */
export interface ToolCallView {
  /** The id of the call. */
  readonly call: string
  /** The name of the tool. */
  readonly tool: string
  /** When it ended, or was asked for while it has not; milliseconds since the epoch. */
  readonly at: number
  /** False when it failed or was refused. */
  readonly ok: boolean
  /** How long it ran, in milliseconds. */
  readonly elapsedMs: number
  /** JSON, or what the model wrote in its place. */
  readonly arguments: string
  /** What the model read. */
  readonly result?: string
  /** When that came, in milliseconds since the epoch, where it came after the run: a sub-agent reported, or something from outside did. */
  readonly resultAt?: number
  /** Its result has not come: it waits for a person or a report, or runs. */
  readonly pending?: true
}

/** One recorded step of a tick. */
export interface StepView {
  /** What kind of effect it is. */
  readonly kind: StepRecord["kind"]
  /** The tool, the model's task, and so on. */
  readonly name: string
  /** When it ended, in milliseconds since the epoch. */
  readonly at: number
  /** False when it failed. */
  readonly ok: boolean
  /** How long it took, in milliseconds. */
  readonly elapsedMs: number
  /** Tokens of its model calls together. */
  readonly usage?: Usage
  /** What they cost, in millionths of a unit: 0 where their price is nothing, absent where no price is known. */
  readonly costMicros?: number
  /** No one has said what one of these models costs. */
  readonly unpriced?: true
  /** The sub-agent that it created, and the tool call that asked for it. */
  readonly child?: { readonly id: string; readonly call: string }
  /** The models that answered in it. */
  readonly model?: string
  /** Models that were asked before them, and why each did not answer. */
  readonly earlier?: ReadonlyArray<EarlierModel>
  /** Why it failed or was skipped, or what it noted. */
  readonly note?: string
}

/** What a hook did in a tick. */
export interface HookView extends Pick<HookRecord, "hook" | "did" | "of" | "reason" | "call" | "tool"> {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** What stood there before, as text. */
  readonly before?: string
}

/** A tick, or what stands between two, as a page shows it. */
export interface TickView {
  /** A tick, or what stands between two: a dream, a compaction, an order. */
  readonly kind: SpanKind
  /** Its number, from 1 on. */
  readonly tick: number
  /** Who sent what began it. */
  readonly from?: string
  /** The id of that envelope, and the type of its event. */
  readonly envelope?: string
  /** The type of the event, e.g. `message`. */
  readonly type?: string
  /** What the event says, where it says anything. */
  readonly text?: string
  /** Milliseconds since the epoch. */
  readonly beganAt: number
  /** Milliseconds since the epoch; absent while it is in hand. */
  readonly endedAt?: number
  /** How it ended; absent while it is in hand. */
  readonly outcome?: TickOutcome
  /** Model calls so far. */
  readonly iterations: number
  /** What was answered; absent where nothing was. */
  readonly reply?: string
  /** Images, files and audio of its message, its results and its answer, in the order in which they came. */
  readonly parts?: ReadonlyArray<ContentPart>
  /** From acceptance until it was taken up. */
  readonly waitMs?: number
  /** Its model calls, in their order. */
  readonly calls: ReadonlyArray<ModelCallView>
  /** Its tool calls, in their order. */
  readonly tools: ReadonlyArray<ToolCallView>
  /** Its other effects, in their order. */
  readonly steps: ReadonlyArray<StepView>
  /** Absent where no hook did anything. */
  readonly hooks?: ReadonlyArray<HookView>
  /** The states it went through. */
  readonly states: ReadonlyArray<{ readonly at: number; readonly state: string }>
  /** Numbers of its first and last commit. */
  readonly commits: { readonly from: number; readonly to: number }
  /** How many notices it gave. */
  readonly notices: number
}

/** The beginning of a text; no half of a character stays at its end. */
export const clipped = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, "")

interface Looks {
  readonly maxChars: number
}

const worded = (value: Json | undefined): string | undefined =>
  value === undefined || value === null ? undefined : typeof value === "string" ? value : JSON.stringify(value)

const noteOf = ({ detail = {} }: StepRecord): string | undefined =>
  worded(detail["error"] ?? detail["skipped"] ?? detail["failure"] ?? detail["note"])

const given = <Key extends string, Value>(key: Key, value: Value | undefined): { readonly [key in Key]?: Value } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [key in Key]?: Value }

const misfitIn = ({ misfit }: NonNullable<StepRecord["detail"]>, maxChars: number): string | undefined =>
  Array.isArray(misfit) ? clipped(misfit.join("; "), maxChars) : undefined

const millisIn = (value: Json | undefined): number | undefined => (typeof value === "number" ? value : undefined)

/** What the calls of a step cost together: 0 where their price is nothing, and no cost where no one knows a price. */
const costOf = (entry: Entry): Pick<ModelCallView, "costMicros" | "unpriced"> => {
  const used = usageOf(entry)
  const costMicros = used.reduce((sum, each) => sum + each.costMicros, 0)
  return defined({
    costMicros: used.some(({ calls, unpricedCalls }) => calls > unpricedCalls) ? costMicros : undefined,
    unpriced: used.some(({ unpricedCalls }) => unpricedCalls > 0) ? (true as const) : undefined
  })
}

const childOf = ({ detail = {}, kind, ok }: StepRecord): StepView["child"] => {
  const [id, call] = [worded(detail["child"]), worded(detail["call"])]
  return kind === "child" && ok && id !== undefined && call !== undefined ? { id, call } : undefined
}

/** Who answered where, and whom it stood in for. */
const askedIn = ({ detail = {} }: StepRecord, maxChars: number): Pick<ModelCallView, "server" | "earlier"> => {
  const earlier = earlierModels(detail["earlier"]).map((each) => ({ ...each, reason: clipped(each.reason, maxChars) }))
  return defined({
    server: worded(detail["server"]),
    earlier: earlier.length === 0 ? undefined : earlier
  })
}

const modelCallOf = (entry: Entry, step: StepRecord, { maxChars }: Looks): ModelCallView => {
  const { detail = {}, elapsedMs, ok, usage } = step
  const text = entry.messages.find(({ role }) => role === "assistant")?.content ?? ""
  const model = worded(detail["model"])
  return {
    iteration: iterationOf(entry),
    at: entry.at,
    ...given("model", model),
    ...askedIn(step, maxChars),
    elapsedMs,
    ok,
    ...given("usage", usage),
    ...given("finishReason", worded(detail["finish"])),
    ...costOf(entry),
    ...defined({ firstTokenMs: ok ? millisIn(detail["firstTokenMs"]) : undefined }),
    ...given("error", ok ? undefined : worded(detail["error"])),
    ...defined({ text: text === "" ? undefined : clipped(text, maxChars) }),
    ...given("misfit", misfitIn(detail, maxChars))
  }
}

const stepOf = (entry: Entry, step: StepRecord, { maxChars }: Looks): StepView => {
  const { elapsedMs, kind, name, ok, usage } = step
  const note = noteOf(step)
  const told = note === undefined ? undefined : clipped(note, maxChars)
  const { earlier } = askedIn(step, maxChars)
  const asked = defined({ usage, model: worded(step.detail?.["model"]), earlier, note: told, child: childOf(step) })
  return { kind, name, at: entry.at, ok, elapsedMs, ...asked, ...costOf(entry) }
}

const hooksOf = (entries: ReadonlyArray<Entry>, { maxChars }: Looks): ReadonlyArray<HookView> | undefined => {
  const done = entries.flatMap(({ at, hooks = [] }) =>
    hooks.map(({ before, edits: _edits, ...deed }): HookView => {
      const text = worded(before)
      return { ...deed, at, ...defined({ before: text === undefined ? undefined : clipped(text, maxChars) }) }
    })
  )
  return done.length === 0 ? undefined : done
}

const messagesIn = (rows: ReadonlyArray<OutboxRow>): ReadonlyArray<Message> =>
  rows.flatMap(({ entry }) => entry.messages)

/** The call that a tool step ran. */
const callOf = ({ messages, step }: Entry): string | undefined =>
  step?.kind === "tool"
    ? (worded(step.detail?.["call"]) ?? messages.find(({ role }) => role === "tool")?.call)
    : undefined

const toolOf = (asked: ToolCall, at: number, rows: ReadonlyArray<OutboxRow>, { maxChars }: Looks): ToolCallView => {
  const run = rows.findLast(({ entry }) => callOf(entry) === asked.id)?.entry
  const result = messagesIn(rows).findLast(({ call, role }) => role === "tool" && call === asked.id)
  return {
    call: asked.id,
    tool: asked.tool,
    at: run?.at ?? result?.at ?? at,
    ok: run?.step?.ok ?? false,
    elapsedMs: run?.step?.elapsedMs ?? 0,
    arguments: clipped(asked.malformed ?? JSON.stringify(asked.arguments), maxChars),
    ...(result === undefined ? { pending: true } : { result: clipped(result.content, maxChars) }),
    ...defined({ resultAt: run?.step?.detail?.["pending"] === true ? result?.at : undefined })
  }
}

const toolsOf = (rows: ReadonlyArray<OutboxRow>, looks: Looks): ReadonlyArray<ToolCallView> =>
  messagesIn(rows).flatMap(({ at, calls = [] }) => calls.map((asked) => toolOf(asked, at, rows, looks)))

const statesOf = (rows: ReadonlyArray<OutboxRow>): TickView["states"] =>
  rows.flatMap(({ entry: { at, status } }, index) =>
    rows[index - 1]?.entry.status === status ? [] : [{ at, state: status }]
  )

const endOf = ({ awokeAt, kind, rows }: Span): number | undefined => {
  const last = rows.at(-1)?.entry
  switch (kind) {
    case "tick":
      return rows.find(({ entry }) => entry.tickEnd !== undefined)?.entry.at
    case "dream":
      return awokeAt
    default:
      return last?.at
  }
}

/** What an order says of itself where its letter is gone. */
const reasonIn = ({ event }: Entry): string | undefined => (isJsonObject(event) ? worded(event["reason"]) : undefined)

const begunBy = ({ rows }: Span, letter: AcceptedEnvelope | undefined, maxChars: number): Partial<TickView> => {
  const entry = rows[0]?.entry
  if (entry?.cause.kind !== "envelope") return {}
  const said = entry.messages.find(({ role }) => role === "user")
  const text = (letter === undefined ? said?.content : textOfEvent(letter.event)) ?? said?.content ?? reasonIn(entry)
  const type = letter?.event.type ?? (isJsonObject(entry.event) ? worded(entry.event["type"]) : undefined)
  return {
    envelope: entry.cause.id,
    ...given("from", letter?.from ?? said?.name),
    ...given("type", type),
    ...defined({
      text: text === undefined ? undefined : clipped(text, maxChars),
      waitMs: letter === undefined ? undefined : Math.max(0, entry.at - letter.acceptedAt)
    })
  }
}

/** What is shown of a span; `letter` is what began it. */
export const tickViewOf = (span: Span, letter: AcceptedEnvelope | undefined, looks: Looks): TickView => {
  const { kind, rows } = span
  const [first] = rows
  const entries = rows.map(({ entry }) => entry)
  const end = entries.find(({ tickEnd }) => tickEnd !== undefined)?.tickEnd
  const parts = messagesIn(rows).flatMap((message) => message.parts ?? [])
  const steps = entries.flatMap((entry) => (entry.step === undefined ? [] : [{ entry, step: entry.step }]))
  return {
    kind,
    tick: first?.entry.tick ?? 0,
    ...begunBy(span, letter, looks.maxChars),
    beganAt: first?.entry.at ?? 0,
    ...given("endedAt", endOf(span)),
    ...given("outcome", end?.outcome),
    iterations: end?.iterations ?? (kind === "tick" ? (entries.at(-1)?.iteration ?? 0) : 0),
    ...defined({
      reply: end === undefined ? undefined : clipped(end.reply, looks.maxChars),
      parts: parts.length === 0 ? undefined : parts
    }),
    calls: steps.flatMap(({ entry, step }) => (step.kind === "infer" ? [modelCallOf(entry, step, looks)] : [])),
    tools: toolsOf(rows, looks),
    steps: steps.flatMap(({ entry, step }) =>
      step.kind === "infer" || step.kind === "tool" ? [] : [stepOf(entry, step, looks)]
    ),
    ...defined({ hooks: hooksOf(entries, looks) }),
    states: statesOf(rows),
    commits: { from: first?.entry.no ?? 0, to: entries.at(-1)?.no ?? 0 },
    notices: rows.reduce((sum, { address, entry, seq }) => sum + noticesOf(address, seq, entry).length, 0)
  }
}
