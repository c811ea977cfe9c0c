// Report: what one night's dream did, operation by operation.
// Owns its shape and how a step adds to it. Leaves keeping it to the commits of the dream.
// R1  Every step leaves its mark: read, proposed, accepted, tokens and time add up over the steps of an operation.
// R2  At most MAX_REPORTS nights are at hand; older ones stand in the ledger.

import type { DreamOperation } from "@reverie/assistant"
import { type RecordChange, type RecordRow, type Usage, defined } from "@reverie/protocol"
import * as Schema from "effect/Schema"

const MAX_REPORTS = 30

const count = Schema.Finite

const DreamLine = Schema.Struct({
  operation: Schema.String,
  steps: count,
  read: count,
  proposed: count,
  accepted: count,
  tokens: count,
  elapsed_ms: count,
  skipped: Schema.optionalKey(Schema.String),
  error: Schema.optionalKey(Schema.String)
})
export type DreamLine = typeof DreamLine.Type

/** As it is kept, under its id, as a record of the kind `dream`. */
const DreamReport = Schema.Struct({
  id: Schema.String,
  began_at: count,
  ended_at: count,
  lines: Schema.Array(DreamLine)
})
export type DreamReport = typeof DreamReport.Type

export const isDreamReport = Schema.is(DreamReport)

export const dreamId = (tick: number): string => `dream_${tick}`

/** What is told of one step. */
export interface StepMark {
  readonly operation: DreamOperation
  readonly startedAt: number
  readonly endedAt: number
  readonly read: number
  readonly proposed: number
  readonly accepted: number
  readonly usage: ReadonlyArray<Usage>
  readonly skipped?: string
  readonly error?: string
}

export const tokensOf = (usage: ReadonlyArray<Usage>): number =>
  usage.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0)

const added = (line: DreamLine | undefined, mark: StepMark): DreamLine => ({
  operation: mark.operation,
  steps: (line?.steps ?? 0) + 1,
  read: (line?.read ?? 0) + mark.read,
  proposed: (line?.proposed ?? 0) + mark.proposed,
  accepted: (line?.accepted ?? 0) + mark.accepted,
  tokens: (line?.tokens ?? 0) + tokensOf(mark.usage),
  elapsed_ms: (line?.elapsed_ms ?? 0) + mark.endedAt - mark.startedAt,
  // An operation that has done something and then found nothing left was not skipped.
  ...defined({
    skipped:
      mark.skipped === undefined || (line !== undefined && line.skipped === undefined) ? undefined : mark.skipped,
    error: mark.error
  })
})

const withMark = (report: DreamReport, mark: StepMark): DreamReport => {
  const known = report.lines.some(({ operation }) => operation === mark.operation)
  const lines = known
    ? report.lines.map((line) => (line.operation === mark.operation ? added(line, mark) : line))
    : [...report.lines, added(undefined, mark)]
  return { ...report, ended_at: mark.endedAt, lines }
}

const surplus = (rows: ReadonlyArray<RecordRow>, kept: number): ReadonlyArray<RecordChange> =>
  rows
    .flatMap(({ key, value }) => (isDreamReport(value) ? [{ key, endedAt: value.ended_at }] : []))
    .toSorted((a, b) => b.endedAt - a.endedAt)
    .slice(kept)
    .map(({ key }) => ({ kind: "dream", key, value: null }))

/** The report of the night with one more step in it; what is too old leaves. `rows` are the reports at hand. */
export const markStep = (rows: ReadonlyArray<RecordRow>, id: string, mark: StepMark): ReadonlyArray<RecordChange> => {
  const present = rows.find(({ key }) => key === id)?.value
  const begun = { id, began_at: mark.startedAt, ended_at: mark.endedAt, lines: [] }
  const report = withMark(isDreamReport(present) ? present : begun, mark)
  const others = rows.filter(({ key }) => key !== id)
  return [
    { kind: "dream", key: id, value: { ...report, lines: [...report.lines] } },
    ...surplus(others, MAX_REPORTS - 1)
  ]
}
