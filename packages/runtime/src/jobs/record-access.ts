// RecordAccess: what a run is lent of its assistant.
// Owns the view on the records and the past, the state of the loop, and questions to the model in another context.
// I1  A question to the model is part of the run that asks it: it is repeated with it and recorded with it.

import { callId, contextOf, patternNow } from "@reverie/assistant"
import { getContextType } from "@reverie/context"
import type { Ledger } from "@reverie/ledger"
import { Model } from "@reverie/model"
import type { RecordAccess } from "@reverie/tools"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sleepBlockersOf } from "./sleep-blockers.ts"
import { lentBlocks } from "../prompt/blocks.ts"
import { recordsOf } from "../session/own-records.ts"
import { readCompacted, readPast } from "../prompt/past.ts"
import { questionOf } from "../prompt/prompt.ts"
import { ownRecall } from "../recall/own-recall.ts"
import { type Session, toolsOfTick } from "../session/session.ts"
import { subAgentsOf } from "../sub-agents/assignments.ts"

/** Seen from the call with this index; from no call of the tick when it is negative. */
export const recordAccess = Effect.fnUntraced(function* (session: Session, index: number) {
  const model = yield* Model
  const services = yield* Effect.context<Ledger>()
  const { definition } = session
  const context = contextOf(session.decoded)
  const now = yield* Clock.currentTimeMillis
  const access: RecordAccess = {
    read: (kind) => recordsOf(session.own, kind),
    consult: (question, text) =>
      Effect.runPromiseWith(services)(
        Effect.gen(function* () {
          const asked = yield* session.inSlices(() => questionOf(session, getContextType(question), text))
          const { messages } = yield* Effect.fromResult(asked)
          const callPrefix = `${callId(context.tick, context.iteration, index)}.${question}`
          return (yield* model.infer({ messages, tools: [], callPrefix })).text
        })
      ),
    history: {
      read: (from, limit) => Effect.runPromiseWith(services)(readPast(session.address, from, limit)),
      compacted: (compaction) => Effect.runPromiseWith(services)(readCompacted(session.address, compaction))
    },
    recall: (question, options) => Effect.runPromiseWith(services)(ownRecall(session, question, options)),
    ...(yield* lentBlocks(session, context.calls[index]?.asks === true)),
    get loop() {
      return {
        tick: context.tick,
        iteration: context.iteration,
        maxIterations: patternNow(context).maxIterations,
        tokensUsed: session.promptTokens,
        maxContextTokens: definition.maxContextTokens,
        reservedResponseTokens: definition.reservedResponseTokens,
        toolsThisTick: toolsOfTick(session),
        sleepBlockers: sleepBlockersOf(session, index),
        subAgents: subAgentsOf(session, now),
        pendingTools: context.calls.flatMap((call, at) =>
          at !== index && (call.phase === "ready" || call.phase === "running") ? [call.tool] : []
        )
      }
    }
  }
  return access
})
