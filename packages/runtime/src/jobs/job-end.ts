// JobEnd: how a job ended, ready to be decided upon and recorded.
// Owns its shape and what of it goes into the commit. Leaves running jobs to jobs.ts.
// I1  A job never fails: every failure is an event that the statechart receives.

import type { Input } from "@reverie/assistant"
import {
  type Address,
  defined,
  type Envelope,
  type HookRecord,
  type Json,
  type OpenJob,
  type RecordChange,
  type StepRecord
} from "@reverie/protocol"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { JudgedAnswer, TurnInput, UncountedMessage } from "../commit/commit-draft.ts"

export interface JobEnd {
  readonly job: OpenJob
  readonly event: Input
  readonly messages: ReadonlyArray<UncountedMessage>
  /** Absent when nothing was done: a call that was never sent. */
  readonly step?: StepRecord
  /** What hooks did. */
  readonly hooks?: ReadonlyArray<HookRecord>
  readonly sends?: ReadonlyArray<Envelope>
  readonly records?: ReadonlyArray<RecordChange>
  /** What an answer comes to that must have a form. */
  readonly judged?: JudgedAnswer
  /** Told to screens and callers, besides what the statechart emits. */
  readonly emitted?: NonNullable<TurnInput["emitted"]>
}

/** The number of the commit that started a job stands before its name. */
export const numberOf = ({ id }: OpenJob): number => Number(id.split("/")[0])

export const kindOf = (job: OpenJob): StepRecord["kind"] => job.src as StepRecord["kind"]

export const turnInputOf = ({
  emitted,
  event,
  hooks,
  job,
  judged,
  messages,
  records,
  sends,
  step
}: JobEnd): TurnInput => ({
  cause: { kind: "job", id: job.id },
  event: event as unknown as Json,
  messages,
  ...defined({ step, hooks, sends, records, judged, emitted })
})

/** The end, with what hooks did on the way to it. */
export const withHooks = (end: JobEnd, ...done: ReadonlyArray<ReadonlyArray<HookRecord>>): JobEnd => {
  const hooks = done.flat()
  return hooks.length === 0 ? end : { ...end, hooks: [...(end.hooks ?? []), ...hooks] }
}

// Faults: named points at which a test may stop, delay or kill.

export const faultPoints = [
  "before-accept",
  "after-accept",
  "after-claim",
  "before-model",
  "after-model",
  "before-tool",
  "after-tool",
  "before-commit",
  "after-commit",
  "before-deliver",
  "after-deliver"
] as const
export type FaultPoint = (typeof faultPoints)[number]

export const Faults = Context.Reference<{
  readonly at: (point: FaultPoint, address: Address) => Effect.Effect<void>
}>("@reverie/runtime/Faults", { defaultValue: () => ({ at: () => Effect.void }) })
