// Letter: an event with an address, as a user gives it.
// Owns its making into an envelope, and the sentence that says why it can not be one. Leaves acceptance to the mailbox.
// L1  What `letterProblem` finds nothing wrong with, `Fleet.post` does not refuse for its form.
// L2  A half of a surrogate pair in a text becomes U+FFFD: no text in UTF-8 holds one, and no other system would keep it.

import { ENVELOPE_VERSION, Envelope, laneOf, type TenantId } from "@reverie/protocol"
import { storedTraceparent } from "@reverie/runtime"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { EnvelopeInvalid } from "./errors.ts"

export interface Letter {
  readonly id: string
  readonly tenant: TenantId
  readonly to: string
  readonly from: string
  readonly event: unknown
  /** Kept when it is a trace context, passed over when it is not. */
  readonly traceparent?: string | undefined
}

const decodeEnvelope = Schema.decodeUnknownResult(Envelope)

const spoken = ["text", "content"] as const

/** The event with its text well-formed; the same event where it is so already. */
const wellFormed = (event: unknown): unknown => {
  if (typeof event !== "object" || event === null) return event
  const broken = spoken.filter((field) => {
    const text: unknown = Reflect.get(event, field)
    return typeof text === "string" && !text.isWellFormed()
  })
  return broken.length === 0
    ? event
    : {
        ...event,
        ...Object.fromEntries(broken.map((field) => [field, String(Reflect.get(event, field)).toWellFormed()]))
      }
}

export const envelopeOf = (letter: Letter): Result.Result<Envelope, EnvelopeInvalid> => {
  const { event, from, id, tenant, to } = letter
  const kept = storedTraceparent(letter.traceparent)
  const trace = kept === undefined ? {} : { traceparent: kept }
  return decodeEnvelope({
    v: ENVELOPE_VERSION,
    id,
    to: { tenant, assistant: to },
    from,
    event: wellFormed(event),
    hops: 0,
    ...trace
  }).pipe(Result.mapError(({ message }) => new EnvelopeInvalid({ message: message.replaceAll(/\s+/g, " ") })))
}

/** What is wrong with a letter, in one sentence; undefined when nothing is. */
export const letterProblem = (letter: Omit<Letter, "tenant">): string | undefined => {
  const envelope = envelopeOf({ ...letter, tenant: "default" as TenantId })
  return Result.isFailure(envelope) ? envelope.failure.message : undefined
}

/** True when the event waits its turn until the assistant rests, false when it is heard in between: an approval, a report. */
export const isMail = (letter: Omit<Letter, "tenant">): boolean => {
  const envelope = envelopeOf({ ...letter, tenant: "default" as TenantId })
  return Result.isSuccess(envelope) && laneOf(envelope.success.event) === "mail"
}
