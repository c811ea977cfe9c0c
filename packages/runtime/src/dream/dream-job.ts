// DreamJob: one step of a dream as a job.
// Owns which operation runs, its end, and its mark in the report. Leaves the operations to the modules beside it.
// D1  An operation that fails is told as failed and changes nothing; the dream goes on with the next one (A18).
// D2  Nobody waits for a dream: whatever it needs and can not have is tried again another night.
// D3  A model that is away is no failure of the operation: nothing is written down, and the same step is tried again in the
//     same night.

import { type DreamOperation, contextOf, jobDone, jobFailed } from "@reverie/assistant"
import { Ledger } from "@reverie/ledger"
import { isModelError } from "@reverie/model"
import { type Json, type OpenJob, type RecordChange, type StepRecord, defined } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { applyRecords } from "../own-records.ts"
import type { JobEnd } from "../job-end.ts"
import { outageSeen } from "../outages/outage-seen.ts"
import { Secrets } from "../secrets.ts"
import type { Session } from "../session.ts"
import { consolidating } from "./consolidating.ts"
import { linking } from "./linking.ts"
import { profiling } from "./profiling.ts"
import { pruning } from "./pruning.ts"
import { reflecting } from "./reflecting.ts"
import { dreamId, markStep, type StepMark, tokensOf } from "./report.ts"
import type { DreamStep } from "./step.ts"

const run = (session: Session, operation: DreamOperation) => {
  switch (operation) {
    case "consolidating":
      return consolidating(session)
    case "linking":
      return linking(session)
    case "profiling":
      return profiling(session)
    case "reflecting":
      return reflecting(session)
    case "pruning":
      return pruning(session)
  }
}

/** The step's line in the report of this night. */
const marked = Effect.fnUntraced(function* (session: Session, mark: StepMark) {
  const rows = yield* (yield* Ledger).records(session.address, ["dream"])
  return markStep(rows, dreamId(contextOf(session.decoded).tick), mark)
})

const recordOf = (job: OpenJob, mark: StepMark, detail: { readonly [key: string]: Json }): StepRecord => ({
  id: job.id,
  kind: "dream",
  name: `dream ${mark.operation}`,
  ok: mark.error === undefined,
  elapsedMillis: mark.endedAt - mark.startedAt,
  ...defined({
    usage:
      mark.usage.length === 0
        ? undefined
        : {
            inputTokens: mark.usage.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
            outputTokens: mark.usage.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
            source: mark.usage.every(({ source }) => source === "provider")
              ? ("provider" as const)
              : ("counted" as const)
          }
  }),
  detail
})

const done = (job: OpenJob, mark: StepMark, step: DreamStep, records: ReadonlyArray<RecordChange>): JobEnd => ({
  job,
  event: jobDone("dream", {
    skipped: step.skipped !== undefined,
    ...defined({ more: step.more === true ? true : undefined }),
    at: mark.endedAt
  }),
  messages: [],
  records,
  step: recordOf(job, mark, {
    read: mark.read,
    proposed: mark.proposed,
    accepted: mark.accepted,
    tokens: tokensOf(mark.usage),
    ...defined({ note: step.note, skipped: step.skipped })
  })
})

/** The end of a step that the model was missing for; undefined when it failed for another reason. */
const waiting = Effect.fnUntraced(function* (
  session: Session,
  job: OpenJob,
  at: Pick<StepMark, "operation" | "startedAt" | "endedAt">,
  failure: { readonly _tag: string }
) {
  if (!isModelError(failure)) return undefined
  const seen = yield* outageSeen(session, job, failure)
  if (seen === undefined) return undefined
  const { hide } = yield* Secrets
  const { reason } = hide(seen)
  const end: JobEnd = { job, event: jobFailed("dream", hide(seen)), messages: [] }
  if (seen.outage.withheld === true) return end
  const mark: StepMark = { ...at, read: 0, proposed: 0, accepted: 0, usage: [], error: reason }
  return { ...end, step: recordOf(job, mark, { error: reason, waits: true }) }
})

export const dream = Effect.fnUntraced(function* (session: Session, job: OpenJob) {
  const { operation } = job.input as { readonly operation: DreamOperation }
  const startedAt = yield* Clock.currentTimeMillis
  const ran = yield* Effect.result(run(session, operation))
  const base = { operation, startedAt, endedAt: yield* Clock.currentTimeMillis }
  const waits = Result.isFailure(ran) ? yield* waiting(session, job, base, ran.failure) : undefined
  if (waits !== undefined) return waits
  if (Result.isFailure(ran)) {
    const { message, recovery } = ran.failure
    const error = message === "" ? ran.failure._tag : message
    const mark: StepMark = { ...base, read: 0, proposed: 0, accepted: 0, usage: [], error }
    const records = yield* marked(session, mark)
    const end: JobEnd = {
      job,
      event: jobFailed("dream", { recovery, reason: error }),
      messages: [],
      records,
      step: recordOf(job, mark, { error })
    }
    return end
  }
  const step = ran.success
  const { accepted, proposed, read, skipped, usage } = step
  const mark: StepMark = { ...base, read, proposed, accepted, usage, ...defined({ skipped }) }
  const records = [...step.records, ...(yield* marked(session, mark))]
  applyRecords(session.own, records)
  return done(job, mark, step, records)
})
