// InferJob: one model call of a tick.
// Owns the prompt's way to the model and the reply's way back. Leaves the prompt's parts to `context`.
// I1  Arguments and texts go into messages; the statechart receives control data only.
// I2  A defect in an adapter is a failed call, not the end of the assistant.

import { callId, contextOf, type InferFailure } from "@reverie/assistant"
import {
  componentToPromptComponent,
  type ContextTooSmall,
  getPromptRegistry,
  type PluggedIn,
  PromptStore
} from "@reverie/context"
import { Ledger } from "@reverie/ledger"
import {
  type BytesOf,
  Model,
  type ModelError,
  type Prompt,
  type Reply,
  type ToolOffer,
  withOutputDescribed
} from "@reverie/model"
import { defined, type EnvelopeId, type OpenJob, type TenantId } from "@reverie/protocol"
import type { Form } from "@reverie/tools"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { Showing } from "../commit/feed.ts"
import { NoticeHub } from "../commit/replies.ts"
import { noteTopics } from "../intake/inbox.ts"
import { outageSeen, withheldBefore } from "../outages/outage-book.ts"
import { besideTokens } from "../prompt/blocks-in-view.ts"
import { activityOf, describesTools, reflectionValues, refreshBlocks } from "../prompt/blocks.ts"
import { patternShown, pressedNow } from "../prompt/layers.ts"
import { failedUse, isNarrowed, isTimeOver, replyRoom, tookOf, UNSENT, warningOf } from "../prompt/metered.ts"
import { allowedNow, answerFormOf, cacheKeyOf, judgedAnswer, outputOf, promptOf, WITHHELD } from "../prompt/prompt.ts"
import { recollect } from "../recall/recollect.ts"
import { NOT_READ, type Rendering } from "../session/definition.ts"
import { noteShown, type Session } from "../session/session.ts"
import { inSpan } from "../telemetry/spans.ts"
import { guardedCalls, type GuardedPrompt, guardedPrompt, guardedReply, type Guarding, stopText } from "./hooks.ts"
import { inferFailed, inferred, MAX_CALLS, seeing, servedIn, unsentJob } from "./infer-end.ts"
import { judgedCalls } from "./tool-job.ts"
import { bytesFor, Faults, isMetered, keptReply, pricesNow, Secrets, withHooks } from "./job-end.ts"

const failureOf = (error: ModelError): InferFailure => ({
  recovery: error.recovery,
  reason: `${error._tag}: ${error.message}`,
  ...defined({
    retryAfterMs: "retryAfterMs" in error ? error.retryAfterMs : undefined,
    limited: error._tag === "CallLimited" || error._tag === "CallOverLimit" ? true : undefined
  })
})

/** What the statechart learns of a failed call, and what it has cost. */
const failedWith = Effect.fnUntraced(function* (
  session: Session,
  job: OpenJob,
  error: ModelError,
  promptTokens: number,
  replyTokens: number | undefined
): Effect.fn.Return<InferFailure, never, Model> {
  const { hide } = yield* Secrets
  const outage = yield* outageSeen(session, job, error)
  const asked = (yield* Model).serves?.model ?? ""
  const priceOf = yield* pricesNow(session)
  const used = failedUse(session, error, (tokens) => tookOf(asked, tokens, priceOf), promptTokens, replyTokens)
  return { ...hide(outage ?? failureOf(error)), ...used }
})

const NO_ROOM: InferFailure = {
  recovery: "cut",
  reason: "the prompt has no room in what is left of the budget",
  used: UNSENT
}

/** A prompt that can not be made small enough: for the budget, or for the model. */
const tooLarge = (session: Session, { message, recovery }: ContextTooSmall): InferFailure =>
  isNarrowed(session) ? { recovery: "cut", reason: message, used: UNSENT } : { recovery, reason: message }

/** Why a call of an assistant with a budget is not sent at all; undefined when it may be. */
const unsentBefore = (session: Session, recovered: boolean, now: number): InferFailure | undefined => {
  if (isTimeOver(session, now))
    return { recovery: "cut", reason: "its time is over", ...defined({ used: recovered ? undefined : UNSENT }) }
  if (!recovered || !isMetered(session)) return undefined
  return { recovery: "again", reason: "a crash cut this call off; what was moved away for it counts as spent" }
}

