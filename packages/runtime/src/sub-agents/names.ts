// Names: how a sub-agent, its task and its report are called.
// Owns that they follow from the parent and the call alone: after a crash they are the same.
// N1  Two calls, or two tries of one, never give the same name.

import { createHash } from "node:crypto"
import { assistantSender, type Address, addressKey, AssistantId, EnvelopeId } from "@reverie/protocol"

const MAX_ID_CHARS = 128
const MAX_ENVELOPE_CHARS = 256
const HASHED = "assignment:"

const hash = (text: string): string => createHash("sha256").update(text).digest("hex")

/** `ada+3.1.0`, and `ada+3.1.0#2` for the second try; a long one keeps its identity as a hash. */
export const subAgentId = (parent: string, call: string, tries: number): AssistantId => {
  const id = `${parent}+${call}${tries === 1 ? "" : `#${tries}`}`
  return AssistantId.make(id.length <= MAX_ID_CHARS ? id : `${id.slice(0, 60)}+${hash(id).slice(0, 32)}`)
}

/** What stands for the call where an order from outside hands on a task. */
export const orderCall = (envelope: string): string => `order-${hash(envelope).slice(0, 16)}`

const envelopeId = (id: string): EnvelopeId =>
  EnvelopeId.make(id.length <= MAX_ENVELOPE_CHARS ? id : `${HASHED}${hash(id)}`)

const TASK = "task:"

/** The one message a sub-agent receives. */
export const taskEnvelope = (child: Address): EnvelopeId => envelopeId(`${TASK}${addressKey(child)}`)

/** Whether this is the first message of a sub-agent. */
export const isTask = (id: EnvelopeId): boolean => id.startsWith(TASK) || id.startsWith(HASHED)

/** The one report it sends. */
export const reportEnvelope = (child: Address): EnvelopeId => envelopeId(`report:${addressKey(child)}`)

/** An order of the commit with this number. */
export const orderEnvelope = (child: Address, no: number, verb: string): EnvelopeId =>
  envelopeId(`${verb}:${no}:${addressKey(child)}`)

export const senderOf = ({ assistant }: Address): string => assistantSender(assistant)
