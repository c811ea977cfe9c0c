// Phase: how one step of a compaction ends as a job.
// Owns the shape of the end. Leaves what a step does to the phases beside it.

import { contextOf, jobDone, jobFailed, type OutageSeen, type Restriction, settingsNow } from "@reverie/assistant"
import {
  compactionConfig,
  type CompactionConfig,
  type CompactionQuestion,
  type CompactionTrigger,
  historyFloorChange,
  historyStartOf,
  thresholdOf
} from "@reverie/context"
import type { ModelError } from "@reverie/model"
import {
  defined,
  type Envelope,
  type Json,
  type OpenJob,
  type PlacedMessage,
  type RecordChange,
  type StepRecord,
  type Usage
} from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type JobEnd, Secrets } from "../jobs/job-end.ts"
import { outageSeen } from "../outages/outage-book.ts"
import { wholeHistory } from "../prompt/blocks-in-view.ts"
import { readPast } from "../prompt/past.ts"
import { recordsOf } from "../session/own-records.ts"
import { historyShare, historyTokens, noteRun, type Session } from "../session/session.ts"

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

/** Where a trigger found nothing to compact, it is not met again with the next tick. */
const floorOf = (session: Session, { skipped }: PhaseStep): ReadonlyArray<RecordChange> =>
  skipped === undefined || triggerNow(session) === "order" ? [] : [historyFloorChange(historyTokens(session))]

export const endOf = Effect.fnUntraced(function* (session: Session, job: OpenJob, startedAt: number, step: PhaseStep) {
  const { phase } = job.input as { readonly phase: string }
  const at = yield* Clock.currentTimeMillis
  const { failed, more, restriction, sends, skipped, usage } = step
  const records = [...step.records, ...floorOf(session, step)]
  noteRun(session, job, records)
  // An outage makes the same step again; everything else that ends here needs the history no more.
  const isOver = phase === "replacing" || skipped !== undefined || (failed !== undefined && failed.outage === undefined)
  if (isOver) forgetHistory(session)
  const record: StepRecord = {
    id: job.id,
    kind: "compact",
    name: `compact ${phase}`,
    ok: failed === undefined,
    elapsedMs: at - startedAt,
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
    messages: [],
    ...defined({ step: failed?.outage?.withheld === true ? undefined : record }),
    records,
    ...defined({ sends: sends === undefined || sends.length === 0 ? undefined : sends })
  }
  return end
})

// Plan: whether the history at hand is compacted, and which part of it.
// P1  All ways into a compaction, and its extraction, measure with the same counter and ask the same question (F65, A13).
//     What an order lets pass is compacted, unless that would not be shorter.

/** What every phase of a compaction begins with. */
export interface CompactionInputs {
  readonly config: CompactionConfig
  readonly trigger: CompactionTrigger
  readonly threshold: number
  readonly ratio: number
  readonly question: CompactionQuestion
}

/** What the compaction at hand was begun by. */
const triggerNow = ({ decoded }: Session): CompactionTrigger => {
  const { compactingFrom } = contextOf(decoded)
  if (compactingFrom === "awake") return "emergency"
  return compactingFrom === "dreaming" ? "sleep" : "order"
}

// History: the messages since the last compaction, read once for all steps of one.
// H1  A step reads only what was committed since the step before it.
// H2  It is held for as long as the compaction goes on, and by the session alone.

interface HeldHistory {
  readonly history: ReadonlyArray<PlacedMessage>
  /** Where the history began when it was read. */
  readonly start: string
  /** The last entry that is in it. */
  readonly no: number
}

const held = new WeakMap<Session, HeldHistory>()

/** The history is not needed any more. */
export const forgetHistory = (session: Session): void => {
  held.delete(session)
}

const historyOf = Effect.fnUntraced(function* (session: Session) {
  const { address, own, version } = session
  const from = historyStartOf(recordsOf(own, "state"))?.from
  const start = from === undefined ? "" : `${from.no}.${from.index}`
  const before = held.get(session)
  const known = before?.start === start && before.no <= version ? before : undefined
  if (known?.no === version) return known.history
  const history =
    known === undefined
      ? yield* wholeHistory(address, own)
      : [...known.history, ...(yield* readPast(address, { no: known.no + 1, index: 0 }))]
  held.set(session, { history, start, no: version })
  return history
})

export const inputsOf = Effect.fnUntraced(function* (session: Session, trigger = triggerNow(session)) {
  const { decoded, definition } = session
  const context = contextOf(decoded)
  const settings = settingsNow(context)
  const config = compactionConfig(definition.compaction)
  const threshold = thresholdOf(trigger, settings)
  const ratio = historyShare(session)
  const inputs: CompactionInputs = {
    config,
    trigger,
    threshold,
    ratio,
    question: {
      history: yield* historyOf(session),
      window: config.compactPreserveWindow,
      enabled: settings.compactEnabled,
      ratio,
      threshold,
      force: trigger !== "sleep",
      maxContextTokens: definition.maxContextTokens
    }
  }
  return inputs
})
