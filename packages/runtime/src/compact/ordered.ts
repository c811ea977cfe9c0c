// Ordered: an order to compact the history, before the statechart is asked.
// Owns what is written of one that has nothing to compact. Leaves compaction to the phases beside it.
// O1  It asks the same question as the phases do: what it lets pass is compacted, unless that would not be shorter.

import { planCompaction, skipReasons } from "@reverie/context"
import type { AcceptedEnvelope } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { passedOver } from "../passed-over.ts"
import type { Session } from "../session.ts"
import { inputsOf } from "./plan.ts"

/** What is written of an order to compact where nothing is to be compacted; undefined for any other envelope. */
export const nothingToCompact = Effect.fnUntraced(function* (session: Session, envelope: AcceptedEnvelope) {
  if (envelope.event.type !== "compact") return undefined
  const plan = planCompaction((yield* inputsOf(session, "order")).question)
  return plan.skipped ? passedOver(envelope, "ignored", skipReasons[plan.reason]) : undefined
})
