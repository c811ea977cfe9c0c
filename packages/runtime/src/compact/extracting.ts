// Extracting: before a history is compacted, the assistant writes down what must not be lost, a round a step (F59-F64).
// Owns asking and running the calls of a round. Leaves the rules of the loop to `context`, the tools to `tools`.
// X1  A round that fails keeps no compaction from following; what was recorded before it stays (A18). One that the model was
//     missing for has not failed, and is tried again.
// X2  The two tools of an extraction are Reverie's own where the assistant has none of that name.
// X3  What a round says and is answered is kept with the draft for the rounds after it, and goes with the last of them.

import { contextOf } from "@reverie/assistant"
import {
  afterFailedRound,
  afterRound,
  allowedTools,
  callsMade,
  extractionMessages,
  extractionPrefix,
  type ExtractionResult,
  extractionRounds,
  extractionText,
  judgeRound,
  NO_EXTRACTION,
  pendingCompactionChange,
  pendingCompactionOf,
  planCompaction,
  planExtraction,
  skipReasons
} from "@reverie/context"
import { Model } from "@reverie/model"
import { type Envelope, type OpenJob, type RecordChange, type ToolCall, toolCategories } from "@reverie/protocol"
import { addJournalEntryTool, noop, type Tool, toolkitOf, updateEntityObservationTool } from "@reverie/tools"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { recordsOf } from "../session/own-records.ts"
import { Faults, numberOf } from "../jobs/job-end.ts"
import { contextTypeNow, isExtracting } from "../prompt/layers.ts"
import { extractionPromptOf } from "../prompt/prompt.ts"
import type { Session } from "../session/session.ts"
import { inToolSpan } from "../telemetry/chat-span.ts"
import { runBuiltInCall } from "../jobs/tool-job.ts"
import { type CompactionInputs, inputsOf, type PhaseStep, waiting } from "./phase.ts"

const builtIn: ReadonlyArray<Tool> = [addJournalEntryTool, updateEntityObservationTool, noop]

/** The assistant's own tools of these names, else Reverie's. */
const kitOf = ({ definition }: Session) => toolkitOf(builtIn.map((tool) => definition.toolkit.get(tool.name) ?? tool))

const skippedBy = (reason: keyof typeof skipReasons): PhaseStep => ({ records: [], skipped: skipReasons[reason] })

/** Runs the calls one after the other: what one has written the next one reads. */
const runAll = Effect.fnUntraced(function* (
  session: Session,
  job: OpenJob,
  tools: ReturnType<typeof kitOf>,
  calls: ReadonlyArray<ToolCall>
) {
  const results: Array<ExtractionResult> = []
  const records: Array<RecordChange> = []
  const sends: Array<Envelope> = []
  for (const call of calls) {
    const tool = tools.get(call.tool)
    const result = yield* runBuiltInCall(session, job, tool, call).pipe(inToolSpan(session, tool, call))
    results.push({ call, ok: result.ok, content: result.content })
    records.push(...(result.records ?? []))
    sends.push(...result.sends)
  }
  return { results, records, sends }
})

const round = Effect.fnUntraced(function* (
  session: Session,
  { config, question, trigger }: CompactionInputs,
  job: OpenJob
) {
  const model = yield* Model
  const faults = yield* Faults
  // What a compaction that was broken off has counted is not this one's.
  const isFirst = contextOf(session.decoded).round === 0
  const pending = isFirst ? {} : pendingCompactionOf(recordsOf(session.own, "state"))
  const { extraction: before = NO_EXTRACTION, rounds = [] } = pending
  const kit = kitOf(session)
  const offers = allowedTools(contextTypeNow(session), kit.offers({ categories: toolCategories }))
  const now = yield* Clock.currentTimeMillis
  const failed = (reason: string, recovery: string): PhaseStep => ({
    records: [pendingCompactionChange({ extraction: afterFailedRound(before) })],
    failed: { reason, recovery }
  })
  const history = [...question.history.map(({ message }) => message), ...rounds]
  const assembled = yield* session.inSlices(() =>
    extractionPromptOf(session, history, extractionText(config), offers, now)
  )
  if (Result.isFailure(assembled)) return failed(assembled.failure.message, assembled.failure.recovery)
  const callPrefix = extractionPrefix(numberOf(job))
  yield* faults.at("before-model", session.address)
  const asked = yield* Effect.result(model.infer({ messages: assembled.success.messages, tools: offers, callPrefix }))
  yield* faults.at("after-model", session.address)
  if (Result.isFailure(asked)) {
    return (yield* waiting(session, job, asked.failure)) ?? failed(asked.failure.message, asked.failure.recovery)
  }
  const { calls, usage } = asked.success
  const most = extractionRounds(config, trigger)
  const judged = judgeRound(calls, contextOf(session.decoded).round + 1, most, callsMade(before))
  const { records, results, sends } = yield* runAll(session, job, kit, judged.run)
  const extraction = afterRound(before, judged, results)
  const said = extractionMessages(results, yield* Clock.currentTimeMillis, asked.success)
  const counted = said.map((message) => ({ ...message, tokens: session.count(message) }))
  const kept = judged.end === undefined ? { extraction, rounds: [...rounds, ...counted] } : { extraction }
  const step: PhaseStep = {
    records: [...records, pendingCompactionChange(kept)],
    sends,
    usage,
    more: judged.end === undefined,
    detail: { ...extraction, context_signals: { pre_compaction: isExtracting(session) } }
  }
  return step
})

export const extracting = Effect.fnUntraced(function* (session: Session, job: OpenJob) {
  const inputs = yield* inputsOf(session)
  const isFirst = contextOf(session.decoded).round === 0
  if (isFirst) {
    const plan = planCompaction(inputs.question)
    if (plan.skipped) return skippedBy(plan.reason)
    if (inputs.trigger === "emergency" && contextOf(session.decoded).outage === null) {
      yield* Effect.logWarning(`Emergency compaction triggered: ${Math.floor(inputs.ratio * 100)}% context usage`)
    }
    const extraction = planExtraction(inputs.question, inputs.config)
    if (extraction.skipped) {
      const none: PhaseStep = {
        records: [pendingCompactionChange(null)],
        detail: { extraction: skipReasons[extraction.reason] }
      }
      return none
    }
  }
  return yield* round(session, inputs, job)
})
