// Summarizing: the older part of a history is read piece by piece, and its summary written, a piece a step (F52, F105).
// Owns asking. Leaves the pieces and the wording to `context`.
// Z1  The model sees the piece and the summary so far, and nothing else of the history.
// Z2  A piece that could not be summarized leaves the history as it was, and no draft behind (A18). One that the model was
//     missing for is tried again, for what follows needs the same model; where summaries have a model of their own, nobody
//     waits for that one.

import {
  draftOf,
  pendingCompactionChange,
  pendingCompactionOf,
  historyStartOf,
  isRead,
  maxSummaryChars,
  pieceLimits,
  pieceOf,
  planCompaction,
  readSummary,
  skipReasons,
  summaryAsk,
  withPiece
} from "@reverie/context"
import { Model } from "@reverie/model"
import { type OpenJob, defined } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { recordsOf } from "../own-records.ts"
import { Faults } from "../faults.ts"
import { numberOf } from "../job-end.ts"
import type { Session } from "../session.ts"
import { type PhaseStep, waiting } from "./phase.ts"
import { inputsOf } from "./plan.ts"

const failed = (reason: string, recovery: string): PhaseStep => ({
  records: [pendingCompactionChange(null)],
  failed: { reason, recovery }
})

export const summarizing = Effect.fnUntraced(function* (session: Session, job: OpenJob) {
  const { address, definition, own } = session
  const { config, question, ratio, threshold, trigger } = yield* inputsOf(session)
  const kept = pendingCompactionOf(recordsOf(own, "state"))
  // That it is to be compacted was settled before the extraction, which has only made it longer.
  const plan = planCompaction({ ...question, force: true })
  const earlier = historyStartOf(recordsOf(own, "state"))?.summary ?? ""
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