/** Where a reply is shown while it is made; nowhere when no one listens to parts. */
const showingOf = Effect.fnUntraced(function* (session: Session, at: number) {
  const hub = yield* NoticeHub
  const { inPieces } = yield* Secrets
  const clock = yield* Clock.Clock
  const { envelope, iteration, tick } = contextOf(session.decoded)
  const { address, definition } = session
  // What a hook may still change or refuse, no one is shown before.
  if (envelope === null || definition.hooks?.afterModel !== undefined || !hub.isHeard("part")) return undefined
  const about = { type: "part", address, at, tick, iteration, envelope: envelope as EnvelopeId } as const
  return new Showing({
    tell: (piece) => hub.tell({ ...about, piece }),
    inPieces,
    callId: (index) => (index < MAX_CALLS ? callId(tick, iteration, index) : undefined),
    showsArguments: definition.hooks?.beforeTool === undefined,
    now: () => clock.currentTimeMillisUnsafe()
  })
})

/** The prompt as it reaches the model: one that does not read a form by itself, or has not kept to it, reads it in words. */
const promptFor = (
  session: Session,
  { serves }: Model["Service"],
  form: Form | undefined,
  { lasting, messages }: Pick<Prompt, "lasting" | "messages">,
  {
    maxOutputTokens,
    tools
  }: { readonly tools: ReadonlyArray<ToolOffer>; readonly maxOutputTokens?: number | undefined }
): Prompt => {
  const { iteration, repairs, tick } = contextOf(session.decoded)
  const prompt: Prompt = {
    messages,
    tools,
    callPrefix: `${tick}.${iteration}`,
    cacheKey: cacheKeyOf(session),
    ...defined({
      allowed: allowedNow(session),
      lasting,
      describesTools: describesTools(session) ? (true as const) : undefined,
      output: outputOf(form),
      maxOutputTokens,
      paidOnce: isMetered(session) ? (true as const) : undefined
    })
  }
  return serves?.output === "native" && repairs === 0 ? prompt : withOutputDescribed(prompt)
}

/** Reads what a prompt is made of, as far as the call at hand needs it anew. */
const refreshed = Effect.fnUntraced(function* (session: Session, model: Model["Service"]) {
  const isFirst = contextOf(session.decoded).iteration <= 1
  yield* refreshRendering(session, isFirst, model)
  yield* refreshBlocks(session)
  yield* recollect(session)
  if (isFirst) yield* noteTopics(session)
})

/** What the prompt of a call comes to, and how much of it is no conversation. */
const noteTokens = (session: Session, promptTokens: number, { tokens }: Session["window"]): void =>
  noteShown(session, { promptTokens, prefixTokens: Math.max(0, promptTokens - tokens - besideTokens(session)) })

/** Why a prompt is not sent as hooks left it; undefined when it is. */
const unfitAfter = (session: Session, { stop, tokens }: GuardedPrompt, length: number): InferFailure | undefined => {
  const refused = { recovery: "tell-owner", limited: true, used: UNSENT } as const
  if (stop !== undefined) return { ...refused, reason: stopText(stop) }
  const { maxContextTokens, reservedResponseTokens } = session.definition
  const most = maxContextTokens - reservedResponseTokens
  if (tokens > 0 && length > most) {
    const reason = `the prompt has ${length} tokens after the hook beforeModel, and at most ${most} are sent`
    return { ...refused, reason: stopText({ did: "failed", reason }) }
  }
  return replyRoom(session, length) === undefined ? NO_ROOM : undefined
}

/** The prompt as hooks leave it, or why it is not sent. */
const guardedBefore = Effect.fnUntraced(function* (guarding: Guarding, prompt: Prompt, tokens: number) {
  const { session } = guarding
  const guarded = yield* guardedPrompt(guarding, prompt, "answer", contextOf(session.decoded).iteration)
  const length = tokens + guarded.tokens
  const room = replyRoom(session, length)?.tokens
  const sent = room === undefined ? guarded.prompt : { ...guarded.prompt, maxOutputTokens: room }
  return { prompt: sent, records: guarded.records, tokens: length, unfit: unfitAfter(session, guarded, length) }
})

