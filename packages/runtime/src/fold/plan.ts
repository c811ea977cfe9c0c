// Plan: whether the history at hand is folded, and which part of it.
// Owns measuring. Leaves the split and the reasons against it to `context`.
// P1  All ways into a compaction, and its extraction, measure with the same counter and ask the same question (F65, A13).

import { contextOf, settingsNow } from "@reverie/assistant"
import {
  conversationTokens,
  foldingConfig,
  type FoldingConfig,
  type FoldingQuestion,
  type FoldingTrigger,
  thresholdOf
} from "@reverie/context"
import * as Effect from "effect/Effect"
import { wholeHistory } from "../history.ts"
import type { Session } from "../session.ts"

/** What every phase of a compaction begins with. */
export interface FoldingGround {
  readonly config: FoldingConfig
  readonly trigger: FoldingTrigger
  readonly threshold: number
  readonly ratio: number
  readonly question: FoldingQuestion
}

/** Share of the context window that the conversation has. */
const ratioOf = ({ definition, window }: Pick<Session, "definition" | "window">): number =>
  conversationTokens(window) / definition.maxContextTokens

/** What the folding at hand was begun by. */
const triggerNow = ({ decoded }: Session): FoldingTrigger => {
  const { compactingFrom } = contextOf(decoded)
  if (compactingFrom === "awake") return "emergency"
  return compactingFrom === "dreaming" ? "sleep" : "order"
}

export const groundOf = Effect.fnUntraced(function* (session: Session, trigger = triggerNow(session)) {
  const { address, decoded, definition, desk } = session
  const context = contextOf(decoded)
  const settings = settingsNow(context)
  const config = foldingConfig(definition.folding)
  const threshold = thresholdOf(trigger, settings)
  const ratio = ratioOf(session)
  const ground: FoldingGround = {
    config,
    trigger,
    threshold,
    ratio,
    question: {
      history: yield* wholeHistory(address, desk),
      window: config.compactPreserveWindow,
      enabled: settings.compactEnabled,
      ratio,
      threshold,
      force: trigger !== "sleep",
      maxContextTokens: definition.maxContextTokens
    }
  }
  return ground
})
