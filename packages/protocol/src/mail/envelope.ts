// Envelope: the durable wrapper of one event.
// Owns its shape and its format version. Leaves acceptance to the mailbox.
// I1  `id` is the idempotency key within the assistant it is sent to.
// I2  `seq` grows along each lane of one mailbox, in the order of acceptance.

import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Event, type Lane } from "./event.ts"
import { Address, EnvelopeId } from "../ids.ts"

export const ENVELOPE_VERSION = 1

const ASSISTANT_PREFIX = "assistant:"

/** How an assistant is named as the sender of an envelope. */
export const assistantSender = (assistant: string): string => `${ASSISTANT_PREFIX}${assistant}`

/** The assistant that a sender names; undefined for everybody else. */
export const sendingAssistant = (from: string): string | undefined =>
  from.startsWith(ASSISTANT_PREFIX) ? from.slice(ASSISTANT_PREFIX.length) : undefined

export const Envelope = Schema.Struct({
  v: Schema.Literal(ENVELOPE_VERSION),
  id: EnvelopeId,
  to: Address,
  /** Who sent it, for people and prompts; `assistant:<id>` when another assistant did. */
  from: Schema.String.check(Schema.isMaxLength(256)),
  event: Event,
  /** How many assistants have passed this on; stops two of them from talking for ever. */
  hops: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
  /** W3C trace context of the sender. */
  traceparent: Schema.optionalKey(Schema.String)
})
export type Envelope = typeof Envelope.Type

/** An envelope in a mailbox. Times are milliseconds since the epoch. */
export interface AcceptedEnvelope extends Envelope {
  readonly lane: Lane
  readonly seq: number
  readonly acceptedAt: number
}

/** A row that cannot be read as an envelope: it keeps its place so that it can be dead-lettered with a reason. */
export interface UnreadableEnvelope {
  readonly unreadable: string
  readonly id: EnvelopeId
  readonly lane: Lane
  readonly seq: number
}

/** What `accept` answers. A duplicate was accepted before: nothing new was written. */
export interface Receipt {
  readonly outcome: "accepted" | "duplicate"
  readonly envelope: EnvelopeId
  readonly to: Address
}

/** How far each lane has been handled: the `seq` of the last acknowledged envelope. */
export type Cursors = Readonly<Record<Lane, number>>

export const NO_CURSORS: Cursors = { control: 0, reply: 0, mail: 0 }
