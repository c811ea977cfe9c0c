// JobEnd: how a job ended, ready to be decided upon and recorded.
// Owns its shape and what of it goes into the commit. Leaves running jobs to jobs.ts.
// I1  A job never fails: every failure is an event that the statechart receives.

import type { Input } from "@reverie/assistant"
import { type Envelope, type Json, type OpenJob, type RecordChange, type StepRecord, defined } from "@reverie/protocol"
import type { TurnInput, UncountedMessage } from "../commit/commit-draft.ts"

export interface JobEnd {
  readonly job: OpenJob
  readonly event: Input
  readonly messages: ReadonlyArray<UncountedMessage>
  /** Absent when nothing was done: a call that was never sent. */
  readonly step?: StepRecord
  readonly sends?: ReadonlyArray<Envelope>
  readonly records?: ReadonlyArray<RecordChange>
  /** Told to screens and callers, besides what the statechart emits. */
  readonly emitted?: NonNullable<TurnInput["emitted"]>
}

/** The number of the commit that started a job stands before its name. */
export const numberOf = ({ id }: OpenJob): number => Number(id.split("/")[0])

export const kindOf = (job: OpenJob): StepRecord["kind"] => job.src as StepRecord["kind"]

export const turnInputOf = (end: JobEnd): TurnInput => ({
  cause: { kind: "job", id: end.job.id },
  event: end.event as unknown as Json,
  messages: end.messages,
  ...defined({ step: end.step, sends: end.sends, records: end.records, emitted: end.emitted })
})
