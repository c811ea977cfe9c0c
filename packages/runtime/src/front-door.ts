// FrontDoor: where envelopes come in.
// Owns the order accept, then wake. Leaves durability to the mailbox.
// I1  An envelope is acknowledged only after it is durable; the hint that follows may be lost.

import { Mailbox, urgencyOf, WakeQueue } from "@reverie/mailbox"
import type { Envelope } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { Faults } from "./faults.ts"
import { inSpan } from "./span.ts"

/** Accepts an envelope and hints that there is mail. */
export const arrive = Effect.fnUntraced(function* (envelope: Envelope) {
  const faults = yield* Faults
  const mailbox = yield* Mailbox
  const queue = yield* WakeQueue
  yield* faults.at("before-accept", envelope.to)
  const receipt = yield* mailbox.accept(envelope).pipe(inSpan("mailbox.accept"))
  yield* faults.at("after-accept", envelope.to)
  if (receipt.outcome === "accepted") yield* queue.wake(envelope.to, urgencyOf(envelope)).pipe(inSpan("queue.wake"))
  return receipt
})