/** The reply as hooks leave it: its words, its calls, and what they say of each call. */
const guardedAfter = Effect.fnUntraced(function* (guarding: Guarding, said: Reply, { callPrefix }: Prompt) {
  const { records, reply, stop } = yield* guardedReply(guarding, said, "answer", callPrefix)
  if (stop !== undefined) {
    const { kept: _kept, parts: _parts, ...bare } = reply
    const withheld: Reply = { ...bare, text: WITHHELD.text, calls: [] }
    return { reply: withheld, records, verdicts: [], refusal: stop.reason }
  }
  if (reply.calls.length === 0) return { reply, records, verdicts: [] }
  const { calls, ...judged } = yield* guardedCalls(guarding, reply.calls.slice(0, MAX_CALLS))
  return {
    reply: { ...reply, calls: [...calls, ...reply.calls.slice(MAX_CALLS)] },
    records: [...records, ...judged.records],
    verdicts: judged.verdicts
  }
})

/** What the model answers, or why it does not. */
const replyTo = Effect.fnUntraced(function* (
  session: Session,
  job: OpenJob,
  prompt: Prompt,
  {
    bytesOf,
    promptTokens,
    showing
  }: { readonly showing: Showing | undefined; readonly promptTokens: number; readonly bytesOf: BytesOf }
) {
  const model = yield* Model
  const { hide } = yield* Secrets
  return yield* model.infer(prompt, { ...showing?.options, bytesOf }).pipe(
    Effect.ensuring(Effect.sync(() => showing?.end())),
    Effect.map(({ calls, earlier, text, ...reply }) => ({
      reply: { ...reply, text: hide(text), calls: hide(calls), ...defined({ earlier: hide(earlier) }) }
    })),
    Effect.catch((error) =>
      Effect.map(failedWith(session, job, error, promptTokens, prompt.maxOutputTokens), (failure) => ({ failure }))
    ),
    // A defect in an adapter must not take the assistant with it.
    Effect.catchDefect((defect) =>
      Effect.succeed({
        failure: { recovery: "retry" as const, reason: hide(`the model adapter broke: ${String(defect)}`) }
      })
    )
  )
})

export const infer = Effect.fnUntraced(function* (session: Session, job: OpenJob, recovered: boolean) {
  const model = yield* Model
  const faults = yield* Faults
  const startedAt = yield* Clock.currentTimeMillis
  const unsent = unsentBefore(session, recovered, startedAt)
  if (unsent !== undefined) return inferFailed(job, unsent, startedAt, startedAt)
  const withheld = yield* withheldBefore(model)
  if (withheld !== undefined) {
    return inferFailed(job, yield* failedWith(session, job, withheld, 0, undefined), startedAt, startedAt)
  }
  yield* refreshed(session, model)
  const pressed = pressedNow(session)
  const { window } = session
  const warning = warningOf(session, startedAt)
  const { assembled, kept, offers, shown } = yield* session
    .inSlices(() => promptOf(session, warning))
    .pipe(inSpan("context.assemble"))
  if (Result.isFailure(assembled)) {
    return inferFailed(job, tooLarge(session, assembled.failure), startedAt, startedAt)
  }
  // The next prompt begins as this one did, unless something was added in the meantime.
  if (session.window === window) noteShown(session, { window: kept })
  const { report } = assembled.success
  noteTokens(session, report.tokens, assembled.success.window)
  const room = replyRoom(session, report.tokens)
  if (room === undefined) return inferFailed(job, NO_ROOM, startedAt, startedAt)
  yield* faults.at("before-model", session.address)
  const { hide } = yield* Secrets
  const form = answerFormOf(session)
  const { hooks } = session.definition
  const plain = promptFor(session, model, form, assembled.success, { tools: offers, maxOutputTokens: room.tokens })
  const before =
    hooks?.beforeModel === undefined ? undefined : yield* guardedBefore({ session, hide }, plain, report.tokens)
  if (before?.unfit !== undefined) return withHooks(unsentJob(job, before.unfit), before.records)
  const prompt = before?.prompt ?? plain
  const showing = yield* showingOf(session, startedAt)
  const bytesOf = bytesFor(session, yield* Ledger)
  const promptTokens = before?.tokens ?? report.tokens
  const outcome = yield* replyTo(session, job, prompt, { promptTokens, showing, bytesOf })
  yield* faults.at("after-model", session.address)
  const after =
    hooks === undefined || !("reply" in outcome)
      ? undefined
      : yield* guardedAfter({ session, hide }, outcome.reply, prompt)
  const said = after?.reply ?? ("reply" in outcome ? outcome.reply : undefined)
  const { made, reply } = said?.parts === undefined ? { made: undefined, reply: said } : yield* keptReply(session, said)
  const isJudged = form !== undefined || after?.refusal !== undefined
  const judged =
    reply === undefined || !isJudged ? undefined : yield* judgedAnswer(session, form, reply, after?.refusal, pressed)
  const now = yield* Clock.currentTimeMillis
  const priceOf = yield* pricesNow(session)
  const verdicts = yield* judgedCalls(session, reply?.calls.slice(0, MAX_CALLS), after?.verdicts)
  const took = { pressed, judged, server: model.serves?.server, priceOf, firstAt: showing?.firstAt, verdicts }
  const end =
    "reply" in outcome
      ? inferred(session, job, { ...took, reply: reply ?? outcome.reply }, shown, now, startedAt)
      : inferFailed(job, outcome.failure, now, startedAt)
  const served = servedIn(end, model, prompt)
  const seen = seeing(end, report, patternShown(session, pressed), session.recollection, served)
  return withHooks({ ...seen, ...defined({ made }) }, before?.records ?? [], after?.records ?? [])
})

