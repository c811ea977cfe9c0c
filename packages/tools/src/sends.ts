// Sends: the messages one run wants to leave with its result.
// Owns their envelopes and the refusal of what can not be sent. Leaves making them durable to the commit.
// I1  The id of a send is a pure function of the key and its place, so a repeated attempt sends nothing twice.
// I2  After the run has ended nothing is taken any more.

import { createHash } from "node:crypto"
import type { Address, Envelope } from "@reverie/protocol"
import { AssistantId, assistantSender, ENVELOPE_VERSION, EnvelopeId, MAX_MESSAGE_CHARS } from "@reverie/protocol"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { MAX_SENDS } from "./tool.ts"

export interface Sender {
  readonly address: Address
  readonly key: string
  /** Of the envelope in hand. */
  readonly hops: number
  readonly traceparent?: string
}

export interface Sends {
  readonly send: (to: string, text: string) => void
  /** Closes the door and gives what was sent. */
  readonly close: () => ReadonlyArray<Envelope>
}

const none: ReadonlyArray<Envelope> = Object.freeze([])
const decodeAssistantId = Schema.decodeUnknownOption(AssistantId)

export const openSends = (sender: Sender): Sends => {
  let sent: Array<Envelope> | undefined
  let open = true
  return {
    send: (to, text) => {
      if (!open) throw new Error("send was called after the run had ended; the message was not sent")
      const envelope = envelopeOf(sender, sent?.length ?? 0, to, text)
      sent ??= []
      sent.push(envelope)
    },
    close: () => {
      open = false
      return sent ?? none
    }
  }
}

const envelopeOf = (sender: Sender, index: number, to: string, text: string): Envelope => {
  if (index >= MAX_SENDS) throw new Error(`a run can send at most ${MAX_SENDS} messages`)
  const assistant = Option.getOrUndefined(decodeAssistantId(to))
  if (assistant === undefined) throw new Error("send needs the id of an assistant as its first argument")
  if (typeof text !== "string") throw new Error("send needs a text as its second argument")
  if (text.length > MAX_MESSAGE_CHARS) throw new Error(`a message can have at most ${MAX_MESSAGE_CHARS} characters`)
  const { address, hops, key, traceparent } = sender
  return {
    v: ENVELOPE_VERSION,
    id: EnvelopeId.make(`${shortKey(key)}#${index}`),
    to: { tenant: address.tenant, assistant },
    from: assistantSender(address.assistant),
    event: { type: "message", text },
    hops: hops + 1,
    ...(traceparent === undefined ? {} : { traceparent })
  }
}

// An envelope id has 256 characters at most; a longer key keeps its identity as a hash.
const shortKey = (key: string): string => (key.length <= 248 ? key : createHash("sha256").update(key).digest("hex"))
