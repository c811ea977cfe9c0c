// FrontDoor: where envelopes come in.
// Owns the order accept, then wake. Leaves durability to the mailbox.
// I1  An envelope is acknowledged only after it is durable; the wake-up that follows may be lost.
// I2  Who is halted is fenced as soon as the order is durable: whoever holds it writes nothing more, and its next claim
//     hears the order first.
// I3  A long text waits until the event loop has room for it.

import { Mailbox, urgencyOf, WakeQueue } from "@reverie/mailbox"
import { type Address, type Envelope, longWork } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { Faults } from "../faults.ts"
import { inSpan } from "../span.ts"
import { below, runningTraceparent } from "../telemetry/spans.ts"

/** Nobody lives there any more: then nobody writes either. */
const fenced = (mailbox: Mailbox["Service"], address: Address) =>
  Effect.catchTag(mailbox.fence(address), "UnknownAssistant", () => Effect.void)

/** Accepts an envelope in its own trace, or in the one that is running; whoever takes it up continues that one. */
const accepted = (mailbox: Mailbox["Service"], envelope: Envelope) => {
  const acceptedIn = (traceparent: string | undefined) =>
    Effect.map(mailbox.accept(traceparent === undefined ? envelope : { ...envelope, traceparent }), (receipt) => ({
      receipt,
      traceparent
    }))
  const accepting = inSpan("mailbox.accept")(() =>
    envelope.traceparent === undefined
      ? Effect.flatMap(runningTraceparent, acceptedIn)
      : acceptedIn(envelope.traceparent)
  )
  return below(envelope.traceparent)(accepting)
}

const lengthOf = ({ event }: Envelope): number =>
  event.type === "message" ? event.text.length : event.type === "report" ? event.content.length : 0

/** Accepts an envelope and wakes its assistant. */
export const arrive = Effect.fnUntraced(function* (envelope: Envelope) {
  const faults = yield* Faults
  const mailbox = yield* Mailbox
  const queue = yield* WakeQueue
  yield* faults.at("before-accept", envelope.to)
  yield* longWork.begin(lengthOf(envelope))
  const { receipt, traceparent } = yield* accepted(mailbox, envelope)
  yield* faults.at("after-accept", envelope.to)
  if (receipt.outcome !== "accepted") return receipt
  const wakeUp = queue
    .wake(envelope.to, urgencyOf(envelope), traceparent)
    .pipe(inSpan("queue.wake"), below(traceparent))
  const fencing = envelope.event.type === "halt" ? yield* Effect.result(fenced(mailbox, envelope.to)) : undefined
  // The order is durable: the wake-up is given also when nobody could be fenced.
  yield* wakeUp
  if (fencing !== undefined) yield* Effect.fromResult(fencing)
  return receipt
})
