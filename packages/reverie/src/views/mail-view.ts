// MailView: letters as a person wants to see them.
// Owns what is shown of an envelope. Leaves the order of a mailbox to the mailbox.
// M1  A letter that can not be read is shown as that, in its place.

import { Mailbox } from "@reverie/mailbox"
import {
  type AcceptedEnvelope,
  type Address,
  type Event,
  type Lane,
  LANES,
  type Pending,
  defined,
  textWithParts
} from "@reverie/protocol"
import * as Effect from "effect/Effect"

/** An envelope that waits in a mailbox. */
export interface WaitingDeadLetter {
  /** The id of the envelope. */
  readonly id: string
  /** The lane of the mailbox that it waits in. */
  readonly lane: Lane
  /** Its place in that lane. */
  readonly seq: number
  /** The type of its event; `unreadable` when it can not be read, and `text` says why. */
  readonly type: Event["type"] | "unreadable"
  /** Who sent it. */
  readonly from: string
  /** What it says, or why it was sent, where it says anything. */
  readonly text?: string
  /** Milliseconds since the epoch; 0 where it can not be read. */
  readonly acceptedAt: number
  /** How many assistants passed it on before. */
  readonly hops: number
}

/** The words in an event. */
export const textOfEvent = (event: Event): string | undefined => {
  switch (event.type) {
    case "message":
      return textWithParts(event.text, event.parts)
    case "report":
      return event.content
    case "delegate":
      return event.task
    case "timer":
    case "approval":
      return event.note
    case "halt":
    case "stop":
    case "resume":
    case "retire":
    case "wake":
      return event.reason
    default:
      return undefined
  }
}

const letterOf = ({ acceptedAt, event, from, hops, id, lane, seq }: AcceptedEnvelope): WaitingDeadLetter => {
  const text = textOfEvent(event)
  return { id, lane, seq, type: event.type, from, ...defined({ text }), acceptedAt, hops }
}

const lettersOf = (pending: Pending): ReadonlyArray<WaitingDeadLetter> =>
  pending.map((letter) => {
    if (!("unreadable" in letter)) return letterOf(letter)
    const { id, lane, seq, unreadable } = letter
    return { id, lane, seq, type: "unreadable", from: "", text: unreadable, acceptedAt: 0, hops: 0 }
  })

/** What waits for an assistant, in the order of the lanes. */
export const waitingFor = (address: Address, limit: number) =>
  Mailbox.use((mailbox) =>
    Effect.map(mailbox.pending(address, LANES, limit), (pending) => lettersOf(pending).slice(0, Math.max(0, limit)))
  )
