// Phase: how one step of a compaction ends as a job.
// Owns the shape of the end. Leaves what a step does to the phases beside it.

import { jobDone, jobFailed, type OutageSeen, type Restriction } from "@reverie/assistant"
import type { ModelError } from "@reverie/model"
import {
  type Envelope,
  type Json,
  type OpenJob,
  type RecordChange,
  type StepRecord,
  type Usage,
  defined
} from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { JobEnd } from "../jobs/job-end.ts"
import { outageSeen } from "../outages/outage-seen.ts"
import { Secrets } from "../jobs/secrets.ts"
import { noteRun, type Session } from "../session/session.ts"
import type { UncountedMessage } from "../commit/commit-draft.ts"

/** Of an outage the phase is tried again. */
export interface Failed {
  readonly reason: string
  readonly recovery: string
  readonly outage?: OutageSeen
}

/** A step that the model was missing for: nothing is written down. Undefined when its call failed for another reason. */
export const waiting = Effect.fnUntraced(function* (session: Session, job: OpenJob, error: ModelError) {
  const seen = yield* outageSeen(session, job, error)
  if (seen === undefined) return undefined
  const { hide } = yield* Secrets
  const step: PhaseStep = { records: [], failed: hide(seen) }
  return step
})

/** What one step came to. */
export interface PhaseStep {
  readonly records: ReadonlyArray<RecordChange>
  readonly messages?: ReadonlyArray<UncountedMessage>
  readonly sends?: ReadonlyArray<Envelope>
  readonly usage?: Usage
  /** The phase goes on with another step. */
  readonly more?: boolean
  /** Why nothing is compacted at all. */
  readonly skipped?: string
  /** Why the phase failed; the history is as it was. */
  readonly failed?: Failed
  /** What is left of the tick's pattern once there is room again. */
  readonly restriction?: Restriction
  readonly detail?: { readonly [key: string]: Json }
}

export const endOf = Effect.fnUntraced(function* (session: Session, job: OpenJob, startedAt: number, step: PhaseStep) {
  const { phase } = job.input as { readonly phase: string }
  const at = yield* Clock.currentTimeMillis
  const { failed, messages = [], more, records, restriction, sends, skipped, usage } = step
  noteRun(session, job, records)
  const record: StepRecord = {
    id: job.id,
    kind: "compact",
    name: `compact ${phase}`,
    ok: failed === undefined,
    elapsedMillis: at - startedAt,
    ...defined({ usage }),
    detail: {
      ...step.detail,
      ...defined({ skipped, error: failed === undefined ? undefined : failed.reason })
    }
  }
  const output = {
    skipped: skipped !== undefined,
    ...defined({ more: more === true ? more : undefined, restriction }),
    at
  }
  const end: JobEnd = {
    job,
    event: failed === undefined ? jobDone("compact", output) : jobFailed("compact", failed),
    messages,
    ...defined({ step: failed?.outage?.withheld === true ? undefined : record }),
    records,
    ...defined({ sends: sends === undefined || sends.length === 0 ? undefined : sends })
  }
  return end
})
