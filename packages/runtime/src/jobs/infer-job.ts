// InferJob: one model call of a tick.
// Owns the prompt's way to the model and the reply's way back. Leaves the prompt's parts to `context`.
// I1  Arguments and texts go into messages; the statechart receives control data only.
// I2  A defect in an adapter is a failed call, not the end of the assistant.

import {
  type CallRequest,
  contextOf,
  type InferFailure,
  jobDone,
  jobFailed,
  type Restriction
} from "@reverie/assistant"
import type { ContextReport, ContextTooSmall } from "@reverie/context"
import {
  type InferOptions,
  Model,
  type ModelError,
  type Prompt,
  type Reply,
  type ToolOffer,
  withOutputDescribed
} from "@reverie/model"
import {
  defined,
  type EnvelopeId,
  type Json,
  type OpenJob,
  type RecordChange,
  type StepRecord,
  type ToolCall
} from "@reverie/protocol"
import { approvalId, type Form, judgeCalls } from "@reverie/tools"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { answerFormOf, judgedAnswer, outputOf } from "../prompt/answer-form.ts"
import { besideTokens } from "../prompt/blocks-in-view.ts"
import { describesTools, insightsOf, refreshBlocks } from "../prompt/blocks.ts"
import { noteTopics } from "../intake/inbox.ts"
import { Faults, type JobEnd } from "./job-end.ts"
import { patternShown, pressedNow } from "../prompt/layers.ts"
import { NoticeHub } from "../commit/replies.ts"
import type { JudgedAnswer } from "../commit/commit-draft.ts"
import { outageSeen, withheldBefore } from "../outages/outage-book.ts"
import {
  allowedNow,
  cacheKeyOf,
  failedUse,
  isMetered,
  isNarrowed,
  isTimeOver,
  promptOf,
  replyRoom,
  tookOf,
  UNSENT,
  warningOf
} from "../prompt/prompt.ts"
import { refreshRendering } from "../prompt/rendering.ts"
import { recollect } from "../recall/recollect.ts"
import { approvalSubject, noteRun, noteShown, type Session, toolsOfTick } from "../session/session.ts"
import { Secrets } from "./tool-job.ts"
import { inSpan } from "../telemetry/spans.ts"

/** The most calls of one reply that are followed; a longer list is a broken model. */
const MAX_CALLS = 16

