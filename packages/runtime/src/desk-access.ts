// DeskAccess: what a run is lent of its assistant.
// Owns the view on the desk, the state of the loop, and questions to the model in another context.
// I1  A question to the model is part of the run that asks it: it is repeated with it and recorded with it.

import { callId, contextOf, patternNow } from "@reverie/assistant"
import { getContextType } from "@reverie/context"
import { Model } from "@reverie/model"
import type { OpenJob } from "@reverie/protocol"
import type { DeskAccess } from "@reverie/tools"
import * as Effect from "effect/Effect"
import { onDesk } from "./desk.ts"
import { questionOf } from "./prompt.ts"
import { type Session, toolsOfTick } from "./session.ts"

export const deskAccess = Effect.fnUntraced(function* (session: Session, job: OpenJob) {
  const model = yield* Model
  const services = yield* Effect.context()
  const { definition } = session
  const context = contextOf(session.decoded)
  const { index } = job.input as { readonly index: number }
  const access: DeskAccess = {
    read: (kind) => onDesk(session.desk, kind),
    consult: (question, text) =>
      Effect.runPromiseWith(services)(
        Effect.gen(function* () {
          const { messages } = yield* Effect.fromResult(questionOf(session, getContextType(question), text))
          const callPrefix = `${callId(context.tick, context.iteration, index)}.${question}`
          return (yield* model.infer({ messages, tools: [], callPrefix })).text
        })
      ),
    get loop() {
      return {
        tick: context.tick,
        iteration: context.iteration,
        maxIterations: patternNow(context).maxIterations,
        tokensUsed: session.promptTokens,
        maxContextTokens: definition.maxContextTokens,
        reservedResponseTokens: definition.reservedResponseTokens,
        toolsThisTick: toolsOfTick(session),
        pendingTools: context.calls.flatMap((call, at) =>
          at !== index && (call.phase === "ready" || call.phase === "running") ? [call.tool] : []
        )
      }
    }
  }
  return access
})
