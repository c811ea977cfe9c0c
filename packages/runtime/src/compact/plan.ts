// Plan: whether the history at hand is compacted, and which part of it.
// Owns measuring. Leaves the split and the reasons against it to `context`.
// P1  All ways into a compaction, and its extraction, measure with the same counter and ask the same question (F65, A13).
//     What an order lets pass is compacted, unless that would not be shorter.

import { contextOf, settingsNow } from "@reverie/assistant"
import {
  conversationTokens,
  compactionConfig,
  type CompactionConfig,
  type CompactionQuestion,
  type CompactionTrigger,
  thresholdOf
} from "@reverie/context"
import * as Effect from "effect/Effect"
import { wholeHistory } from "../prompt/history.ts"
import type { Session } from "../session/session.ts"

/** What every phase of a compaction begins with. */
export interface CompactionInputs {
  readonly config: CompactionConfig
  readonly trigger: CompactionTrigger
  readonly threshold: number
  readonly ratio: number
  readonly question: CompactionQuestion
}

/** Share of the context window that the conversation has. */
const ratioOf = ({ definition, window }: Pick<Session, "definition" | "window">): number =>
  conversationTokens(window) / definition.maxContextTokens

/** What the compaction at hand was begun by. */
const triggerNow = ({ decoded }: Session): CompactionTrigger => {
  const { compactingFrom } = contextOf(decoded)
  if (compactingFrom === "awake") return "emergency"
  return compactingFrom === "dreaming" ? "sleep" : "order"
}

export const inputsOf = Effect.fnUntraced(function* (session: Session, trigger = triggerNow(session)) {
  const { address, decoded, definition, own } = session
  const context = contextOf(decoded)
  const settings = settingsNow(context)
  const config = compactionConfig(definition.compaction)
  const threshold = thresholdOf(trigger, settings)
  const ratio = ratioOf(session)
  const inputs: CompactionInputs = {
    config,
    trigger,
    threshold,
    ratio,
    question: {
      history: yield* wholeHistory(address, own),
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
