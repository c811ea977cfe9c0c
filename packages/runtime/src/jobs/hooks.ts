// HookWalk: what becomes of what hooks return.
// Owns the order in which they are called, what they change, and the record of it. Leaves calling one to `tools`, and asking a
// person and answering again to the statechart.
// K1  Hooks of one place are called one after the other, those of the fleet first, each with what the one before it made of
//     it; the first that refuses or fails is the last.
// K2  What they did stands in the commit that uses it, and in none before: until then they are called again, and never after.
// K3  Where there is no hook nothing is made, and nothing is waited for.

import { contextOf } from "@reverie/assistant"
import { type Model, ModelRefused, type Prompt, type PromptMessage, type Reply } from "@reverie/model"
import {
  type AcceptedEnvelope,
  defined,
  type HookName,
  type HookRecord,
  isJsonObject,
  type Json,
  type ToolCall
} from "@reverie/protocol"
import {
  callHook,
  canonicalJson,
  editsOf,
  type HookArgs,
  type HookCall,
  type HookChange,
  type HookPurpose,
  type HookSeen,
  tidyMessage,
  type ToolResult
} from "@reverie/tools"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Session } from "../session/session.ts"

/** What hooks did, by hook and deed. */
const hookDeeds = Metric.counter("reverie_hooks_total", { incremental: true })

/** Whose hooks are called, and what takes secrets out of their reasons. */
export interface Guarding {
  readonly session: Session
  readonly hide: <A>(value: A) => A
}

/** Why it stops here, and whether a hook meant that. */
export interface Stop {
  readonly did: "refused" | "failed"
  readonly reason: string
}

/** As failures are reported, the name of the error first. */
export const stopText = ({ did, reason }: Stop): string =>
  `${did === "failed" ? "HookFailed" : "HookRefused"}: ${reason}`

/** How hooks of one place look at what they guard. */
interface Place<A> {
  readonly name: HookName
  readonly about?: Pick<HookRecord, "call" | "tool">
  readonly seen: (now: A) => HookSeen
  readonly changed: (now: A, change: HookChange) => A
  /** What is recorded of a change; undefined where nothing is another than before. */
  readonly noted: (before: A, after: A) => Pick<HookRecord, "before" | "edits"> | undefined
  /** What is recorded of what was refused. */
  readonly whole: (now: A) => Json | undefined
}

interface Walked<A> {
  readonly value: A
  readonly records: ReadonlyArray<HookRecord>
  readonly stop?: Stop
  readonly asked?: string
}

const walk = Effect.fnUntraced(function* <A>({ hide, session }: Guarding, guarded: A, place: Place<A>) {
  const { about, changed, name, noted, seen, whole } = place
  const records: Array<HookRecord> = []
  let value = guarded
  let asked: string | undefined
  const note = Effect.fnUntraced(function* (record: HookRecord, isRecorded: boolean) {
    records.push(record)
    if (!isRecorded) yield* Metric.update(Metric.withAttributes(hookDeeds, { hook: name, did: record.did }), 1)
  })
  for (const hook of session.definition.hooks?.[name] ?? []) {
    const isRecorded = hook.recorded !== undefined
    const shown = seen(value)
    const end = hook.recorded?.(shown) ?? (yield* callHook({ name, hook, address: session.address, seen: shown, hide }))
    const by = { hook: name, of: hook.of, ...about } as const
    const next = "change" in end && end.change !== undefined ? changed(value, end.change) : value
    const difference = next === value ? undefined : noted(value, next)
    if (difference !== undefined) {
      yield* note({ ...by, did: "changed", ...difference }, isRecorded)
      value = next
    }
    if (end.did === "nothing" || end.did === "changed") continue
    const { did } = end
    const reason = hide(end.reason)
    if (did === "asked") {
      asked ??= reason
      yield* note({ ...by, did, reason }, isRecorded)
      continue
    }
    yield* note({ ...by, did, reason, ...defined({ before: whole(value) }) }, isRecorded)
    const stopped: Walked<A> = { value, records, stop: { did, reason } }
    return stopped
  }
  const passed: Walked<A> = { value, records, ...defined({ asked }) }
  return passed
})

