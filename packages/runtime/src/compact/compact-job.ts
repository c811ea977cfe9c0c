// CompactJob: one step of a compaction as a job.
// Owns which phase runs. Leaves the phases to the modules beside it.
// J1  Whatever fails in a phase leaves the history as it was, with no draft of a compaction behind.
// J2  A model that is away fails no phase: its draft stays, and the same step is tried again.

import { type CompactionPhase, contextOf } from "@reverie/assistant"
import { type Address, defined, type OpenJob } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import {
  compact,
  compactionIds,
  draftOf,
  historyHoldOf,
  historyStartOf,
  isRead,
  maxSummaryChars,
  pendingCompactionChange,
  pendingCompactionOf,
  pieceLimits,
  pieceOf,
  planCompaction,
  readSummary,
  skipReasons,
  summaryAsk,
  withPiece
} from "@reverie/context"
import { Ledger } from "@reverie/ledger"
import { Model } from "@reverie/model"
import * as Result from "effect/Result"
import type { Session } from "../session/session.ts"
import { extracting } from "./extracting.ts"
import { endOf, inputsOf, type PhaseStep, waiting } from "./phase.ts"
import { journalOn, recordsOf } from "../session/own-records.ts"
import { besideTokens } from "../prompt/blocks-in-view.ts"
import { contextTypeNow, restrictionOf } from "../prompt/layers.ts"
import { Faults, numberOf } from "../jobs/job-end.ts"

// Summarizing: the older part of a history is read piece by piece, and its summary written, a piece a step (F52, F105).
// Z1  The model sees the piece and the summary so far, and nothing else of the history.
// Z2  A piece that could not be summarized leaves the history as it was, and no draft behind (A18). One that the model was
//     missing for is tried again, for what follows needs the same model; where summaries have a model of their own, no one
//     waits for that one.

const failed = (reason: string, recovery: string): PhaseStep => ({
  records: [pendingCompactionChange(null)],
  failed: { reason, recovery }
})

const summarizing = Effect.fnUntraced(function* (session: Session, job: OpenJob) {
  const { address, definition } = session
  const { config, question, ratio, threshold, trigger } = yield* inputsOf(session)
  const kept = pendingCompactionOf(recordsOf(session.own, "state"))
  // That it is to be compacted was settled before the extraction, which has only made it longer.
  const plan = planCompaction({ ...question, force: true })
  const earlier = historyStartOf(recordsOf(session.own, "state"))?.summary ?? ""
  const draft =
    kept.draft ??
    (plan.skipped ? undefined : draftOf({ split: plan, trigger, threshold, ratio, earlier, strategy: config.strategy }))
  if (draft === undefined) {
    const reason = plan.skipped ? plan.reason : "one-piece"
    return { records: [pendingCompactionChange(null)], skipped: skipReasons[reason] } satisfies PhaseStep
  }
  const piece = pieceOf(draft, question.history, pieceLimits(config, definition))
  if (piece.length === 0) return { records: [pendingCompactionChange({ ...kept, draft })] } satisfies PhaseStep
  const ask = summaryAsk({ config, messages: piece, soFar: draft.summary, self: address.assistant })
  const model = yield* Model
  const faults = yield* Faults
  yield* faults.at("before-model", address)
  const asked = yield* Effect.result(
    model.infer({
      messages: [
        { role: "system", content: ask.instructions },
        { role: "user", content: ask.data }
      ],
      tools: [],
      callPrefix: `summary.${numberOf(job)}`,
      ...defined({ model: config.compactModel === null ? undefined : config.compactModel })
    })
  )
  yield* faults.at("after-model", address)
  if (Result.isFailure(asked)) {
    const waits = config.compactModel === null ? yield* waiting(session, job, asked.failure) : undefined
    return waits ?? failed(asked.failure.message, asked.failure.recovery)
  }
  const summary = readSummary(asked.success.text, maxSummaryChars(definition.maxContextTokens))
  if (summary === undefined) return failed("the summary says nothing", "tell-owner")
  const next = withPiece(draft, question.history, piece, summary)
  const step: PhaseStep = {
    records: [pendingCompactionChange({ ...kept, draft: next })],
    usage: asked.success.usage,
    more: !isRead(next),
    detail: { messages: piece.length, pieces: next.pieces }
  }
  return step
})

// Replacing: the marker takes the place of what was compacted (F53-F55).
// R1  The record of the compaction, the new beginning of the history and the journal's entry leave with one commit.

/** Compactions of one second that are looked for at first. */
const IDS_AT_FIRST = 4

/**
 * The ids of a moment that are taken, as far as the first that is free. Every key counts, also of what can not be read as a
 * compaction: nothing is written over.
 */
const takenIds = Effect.fnUntraced(function* (address: Address, now: number, isInJournal: (id: string) => boolean) {
  const ledger = yield* Ledger
  for (let count = IDS_AT_FIRST; ; count *= 2) {
    const ids = compactionIds(now, count)
    const taken = new Set((yield* ledger.records(address, ["compaction"], { keys: ids })).map(({ key }) => key))
    if (ids.some((id) => !taken.has(id) && !isInJournal(id))) return taken
  }
})

const replacing = Effect.fnUntraced(function* (session: Session) {
  const { address, definition } = session
  const facts = recordsOf(session.own, "state")
  const { draft, extraction } = pendingCompactionOf(facts)
  const dropped: PhaseStep = { records: [pendingCompactionChange(null)], skipped: skipReasons["one-piece"] }
  if (draft === undefined) return dropped
  const { config, question } = yield* inputsOf(session)
  const now = yield* Clock.currentTimeMillis
  const journal = journalOn(session.own)
  const taken = yield* takenIds(address, now, (id) => journal.entries.has(id))
  const compacted = yield* session.inSlices(() =>
    compact({
      draft,
      history: question.history,
      start: historyStartOf(facts),
      hold: historyHoldOf(facts),
      besideFrom: (place) => besideTokens(session, place),
      extraction,
      config,
      approvals: [],
      canRead: definition.toolkit.get("read_history") !== undefined,
      journal,
      moment: { tick: contextOf(session.decoded).tick, now },
      taken: (id) => taken.has(id),
      maxContextTokens: definition.maxContextTokens,
      priced: session.count
    })
  )
  if (compacted.skipped) return { ...dropped, skipped: skipReasons[compacted.reason] }
  const { above_aim, after, before, compacted_count, ended_hold, id } = compacted.compaction
  const ratio = after.tokens / definition.maxContextTokens
  const step: PhaseStep = {
    records: compacted.changes,
    // The pressure that the tick began with is gone.
    ...defined({
      restriction:
        draft.trigger === "emergency" ? restrictionOf(session, contextTypeNow(session), {}, ratio) : undefined
    }),
    detail: {
      compaction: id,
      compacted_count,
      tokens_before: before.tokens,
      tokens_after: after.tokens,
      ...defined({ above_aim, ended_hold })
    }
  }
  return step
})

const run = Effect.fnUntraced(function* (session: Session, job: OpenJob, phase: CompactionPhase) {
  switch (phase) {
    case "extracting":
      return yield* extracting(session, job)
    case "summarizing":
      return yield* summarizing(session, job)
    case "replacing":
      return yield* replacing(session)
  }
})

export const compactHistory = Effect.fnUntraced(function* (session: Session, job: OpenJob) {
  const { phase } = job.input as { readonly phase: CompactionPhase }
  const startedAt = yield* Clock.currentTimeMillis
  const step = yield* run(session, job, phase)
  return yield* endOf(session, job, startedAt, step)
})
