// Ordered: an order to fold the history, before the statechart is asked.
// Owns what is written of one that has nothing to fold. Leaves folding to the phases beside it.
// O1  It asks the same question as the phases do: what it lets pass is folded, unless that would not be shorter.

import { planFolding, skipReasons } from "@reverie/context"
import type { AcceptedEnvelope } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { passedOver } from "../passed-over.ts"
import type { Session } from "../session.ts"
import { groundOf } from "./plan.ts"

/** What is written of an order to fold where nothing is to be folded; undefined for any other envelope. */
export const nothingToFold = Effect.fnUntraced(function* (session: Session, envelope: AcceptedEnvelope) {
  if (envelope.event.type !== "compact") return undefined
  const plan = planFolding((yield* groundOf(session, "order")).question)
  return plan.skipped ? passedOver(envelope, "ignored", skipReasons[plan.reason]) : undefined
})