const isSame = (one: Json, other: Json): boolean => canonicalJson(one) === canonicalJson(other)

/** One text, under the name that a hook knows it by. */
const textPlace = (
  name: HookName,
  key: "text" | "result",
  beside: HookSeen,
  about: Pick<HookRecord, "call" | "tool"> = {}
): Place<string> => ({
  name,
  about,
  seen: (now) => ({ ...beside, [key]: now }),
  changed: (now, change) => change[key] ?? now,
  noted: (before, after) => (before === after ? undefined : { before }),
  whole: (now) => now
})

// Mail: a message before it is taken up, and the report of a call, which is its result.

/** An envelope as its hooks left it. */
export interface GuardedMail {
  readonly envelope: AcceptedEnvelope
  readonly records: ReadonlyArray<HookRecord>
  readonly stop?: Stop
}

const NO_RECORDS: ReadonlyArray<HookRecord> = []

const withheld = (tool: string, { reason }: Stop): string =>
  `What the tool ${JSON.stringify(tool)} gave is withheld: ${reason}`

/** The call that a report answers. */
const reportedCall = ({ decoded, window }: Session, call: string | undefined, tool: string | undefined) => {
  const { calls, iteration, tick } = contextOf(decoded)
  const index = calls.findIndex((each) => each.phase === "waiting" && (tool === undefined || each.tool === tool))
  const id = call ?? `${tick}.${iteration}.${index}`
  for (const message of window.messages.toReversed()) {
    const found = message.calls?.find((each) => each.id === id)
    if (found !== undefined) return found
  }
  return undefined
}

const guardedReport = Effect.fnUntraced(function* (
  guarding: Guarding,
  envelope: AcceptedEnvelope,
  event: Extract<AcceptedEnvelope["event"], { readonly type: "report" }>
) {
  const call = reportedCall(guarding.session, event.call, event.tool)
  if (call === undefined) return { envelope, records: NO_RECORDS }
  const about = { call: call.id, tool: call.tool }
  const beside = { ...about, args: call.arguments, ok: event.outcome !== "failed" }
  const { records, stop, value } = yield* walk(guarding, event.content, textPlace("afterTool", "result", beside, about))
  const content = stop === undefined ? value : withheld(call.tool, stop)
  return { envelope: { ...envelope, event: { ...event, content } }, records }
})

/** An envelope before the statechart learns of it. The task of a sub-agent has passed the hooks of the call that gave it. */
export const guardedMail = (guarding: Guarding, envelope: AcceptedEnvelope): Effect.Effect<GuardedMail> | undefined => {
  const { decoded, definition } = guarding.session
  const { hooks } = definition
  const { event, from, id } = envelope
  if (hooks?.afterTool !== undefined && event.type === "report") return guardedReport(guarding, envelope, event)
  if (hooks?.onMessage === undefined || event.type !== "message" || contextOf(decoded).assignment !== null)
    return undefined
  const beside = { from, id, ...defined({ channel: event.channel, parts: event.parts }) }
  return Effect.map(
    walk(guarding, event.text, textPlace("onMessage", "text", beside)),
    ({ records, stop, value }): GuardedMail => ({
      envelope: { ...envelope, event: { ...event, text: value } },
      records,
      ...defined({ stop })
    })
  )
}

// Prompt: what a model is about to be shown.

export interface GuardedPrompt {
  readonly prompt: Prompt
  readonly records: ReadonlyArray<HookRecord>
  /** Tokens that the prompt has more than before. */
  readonly tokens: number
  readonly stop?: Stop
}

const promptPlace = (prompt: Prompt, purpose: HookPurpose, iteration: number): Place<ReadonlyArray<PromptMessage>> => ({
  name: "beforeModel",
  seen: (messages) => ({ messages, tools: prompt.tools, purpose, iteration }),
  changed: (now, { append, messages = now }) => [
    ...messages.map(tidyMessage),
    ...(append === undefined ? [] : [{ role: "user" as const, content: append }])
  ],
  noted: (before, after) => {
    const edits = editsOf(before, after)
    return edits.length === 0 ? undefined : { edits }
  },
  // It is made again from the ledger.
  whole: () => undefined
})

