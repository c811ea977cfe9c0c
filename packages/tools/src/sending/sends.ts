// Sends: the messages one run wants to leave with its result.
// Owns their envelopes and the refusal of what can not be sent. Leaves making them durable to the commit.
// I1  The id of a send is a pure function of the key and its place, so a repeated attempt sends nothing twice.
// I2  After the run has ended nothing is taken any more.
// I3  Whom the post refuses gets nothing: the run is told why, and when it may go on.

import { createHash } from "node:crypto"
import type { Reached } from "@reverie/assistant"
import { type Address, type Envelope, defined } from "@reverie/protocol"
import { AssistantId, assistantSender, ENVELOPE_VERSION, EnvelopeId, MAX_MESSAGE_CHARS } from "@reverie/protocol"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { MAX_SENDS, type SendingOptions, type ToolRun } from "../tool.ts"

/** What a sender may know of the others. */
export interface Post {
  readonly reach: (target: string) => Reached
  /** Why a message may not go now, and when it may; undefined when it may. `more` go before it in the same run. */
  readonly refusal: (to: string, more: number) => { readonly reason: string; readonly retryAt: number } | undefined
}

export interface Sender {
  readonly address: Address
  /** Without it nobody is refused, and nobody is found but by id. */
  readonly post?: Post
  readonly key: string
  /** Of the envelope in hand. */
  readonly hops: number
  readonly traceparent?: string
}

export interface Sends {
  readonly send: ToolRun["send"]
  /** Closes the door and gives what was sent. */
  readonly close: () => ReadonlyArray<Envelope>
}

const none: ReadonlyArray<Envelope> = Object.freeze([])
const decodeAssistantId = Schema.decodeUnknownOption(AssistantId)

export const openSends = (sender: Sender): Sends => {
  let sent: Array<Envelope> | undefined
  let open = true
  return {
    send: (to, text, options) => {
      if (!open) throw new Error("send was called after the run had ended; the message was not sent")
      const envelope = envelopeOf(sender, sent?.length ?? 0, to, text, options)
      const before = sent?.filter((each) => each.to.assistant === to).length ?? 0
      const refusal = sender.post?.refusal(to, before)
      if (refusal !== undefined) throw new Error(refusal.reason)
      sent ??= []
      sent.push(envelope)
    },
    close: () => {
      open = false
      return sent ?? none
    }
  }
}

const envelopeOf = (
  sender: Sender,
  index: number,
  to: string,
  text: string,
  { wantsAnswer = false }: SendingOptions = {}
): Envelope => {
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
    event: { type: "message", text, ...defined({ wantsAnswer: wantsAnswer ? wantsAnswer : undefined }) },
    hops: hops + 1,
    ...defined({ traceparent })
  }
}

// An envelope id has 256 characters at most; a longer key keeps its identity as a hash.
const shortKey = (key: string): string => (key.length <= 248 ? key : createHash("sha256").update(key).digest("hex"))
