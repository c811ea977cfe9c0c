// Acceptance: taking in what is sent to an assistant.
// Owns the key of idempotency, and what a message is made into. Leaves durability to the fleet.
// C1  A key in the header and another one in the body is a contradiction, and refused.
// C2  Nobody may speak as the house itself: `from` is a name that a person or a program gave.

import type { Event, Fleet, Receipt } from "reverie"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Malformed, type Said } from "./api/index.ts"

export type SaidMessage = typeof Said.Type

const keyOf = (header: string | undefined, body: string | undefined): { readonly id?: string } => {
  if (header !== undefined && body !== undefined && header !== body) {
    throw new Malformed({ message: "the header idempotency-key and the id of the body differ" })
  }
  const id = header ?? body
  return id === undefined ? {} : { id }
}

const fromOf = (from: string | undefined): { readonly from?: string } => (from === undefined ? {} : { from })

export const acceptMessage = (
  fleet: Fleet,
  to: string,
  { blocks = [], channel, from, id, text }: SaidMessage,
  key: string | undefined
): Promise<Receipt> => {
  const options = { ...keyOf(key, id), ...fromOf(from) }
  const event = {
    type: "message" as const,
    text,
    ...(blocks.length === 0 ? {} : { blocks }),
    ...(channel === undefined ? {} : { channel })
  }
  return fleet.post(to, event, options)
}

const typed = Schema.decodeUnknownOption(Schema.Struct({ type: Schema.String }))

export const acceptEvent = (
  fleet: Fleet,
  to: string,
  { event, from, id }: { readonly event: object; readonly from?: string; readonly id?: string },
  key: string | undefined
): Promise<Receipt> => {
  if (Option.isNone(typed(event))) throw new Malformed({ message: "event needs a type" })
  // What kind of event it is, and whether it is whole, the fleet judges.
  return fleet.post(to, event as Event, { ...keyOf(key, id), ...fromOf(from) })
}
