// Plan: whether the history at hand is folded, and which part of it.
// Owns measuring. Leaves the split and the reasons against it to `context`.
// P1  Both ways into a compaction, and its extraction, measure with the same counter and ask the same question (F65, A13).

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

export const groundOf = Effect.fnUntraced(function* (session: Session) {
  const { address, decoded, definition, desk } = session
  const context = contextOf(decoded)
  const settings = settingsNow(context)
  const config = foldingConfig(definition.folding)
  const trigger: FoldingTrigger = context.compactingFrom === "dreaming" ? "sleep" : "emergency"
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
      force: trigger === "emergency",
      maxContextTokens: definition.maxContextTokens
    }
  }
  return ground
})