const failureOf = (error: ModelError): InferFailure => ({
  recovery: error.recovery,
  reason: `${error._tag}: ${error.message}`,
  ...defined({
    retryAfterMillis: "retryAfterMillis" in error ? error.retryAfterMillis : undefined,
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
  return { ...hide(outage ?? failureOf(error)), ...failedUse(session, error, promptTokens, replyTokens) }
})

/** What a kind of context leaves out is offered all the same: its call is refused. */
const notAllowed = ({ tool }: ToolCall, allowed: ReadonlyArray<string> | undefined): string | undefined =>
  allowed === undefined || allowed.includes(tool)
    ? undefined
    : `The tool ${tool} can not be called now. Call one of these, or answer: ${allowed.join(", ")}.`

/** What the statechart learns of the calls: categories, what tool rules say, and what an approval would be bound to. */
const requestsOf = (session: Session, calls: ReadonlyArray<ToolCall>): ReadonlyArray<CallRequest> => {
  const { address, claim, definition } = session
  const { tick } = contextOf(session.decoded)
  const verdicts = judgeCalls({
    rules: definition.rules,
    calledThisTick: definition.rules.length === 0 ? [] : toolsOfTick(session),
    calls,
    available: definition.toolkit.names
  })
  const allowed = allowedNow(session)
  return calls.map((call, index): CallRequest => {
    const { ends, refusal = notAllowed(call, allowed) } = verdicts[index] ?? {}
    const tool = definition.toolkit.get(call.tool)
    const asks = tool?.needsConsent?.(call.arguments, session.blocks.known) === true
    const category = asks ? "dangerous" : (tool?.category ?? "safe_chain")
    const rules = defined({ refused: refusal, ends })
    if (category !== "dangerous") return { tool: call.tool, category, ...rules }
    const approval = approvalId({ ...approvalSubject(address, tick, call), epoch: claim.epoch })
    const asking = asks ? { asks } : {}
    return { tool: call.tool, category, approval, askedIn: claim.epoch, ...asking, ...rules }
  })
}

interface Inferred {
  readonly reply: Reply
  /** Who is asked where the reply does not say who answered. */
  readonly server: string | undefined
  readonly pressed: Restriction | undefined
  /** What an answer comes to that must have a form. */
  readonly judged: JudgedAnswer | undefined
}

/** Why the models before the one that answered did not; nothing where there were none. */
export const earlierIn = (earlier: Reply["earlier"] = []): Json | undefined =>
  earlier.length === 0
    ? undefined
    : earlier.map(({ model, reason, server }) => ({ model, ...defined({ server }), reason }))

/** A reply, and under what it came about. */
const inferred = (
  session: Session,
  job: OpenJob,
  { judged, pressed, reply, server }: Inferred,
  shown: ReadonlyArray<RecordChange>,
  now: number,
  startedAt: number
): JobEnd => {
  const misfit = judged !== undefined && "issues" in judged ? judged : undefined
  const calls = reply.calls.slice(0, MAX_CALLS)
  const requests = requestsOf(session, calls)
  const records = [...(calls.length === 0 ? insightsOf(session, reply.text, now) : []), ...shown]
  noteRun(session, job, records)
  return {
    job,
    ...defined({ records: records.length === 0 ? undefined : records, judged }),
    event: jobDone("infer", {
      calls: requests,
      ...defined({
        restriction: pressed,
        used: isMetered(session) ? tookOf(session, reply.usage) : undefined,
        misshapen: misfit === undefined ? undefined : true
      })
    }),
    messages: [
      {
        role: "assistant",
        content: reply.text,
        at: now,
        ...defined({
          calls: calls.length === 0 ? undefined : calls,
          reasoning: reply.reasoning,
          rejected: misfit?.rejected
        })
      }
    ],
    step: {
      id: job.id,
      kind: "infer",
      name: "infer",
      ok: true,
      elapsedMillis: now - startedAt,
      usage: reply.usage,
      detail: {
        model: reply.model,
        ...defined({ server: reply.server ?? server }),
        finish: reply.finish,
        ...defined({
          earlier: earlierIn(reply.earlier),
          callsLeftOut: calls.length < reply.calls.length ? reply.calls.length - calls.length : undefined,
          misfit: misfit?.issues
        })
      }
    }
  }
}

const inferFailed = (job: OpenJob, failure: InferFailure, now: number, startedAt: number): JobEnd => {
  const end = { job, event: jobFailed("infer", failure), messages: [] }
  // What was never sent is no step of anybody.
  if (failure.outage?.withheld === true) return end
  const step: StepRecord = {
    id: job.id,
    kind: "infer",
    name: "infer",
    ok: false,
    elapsedMillis: now - startedAt,
    detail: { error: failure.reason, recovery: failure.recovery }
  }
  return { ...end, step }
}

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

/** Where the text of a reply is shown while it grows; nowhere when no one listens. */
const previewOf = (session: Session, hub: NoticeHub["Service"], at: number): InferOptions | undefined => {
  const { envelope, tick } = contextOf(session.decoded)
  if (envelope === null || !hub.isHeard()) return undefined
  const { address } = session
  return { onText: (text) => hub.tell({ type: "part", address, at, tick, envelope: envelope as EnvelopeId, text }) }
}

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

export const infer = Effect.fnUntraced(function* (session: Session, job: OpenJob, recovered: boolean) {
  const model = yield* Model
  const faults = yield* Faults
  const hub = yield* NoticeHub
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
  const { assembled, offers, shown } = yield* session
    .inSlices(() => promptOf(session, warning))
    .pipe(inSpan("context.assemble"))
  if (Result.isFailure(assembled)) {
    return inferFailed(job, tooLarge(session, assembled.failure), startedAt, startedAt)
  }
  // The next prompt begins as this one did, unless something was added in the meantime.
  if (session.window === window && warning === undefined) noteShown(session, { window: assembled.success.window })
  const { report } = assembled.success
  noteTokens(session, report.tokens, assembled.success.window)
  const room = replyRoom(session, report.tokens)
  if (room === undefined) return inferFailed(job, NO_ROOM, startedAt, startedAt)
  yield* faults.at("before-model", session.address)
  const { hide } = yield* Secrets
  const form = answerFormOf(session)
  const prompt = promptFor(session, model, form, assembled.success, { tools: offers, maxOutputTokens: room.tokens })
  const outcome = yield* model.infer(prompt, previewOf(session, hub, startedAt)).pipe(
    Effect.map((reply) => ({
      reply: reply.earlier === undefined ? reply : { ...reply, earlier: hide(reply.earlier) }
    })),
    Effect.catch((error) =>
      Effect.map(failedWith(session, job, error, report.tokens, room.tokens), (failure) => ({ failure }))
    ),
    // A defect in an adapter must not take the assistant with it.
    Effect.catchDefect((defect) =>
      Effect.succeed({
        failure: { recovery: "retry" as const, reason: hide(`the model adapter broke: ${String(defect)}`) }
      })
    )
  )
  yield* faults.at("after-model", session.address)
  const answer = "reply" in outcome && outcome.reply.calls.length === 0 ? outcome.reply.text : undefined
  const judged =
    form === undefined || answer === undefined ? undefined : yield* judgedAnswer(session, form, answer, pressed)
  const now = yield* Clock.currentTimeMillis
  const took = { pressed, judged, server: model.serves?.server }
  const end =
    "reply" in outcome
      ? inferred(session, job, { ...took, reply: outcome.reply }, shown, now, startedAt)
      : inferFailed(job, outcome.failure, now, startedAt)
  return seeing(end, report, patternShown(session, pressed), session.recollection.ids, servedIn(end, model))
})

/** Which model it was asked of, and how, as far as its reply does not say that: another prompt is made for another one. */
const servedIn = ({ step }: JobEnd, { serves }: Model["Service"]): Json | undefined => {
  if (serves === undefined) return undefined
  const { model, tools } = serves
  return tools === undefined && step?.detail?.["model"] === model ? undefined : { model, ...defined({ tools }) }
}

/** With what the model was shown. */
const seeing = (
  end: JobEnd,
  report: ContextReport,
  pattern: Json | undefined,
  recalled: ReadonlyArray<string>,
  served: Json | undefined
): JobEnd => {
  if (end.step === undefined) return end
  const shown = {
    context: report as unknown as Json,
    ...defined({ pattern, recalled: recalled.length === 0 ? undefined : recalled, served })
  }
  return { ...end, step: { ...end.step, detail: { ...end.step.detail, ...shown } } }
}
