// InferEnd: how one model call of a tick ended.
// Owns the message and the step that are recorded of it. Leaves the call itself to infer-job.ts.
// I1  The statechart receives control data only; texts and arguments go into messages.

import { type InferFailure, jobDone, jobFailed, type Restriction } from "@reverie/assistant"
import type { ContextReport } from "@reverie/context"
import { hasParts, type Model, type Prompt, type Reply } from "@reverie/model"
import { defined, type Json, type OpenJob, type PriceOf, type RecordChange, type StepRecord } from "@reverie/protocol"
import type { JudgedAnswer } from "../commit/commit-draft.ts"
import { insightsOf } from "../prompt/blocks.ts"
import { tookOf } from "../prompt/metered.ts"
import { WITHHELD } from "../prompt/prompt.ts"
import { noteRun, type Session } from "../session/session.ts"
import type { Verdict } from "./hooks.ts"
import { earlierIn, isMetered, type JobEnd } from "./job-end.ts"
import { requestsOf } from "./tool-job.ts"

/** The most calls of one reply that are followed; a longer list is a broken model. */
export const MAX_CALLS = 16

interface Inferred {
  readonly reply: Reply
  /** Who is asked where the reply does not say who answered. */
  readonly server: string | undefined
  readonly pressed: Restriction | undefined
  /** What an answer comes to that must have a form, or that a hook refused. */
  readonly judged: JudgedAnswer | undefined
  readonly priceOf: PriceOf
  /** When its first token came; undefined where it did not come piece by piece. */
  readonly firstAt: number | undefined
  /** What hooks say of its calls. */
  readonly verdicts: ReadonlyArray<Verdict>
}

/** A reply, and under what it came about. */
export const inferred = (
  session: Session,
  job: OpenJob,
  { firstAt, judged, pressed, priceOf, reply, server, verdicts }: Inferred,
  shown: ReadonlyArray<RecordChange>,
  now: number,
  startedAt: number
): JobEnd => {
  const misfit = judged !== undefined && "issues" in judged ? judged : undefined
  const refused = judged !== undefined && "refusal" in judged ? judged : undefined
  const calls = reply.calls.slice(0, MAX_CALLS)
  const requests = requestsOf(session, calls, verdicts)
  const records = [...(calls.length === 0 ? insightsOf(session, reply.text, now) : []), ...shown]
  noteRun(session, job, records)
  return {
    job,
    ...defined({ records: records.length === 0 ? undefined : records, judged }),
    event: jobDone("infer", {
      calls: requests,
      ...defined({
        restriction: pressed,
        used: isMetered(session) ? tookOf(reply.model, reply.usage, priceOf) : undefined,
        misshapen: misfit === undefined ? undefined : true,
        refused: refused === undefined ? undefined : true
      })
    }),
    messages: [
      {
        role: "assistant",
        content: reply.text,
        at: now,
        ...defined({
          parts: refused === undefined ? reply.kept : undefined,
          calls: calls.length === 0 ? undefined : calls,
          // The reasoning of an answer that is withheld is withheld too.
          reasoning: refused === undefined ? reply.reasoning : undefined,
          rejected: (misfit ?? refused)?.rejected,
          meta: refused === undefined ? undefined : WITHHELD.meta
        })
      }
    ],
    step: {
      id: job.id,
      kind: "infer",
      name: "infer",
      ok: true,
      elapsedMs: now - startedAt,
      usage: reply.usage,
      detail: defined({
        model: reply.model,
        server: reply.server ?? server,
        finish: reply.finish,
        earlier: earlierIn(reply.earlier),
        firstTokenMs: firstAt === undefined ? undefined : Math.max(0, firstAt - startedAt),
        callsLeftOut: calls.length < reply.calls.length ? reply.calls.length - calls.length : undefined,
        misfit: misfit?.issues
      })
    }
  }
}

export const unsentJob = (job: OpenJob, failure: InferFailure): JobEnd => {
  return { job, event: jobFailed("infer", failure), messages: [] }
}

export const inferFailed = (job: OpenJob, failure: InferFailure, now: number, startedAt: number): JobEnd => {
  const end = unsentJob(job, failure)
  // What was never sent is no step of anybody.
  if (failure.outage?.withheld === true) return end
  const step: StepRecord = {
    id: job.id,
    kind: "infer",
    name: "infer",
    ok: false,
    elapsedMs: now - startedAt,
    detail: { error: failure.reason, recovery: failure.recovery }
  }
  return { ...end, step }
}

/**
 * Which model it was asked of, and how, as far as its reply does not say that: another prompt is made for another one. What it takes
 * counts where there are parts.
 */
export const servedIn = ({ step }: JobEnd, { serves }: Model["Service"], prompt: Prompt): Json | undefined => {
  if (serves === undefined) return undefined
  const { accepts, model, tools } = serves
  const taken = accepts !== undefined && hasParts(prompt) ? [...accepts] : undefined
  if (taken === undefined && tools === undefined && step?.detail?.["model"] === model) return undefined
  return { model, ...defined({ tools, accepts: taken }) }
}

/** With what the model was shown. */
export const seeing = (
  end: JobEnd,
  report: ContextReport,
  pattern: Json | undefined,
  { ids, scores }: Session["recollection"],
  served: Json | undefined
): JobEnd => {
  if (end.step === undefined) return end
  const shown = {
    context: report as unknown as Json,
    ...defined({
      pattern,
      recalled: ids.length === 0 ? undefined : ids,
      scores: Object.keys(scores).length === 0 ? undefined : scores,
      served
    })
  }
  return { ...end, step: { ...end.step, detail: { ...end.step.detail, ...shown } } }
}
