// Acceptance: taking in what is sent to an assistant.
// Owns the key of idempotency, and what a message is made into. Leaves durability to the fleet.
// C1  A key in the header and another one in the body is a contradiction, and refused.
// C2  No one outside speaks as an assistant or reports as one: `from` is a name that a person or a program gave, and what
//     only assistants tell each other is refused.
// C3  The trace context of a request goes with what it brings.
// C4  Two keys of one request contradict each other, also when they are the same: node would join them to a third one.

import type { IncomingMessage } from "node:http"
import { sendingAssistant, defined } from "@reverie/protocol"
import type { Event, Fleet, Receipt, SendOptions } from "reverie"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Malformed, type Said } from "../api/index.ts"

export type SaidMessage = typeof Said.Type

const KEY_HEADER = "idempotency-key"

/** True where the header of the key stands more than once in what was sent. */
export const hasTwoKeys = ({ rawHeaders }: Pick<IncomingMessage, "rawHeaders">): boolean => {
  let found = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ""
    if (name.length === KEY_HEADER.length && name.toLowerCase() === KEY_HEADER) found++
  }
  return found > 1
}

export const twoKeys = new Malformed({ message: "the header idempotency-key stands more than once" })

const keyOf = (header: string | undefined, body: string | undefined): string | undefined => {
  if (header !== undefined && body !== undefined && header !== body) {
    throw new Malformed({ message: "the header idempotency-key and the id of the body differ" })
  }
  return header ?? body
}

const judgedFrom = (from: string | undefined): string | undefined => {
  if (from !== undefined && sendingAssistant(from) !== undefined)
    throw new Malformed({ message: "from names an assistant, which speaks for itself" })
  return from
}

/** What stands beside the body of a request. */
export interface Beside {
  readonly key: string | undefined
  readonly traceparent: string | undefined
}

const optionsOf = (
  { key, traceparent }: Beside,
  { from, id }: { readonly from?: string; readonly id?: string }
): SendOptions => ({ id: keyOf(key, id), from: judgedFrom(from), traceparent })

/** Fields by which assistants answer each other. */
const amongAssistants = ["assignment", "answers", "wantsAnswer"]

export const acceptMessage = (
  fleet: Fleet,
  to: string,
  { blocks = [], channel, context, output, parts, text, ...named }: SaidMessage,
  beside: Beside
): Promise<Receipt> => {
  const event = {
    type: "message" as const,
    text,
    ...defined({ blocks: blocks.length === 0 ? undefined : blocks, channel, context, output })
  }
  return fleet.post(to, event, { ...optionsOf(beside, named), ...defined({ parts }) })
}

const typed = Schema.decodeUnknownOption(Schema.Struct({ type: Schema.String }))

export const acceptEvent = (
  fleet: Fleet,
  to: string,
  { event, ...named }: { readonly event: object; readonly from?: string; readonly id?: string },
  beside: Beside
): Promise<Receipt> => {
  if (Option.isNone(typed(event))) throw new Malformed({ message: "event needs a type" })
  const reserved = amongAssistants.find((field) => field in event)
  if (reserved !== undefined) throw new Malformed({ message: `${reserved} is for what assistants send each other` })
  // What kind of event it is, and whether it is whole, the fleet judges.
  return fleet.post(to, event as Event, optionsOf(beside, named))
}
