// Relay: carries what assistants sent from the ledger to the mailboxes it is for.
// Owns delivery. Leaves acceptance to the mailbox, which recognises what was delivered before.
// I1  A send is settled only after its envelope was accepted, or after its sender was told that it can not be.
// I2  An envelope that has passed through more than MAX_HOPS assistants is not delivered: two of them can not talk for ever.
//     An answer may take one hop more than a question, so that each question that was delivered is answered.
//     Its sender learns of it; what the sender writes in answer to that goes nowhere, and whatever goes nowhere is counted.
// I3  What is reported of a message that wanted an answer stands for the answer: it failed. An answer that arrives nowhere is
//     told of to no one: its sender waits for nothing.
// I4  What was forgotten on its way does not arrive: it is accepted as long as its send is open, and no queue learns what it said.

import { createHash } from "node:crypto"
import { Ledger, type OpenSend } from "@reverie/ledger"
import { Mailbox, WakeQueue } from "@reverie/mailbox"
import {
  type Address,
  AssistantId,
  defined,
  type Envelope,
  ENVELOPE_VERSION,
  EnvelopeId,
  sendingAssistant,
  urgencyOf
} from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Faults } from "../jobs/job-end.ts"
import { isTask } from "../sub-agents/assignments.ts"
import { inSpan, spanIn } from "../telemetry/spans.ts"

export const MAX_HOPS = 8

/** Sends that did not reach whom they were for, whether or not their senders could be told. */
export const undeliverable = Metric.counter("reverie_undeliverable_sends_total", { incremental: true })

const BATCH = 64

const decodeAssistant = Schema.decodeUnknownOption(AssistantId)

/** An envelope id has 256 characters at most; a longer one keeps its identity as a hash. */
const returnedId = (id: string): EnvelopeId =>
  EnvelopeId.make(`returned:${id.length <= 240 ? id : createHash("sha256").update(id).digest("hex")}`)

/** Tells the sender, when it is an assistant, why its message did not arrive. */
const returned = (envelope: Envelope, why: string): Envelope | undefined => {
  // It went out in answer to a message that was returned for its hops already.
  if (envelope.hops > MAX_HOPS + 1) return undefined
  const { event } = envelope
  // Orders, tasks and reports among sub-agents have their own ways to be missed.
  if (event.type !== "message" || isTask(envelope.id)) return undefined
  if (event.answers !== undefined) return undefined
  const sender = decodeAssistant(sendingAssistant(envelope.from))
  if (Option.isNone(sender)) return undefined
  return {
    v: ENVELOPE_VERSION,
    id: returnedId(envelope.id),
    to: { tenant: envelope.to.tenant, assistant: sender.value },
    from: "relay",
    event: {
      type: "message",
      text: `Your message to ${envelope.to.assistant} was not delivered: ${why}.`,
      ...defined({
        answers: event.wantsAnswer === true ? { envelope: envelope.id, outcome: "failed" as const } : undefined
      })
    },
    hops: envelope.hops,
    ...defined({ traceparent: envelope.traceparent })
  }
}

const accept = Effect.fnUntraced(function* (envelope: Envelope, send?: number) {
  const mailbox = yield* Mailbox
  const queue = yield* WakeQueue
  const { traceparent } = envelope
  // A batch is of many traces, so it is in none of them; each acceptance is linked to its own.
  const linked = () => ({ links: [spanIn(traceparent) ?? []].flat() })
  const { outcome } = yield* mailbox.accept(envelope, send).pipe(inSpan("mailbox.accept", linked))
  // Who has it already is woken all the same, in case that was broken off.
  const told = outcome === "accepted" ? envelope : undefined
  yield* queue.wake(envelope.to, urgencyOf(envelope), traceparent, told).pipe(inSpan("queue.wake", linked))
})

const giveBack = Effect.fnUntraced(function* (envelope: Envelope, why: string) {
  yield* Metric.update(undeliverable, 1)
  const answer = returned(envelope, why)
  // A sender that has gone too can not be told; that is the end of the matter.
  if (answer !== undefined) yield* accept(answer).pipe(Effect.catchTag("UnknownAssistant", () => Effect.void))
})

const mostHops = ({ event }: Envelope): number =>
  event.type === "message" && event.answers !== undefined ? MAX_HOPS + 1 : MAX_HOPS

const deliver = Effect.fnUntraced(function* ({ envelope, seq }: OpenSend) {
  if (envelope.hops > mostHops(envelope))
    return yield* giveBack(envelope, `it had passed through ${envelope.hops} assistants`)
  yield* accept(envelope, seq).pipe(
    Effect.catchTag("UnknownAssistant", ({ address }) =>
      giveBack(envelope, `there is no assistant ${address.assistant}`)
    )
  )
})

const deliverAll = Effect.fnUntraced(function* (sends: ReadonlyArray<OpenSend>) {
  const ledger = yield* Ledger
  const faults = yield* Faults
  for (const send of sends) yield* deliver(send)
  yield* faults.at("after-deliver", addressOf(sends))
  yield* ledger.settleSends(sends.map((send) => send.seq))
}, inSpan("ledger.relay"))

/** The fault points of a batch are those of its first envelope. */
const addressOf = (sends: ReadonlyArray<OpenSend>): Address => sends[0]!.envelope.to

/** Delivers every open send once. */
export const relayAll = Effect.fnUntraced(function* () {
  const ledger = yield* Ledger
  const faults = yield* Faults
  while (true) {
    const sends = yield* ledger.openSends(BATCH)
    if (sends.length === 0) return
    yield* faults.at("before-deliver", addressOf(sends))
    yield* deliverAll(sends)
  }
})
