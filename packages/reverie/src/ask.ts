// Ask: a message and everything that comes back for it.
// Owns the way from notices to parts. Leaves sending to the fleet.
// I1  The parts of one question end exactly once: answered, failed, or stopped because the assistant waits for a person.
// I2  A question that was answered before is answered out of the ledger, with its end alone.
// I3  Whoever stops reading stops listening; the question itself is durable and goes on.
// I4  The answer of a team is what it tells when its members have answered; the end of the tick that took the question up
//     is not yet an end.
// I5  Nobody waits for a fleet that has ended: reading fails with the reason.

import type { OutboxRow } from "@reverie/ledger"
import {
  Envelope,
  ENVELOPE_VERSION,
  type EnvelopeId,
  type Json,
  laneOf,
  type Notice,
  noticesOf,
  type TenantId,
  type TickOutcome
} from "@reverie/protocol"
import { storedTraceparent } from "@reverie/runtime"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { EnvelopeInvalid, type FleetClosed } from "./errors.ts"

export type Part =
  /** A piece of the answer as the model writes it. */
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "tool"
      readonly tool: string
      readonly call: string
      readonly ok: boolean
      readonly content: string
    }
  | { readonly type: "trouble"; readonly reason: string }
  /** A person must decide first; the answer comes after `fleet.decide`. */
  | { readonly type: "approval"; readonly approval: string; readonly tool: string; readonly call: string }
  /** The end: the whole answer. */
  | { readonly type: "done"; readonly outcome: TickOutcome; readonly reply: string }
  | { readonly type: "failed"; readonly reason: string }
  | { readonly type: "halted" }

const isEnd = (part: Part): boolean => part.type === "done" || part.type === "failed" || part.type === "halted"

/** What a team has answered. */
const answerOf = (event: { readonly [key: string]: Json }): Part => {
  const { outcome, text = "" } = event
  if (typeof text !== "string") return { type: "failed", reason: "its answer can not be read" }
  return outcome === "failed" ? { type: "failed", reason: text } : { type: "done", outcome: "answered", reply: text }
}

const textIn = (value: Json | undefined): string => (typeof value === "string" ? value : "")

/** It waits for its model, and goes on by itself. */
const awayIn = ({ reason, server }: { readonly [key: string]: Json }): Part => ({
  type: "trouble",
  reason: `it waits for the model at ${textIn(server)}, which does not answer: ${textIn(reason)}`
})

/** What a notice means for whoever waits for the answer to `envelope`; undefined when nothing. */
const partOf = (notice: Notice, envelope: EnvelopeId, isTeam: boolean): Part | undefined => {
  switch (notice.type) {
    case "part":
      return notice.envelope === envelope ? { type: "text", text: notice.text } : undefined
    case "tool-finished":
      return { type: "tool", tool: notice.tool, call: notice.call, ok: notice.ok, content: notice.content }
    case "model-failed":
      return { type: "trouble", reason: notice.reason }
    case "approval-asked":
      return { type: "approval", approval: notice.approval, tool: notice.tool, call: notice.call }
    case "tick-ended":
      return notice.envelope !== envelope || notice.outcome === "failed" || isTeam
        ? undefined
        : { type: "done", outcome: notice.outcome, reply: notice.reply }
    case "envelope-settled":
      if (notice.envelope !== envelope) return undefined
      // The end of its tick was told before: this is what was only overheard.
      if (notice.outcome === "handled") return isTeam ? undefined : { type: "done", outcome: "noted", reply: "" }
      return { type: "failed", reason: notice.reason ?? notice.outcome }
    case "emitted":
      if (notice.event.type === "model-away") return awayIn(notice.event)
      return isTeam && notice.event.type === "answered" && notice.event["envelope"] === envelope
        ? answerOf(notice.event)
        : undefined
    case "state-changed":
      return notice.status === "halted" ? { type: "halted" } : undefined
    default:
      return undefined
  }
}

/** How the way of an envelope ended, out of the entries of its assistant, the newest first; undefined when it has not. */
export const endOf = async (
  rows: AsyncIterable<OutboxRow>,
  envelope: EnvelopeId,
  isTeam: boolean
): Promise<Part | undefined> => {
  for await (const { address, entry, seq } of rows) {
    for (const notice of noticesOf(address, seq, entry)) {
      const part = notice.type === "state-changed" ? undefined : partOf(notice, envelope, isTeam)
      if (part !== undefined && isEnd(part)) return part
    }
  }
  return undefined
}

export interface Question {
  readonly listen: (listener: (notice: Notice) => void) => () => void
  readonly isAbout: (notice: Notice) => boolean
  /** It is asked of a team. */
  readonly isTeam: boolean
  readonly envelope: EnvelopeId
  /** Sends the message, and gives the end when that had come before. */
  readonly begin: () => Promise<Part | undefined>
  /** Tells when no more notices will come, and why. */
  readonly onEnd: (listener: (reason: FleetClosed) => void) => () => void
}

/** Collects parts from notices, from when somebody reads. */
export const partsOf = ({ begin, envelope, isAbout, isTeam, listen, onEnd }: Question): AsyncIterable<Part> => ({
  async *[Symbol.asyncIterator]() {
    const parts: Array<Part> = []
    let inHand = false
    let closed: FleetClosed | undefined
    let wake = () => {}
    const leave = onEnd((reason) => {
      closed = reason
      wake()
    })
    const stop = listen((notice) => {
      if (!isAbout(notice)) return
      if (notice.type === "tick-started" && notice.envelope === envelope) inHand = true
      const part = partOf(notice, envelope, isTeam)
      // What happens in a tick of somebody else's envelope is not ours; a halt concerns everyone who waits.
      if (part === undefined || (!inHand && !isEnd(part))) return
      parts.push(part)
      wake()
    })
    try {
      const ended = await begin()
      if (ended !== undefined) parts.push(ended)
      while (true) {
        const part = parts.shift()
        if (part === undefined) {
          if (closed !== undefined) throw closed
          await new Promise<void>((resolve) => {
            wake = resolve
            if (parts.length > 0 || closed !== undefined) resolve()
          })
          continue
        }
        yield part
        if (isEnd(part)) return
      }
    } finally {
      stop()
      leave()
    }
  }
})

// Letter: an event with an address, as a user gives it.
// L1  What `letterProblem` finds nothing wrong with, `Fleet.post` does not refuse for its form.
// L2  A half of a surrogate pair in a text becomes U+FFFD: no text in UTF-8 holds one, and no other system would keep it.

interface Letter {
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
