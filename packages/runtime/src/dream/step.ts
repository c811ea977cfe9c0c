// Step: one step of a dream operation, and how the model is asked for it.
// Owns the shape of a step and the prompt of an ask. Leaves what is asked and what follows to `memory`.
// S1  What a step changes, and its line in the report, leave with one commit: a crash repeats the step whole.
// S2  What is to be read stands in the user role, never beside the instructions.

import { contextOf } from "@reverie/assistant"
import { assemble, collect, dataOf, getContextType, openWindow } from "@reverie/context"
import { Model } from "@reverie/model"
import type { Ask, RecordChange, Usage } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { Faults } from "../faults.ts"
import type { Session } from "../session/session.ts"

/** What one step did. */
export interface DreamStep {
  /** Things looked at, things the model or a rule proposed, and things that came of it. */
  readonly read: number
  readonly proposed: number
  readonly accepted: number
  readonly records: ReadonlyArray<RecordChange>
  readonly usage: ReadonlyArray<Usage>
  /** The operation goes on with another step. */
  readonly more?: boolean
  /** Why there was nothing to do. */
  readonly skipped?: string
  /** What else is worth knowing of it. */
  readonly note?: string
}

export const nothingToDo = (skipped: string, records: ReadonlyArray<RecordChange> = []): DreamStep => ({
  read: 0,
  proposed: 0,
  accepted: 0,
  records,
  usage: [],
  skipped
})

const promptOf = ({ book, definition, values }: Session, { data, instructions }: Ask) => {
  const { maxContextTokens, reservedResponseTokens } = definition
  const context = getContextType("sleep_consolidate")
  const texts = { system_prompt: instructions, semantic_memories: dataOf(data) }
  const { absent, components } = collect({ context, texts, values, book })
  const window = openWindow([], maxContextTokens)
  return assemble({ components, absent, window, context, maxContextTokens, reservedResponseTokens, count: book.count })
}

/** Asks the model. `name` tells the asks of one step apart. */
export const askModel = Effect.fnUntraced(function* (session: Session, ask: Ask, name: string = ask.task) {
  const model = yield* Model
  const { messages } = yield* Effect.fromResult(yield* session.inSlices(() => promptOf(session, ask)))
  const { round, tick } = contextOf(session.decoded)
  const callPrefix = `dream.${tick}.${name}.${round}`
  const faults = yield* Faults
  yield* faults.at("before-model", session.address)
  const asked = yield* Effect.result(model.infer({ messages, tools: [], callPrefix }))
  yield* faults.at("after-model", session.address)
  return yield* Effect.fromResult(asked)
})