/** A prompt before it is sent. */
export const guardedPrompt = Effect.fnUntraced(function* (
  guarding: Guarding,
  prompt: Prompt,
  purpose: HookPurpose,
  iteration: number
) {
  const { records, stop, value } = yield* walk(guarding, prompt.messages, promptPlace(prompt, purpose, iteration))
  if (value === prompt.messages) return { prompt, records, tokens: 0, ...defined({ stop }) } satisfies GuardedPrompt
  const edits = editsOf(prompt.messages, value)
  const count = (messages: ReadonlyArray<PromptMessage>) =>
    messages.reduce((sum, message) => sum + guarding.session.count({ ...message, at: 0 }), 0)
  const tokens = edits.reduce(
    (sum, { add, at, drop }) => sum + count(add) - count(prompt.messages.slice(at, at + drop)),
    0
  )
  // Where as many stand there as before, the next prompt can begin alike.
  const moved = edits.filter(({ add, drop }) => add.length !== drop).map(({ at }) => at)
  const lasting = prompt.lasting === undefined ? undefined : Math.min(prompt.lasting, ...moved)
  const guarded: GuardedPrompt = {
    prompt: { ...prompt, messages: value, ...defined({ lasting }) },
    records,
    tokens,
    ...defined({ stop })
  }
  return guarded
})

// Reply: what a model has answered, and each call that it asks for.

interface Said {
  readonly text: string
  readonly calls: ReadonlyArray<ToolCall>
}

const shownCall = ({ arguments: args, malformed, tool }: ToolCall): HookCall => ({
  tool,
  args: args as HookArgs,
  ...defined({ malformed })
})

const callsOf = (calls: ReadonlyArray<HookCall>, prefix: string): ReadonlyArray<ToolCall> =>
  calls.map(({ args, malformed, tool }, index) => ({
    id: `${prefix}.${index}`,
    tool,
    arguments: args,
    ...defined({ malformed })
  }))

const bare = ({ calls, text }: Said): { readonly [key: string]: Json } => ({
  text,
  calls: calls.map((call) => ({ ...shownCall(call) })) as unknown as Json
})

const replyPlace = ({ model, usage }: Reply, purpose: HookPurpose, prefix: string): Place<Said> => ({
  name: "afterModel",
  seen: (now) => ({ ...bare(now), model, usage, purpose }),
  changed: (now, { calls, text = now.text }) => ({
    text,
    calls: calls === undefined ? now.calls : callsOf(calls, prefix)
  }),
  noted: (before, after) => {
    const [was, is] = [bare(before), bare(after)]
    const other = Object.entries(was).filter(([key, value]) => !isSame(value, is[key] ?? null))
    return other.length === 0 ? undefined : { before: Object.fromEntries(other) }
  },
  whole: bare
})

export interface GuardedReply {
  readonly reply: Reply
  readonly records: ReadonlyArray<HookRecord>
  readonly stop?: Stop
}

/** A reply before it is used. */
export const guardedReply = Effect.fnUntraced(function* (
  guarding: Guarding,
  reply: Reply,
  purpose: HookPurpose,
  prefix: string
) {
  const { calls, text } = reply
  const { records, stop, value } = yield* walk(guarding, { calls, text }, replyPlace(reply, purpose, prefix))
  const guarded: GuardedReply = { reply: { ...reply, ...value }, records, ...defined({ stop }) }
  return guarded
})

/** What hooks say of one call, and its schema. */
export interface Verdict {
  readonly refuse?: string
  readonly asks?: true
  /** What of its arguments does not fit. */
  readonly unfit?: string
}