// Rendering: what prompts are rendered with besides the messages: plugged-in components, templates, and values of the time.
// Owns reading them anew when a call needs it. Leaves what is made of them to blocks.ts and prompt.ts.

// Plugged: what the tenant has put between the static components of every prompt, and the templates that it wrote.
// I1  A tick sees one state of the registry from its first model call to its last; the next tick sees the newest.
// I2  A registry that can not be read leaves what was last read: a prompt is better without a change than not at all.

const isSame = (before: ReadonlyArray<unknown>, after: ReadonlyArray<unknown>): boolean =>
  (before.length === 0 && after.length === 0) || JSON.stringify(before) === JSON.stringify(after)

const noteRendering = (session: Session, rendering: Partial<Rendering>): void =>
  noteShown(session, { rendering: { ...session.rendering, ...rendering } })

/** Most tenants have written nothing. */
const readPlugged = Effect.fnUntraced(function* (tenant: TenantId, store: PromptStore["Service"]) {
  const written = yield* Effect.all([store.current(tenant, "component"), store.current(tenant, "template")])
  if (written.every(({ length }) => length === 0)) return [[], []] as const
  const registry = yield* Effect.provideService(getPromptRegistry(tenant), PromptStore, store)
  return yield* Effect.all([registry.listPluggableComponents, registry.listTemplates({ includeBuiltin: false })])
})

const refreshPlugged = Effect.fnUntraced(function* (session: Session) {
  const store = yield* Effect.serviceOption(PromptStore)
  if (Option.isNone(store)) return
  const read = yield* Effect.option(readPlugged(session.address.tenant, store.value))
  if (Option.isNone(read)) return
  const [components, templates] = read.value
  const { templates: known } = session.rendering
  if (known === NOT_READ || !isSame([...known.values()], templates)) {
    noteRendering(session, { templates: new Map(templates.map((template) => [template.key, template])) })
  }
  const plugged = components.map((kept): PluggedIn => ({
    ...componentToPromptComponent(kept),
    afterStatic: kept.afterStatic
  }))
  if (!isSame(session.plugged, plugged)) noteShown(session, { plugged })
})

/** What a reflection reads of the time since the last one. */
const refreshReflection = (session: Session) => {
  const { contextType, iteration } = contextOf(session.decoded)
  const { values } = session.rendering
  const isKnown = values["reflection"] !== ""
  if (contextType !== "reflection") {
    if (isKnown) noteRendering(session, { values: { ...values, reflection: "" } })
    return Effect.void
  }
  return isKnown && iteration > 1 ? Effect.void : countReflection(session)
}

const countReflection = Effect.fnUntraced(function* (session: Session) {
  const { values } = session.rendering
  const counted = yield* Effect.option(reflectionValues(session))
  if (Option.isSome(counted)) noteRendering(session, { values: { ...values, ...counted.value } })
})

/** Reads what prompts are rendered with, as far as the call at hand needs it anew. */
const refreshRendering = Effect.fnUntraced(function* (
  session: Session,
  isFirst: boolean,
  { serves }: Model["Service"]
) {
  const { definition, rendering } = session
  if (isFirst || rendering.templates === NOT_READ) yield* refreshPlugged(session)
  const isPlain = serves?.tools === "json"
  if (isPlain !== rendering.isPlain) noteRendering(session, { isPlain })
  yield* refreshReflection(session)
  if (!isFirst || definition.prompt?.activityEntriesLimit === undefined) return
  noteRendering(session, { activity: yield* Effect.orElseSucceed(activityOf(session), () => "") })
})