const callPlace = ({ id, tool }: ToolCall): Place<Json> => {
  const about = { call: id, tool }
  return {
    name: "beforeTool",
    about,
    seen: (args) => ({ ...about, args }),
    changed: (now, { args }) => args ?? now,
    noted: (before, after) => (isSame(before, after) ? undefined : { before }),
    whole: (now) => now
  }
}

/** A call that can not be read runs nothing, so there is nothing to guard. */
const guardedCall = Effect.fnUntraced(function* (guarding: Guarding, call: ToolCall) {
  if (call.malformed !== undefined || !isJsonObject(call.arguments)) return { call, records: NO_RECORDS, verdict: {} }
  const { asked, records, stop, value } = yield* walk(guarding, call.arguments, callPlace(call))
  const verdict: Verdict = defined({
    refuse: stop === undefined ? undefined : stop.reason,
    asks: asked === undefined ? undefined : (true as const)
  })
  return { call: value === call.arguments ? call : { ...call, arguments: value }, records, verdict }
})

export interface GuardedCalls {
  readonly calls: ReadonlyArray<ToolCall>
  readonly records: ReadonlyArray<HookRecord>
  readonly verdicts: ReadonlyArray<Verdict>
}

/** The calls of a reply before anything of them runs. None waits for another one. */
export const guardedCalls = Effect.fnUntraced(function* (guarding: Guarding, calls: ReadonlyArray<ToolCall>) {
  const each = yield* Effect.forEach(calls, (call) => guardedCall(guarding, call), { concurrency: "unbounded" })
  const guarded: GuardedCalls = {
    calls: each.map(({ call }) => call),
    records: each.flatMap(({ records }) => records),
    verdicts: each.map(({ verdict }) => verdict)
  }
  return guarded
})

// Result: what a call came to, before the model reads it.

export interface GuardedResult<A> {
  readonly result: A
  readonly records: ReadonlyArray<HookRecord>
}

/** A result before it is recorded: what a run changed and sent stays as it is. */
export const guardedResult = Effect.fnUntraced(function* <A extends ToolResult>(
  guarding: Guarding,
  call: ToolCall,
  result: A
) {
  const about = { call: call.id, tool: call.tool }
  const beside = { ...about, args: call.arguments, ok: result.ok }
  const walked = yield* walk(guarding, result.content, textPlace("afterTool", "result", beside, about))
  const { records, stop, value } = walked
  const refused = stop === undefined ? undefined : ({ ok: false, failure: "refused" } as const)
  const content = stop === undefined ? value : withheld(call.tool, stop)
  const { parts, ...rest } = result
  const shown = defined({ parts: stop === undefined ? parts : undefined })
  const guarded: GuardedResult<A> = { result: { ...rest, ...shown, ...refused, content } as unknown as A, records }
  return guarded
})

// GuardedModel: a model that something else than a tick asks.
// G1  A prompt or a reply that a hook refuses is refused as by the model itself: the work goes on without it.

const refusedBy = (stop: Stop): ModelRefused =>
  new ModelRefused({ provider: "hook", kind: "filtered", message: stopText(stop) })

/** The model with the hooks around it; what they did is put into the log. */
export const guardedModel = (
  guarding: Guarding,
  model: Model["Service"],
  purpose: HookPurpose,
  log: Array<HookRecord>
): Model["Service"] => {
  const { hooks } = guarding.session.definition
  if (hooks?.beforeModel === undefined && hooks?.afterModel === undefined) return model
  const infer: Model["Service"]["infer"] = Effect.fnUntraced(function* (asked, options) {
    const before = yield* guardedPrompt(guarding, asked, purpose, 0)
    log.push(...before.records)
    if (before.stop !== undefined) return yield* refusedBy(before.stop)
    const unheard = defined({ bytesOf: options?.bytesOf })
    const reply = yield* model.infer(before.prompt, hooks.afterModel === undefined ? options : unheard)
    const after = yield* guardedReply(guarding, reply, purpose, asked.callPrefix)
    log.push(...after.records)
    return after.stop === undefined ? after.reply : yield* refusedBy(after.stop)
  })
  return { ...model, infer }
}
