// Fixtures: the smallest valid values of the protocol's words, each field open to change.
// Owns defaults for tests. Leaves meaning to the test: what a test is about, it names itself.

import { tokensOf } from "@reverie/model"
import {
  type Address,
  AssistantId,
  type AssistantState,
  type Entry,
  ENTRY_VERSION,
  type Envelope,
  ENVELOPE_VERSION,
  EnvelopeId,
  type Event,
  LANES,
  type Message,
  type OpenJob,
  STATE_VERSION,
  TenantId
} from "@reverie/protocol"

export const anAddress = (assistant = "ada", tenant = "harbor"): Address => ({
  tenant: TenantId.make(tenant),
  assistant: AssistantId.make(assistant)
})

/** At rest, hearing every lane. */
export const aState = (over: Partial<AssistantState> = {}): AssistantState => ({
  v: STATE_VERSION,
  snapshot: {},
  jobs: [],
  timers: [],
  receives: LANES,
  status: "awake.idle",
  definition: "tester",
  ...over
})

/** The entry of a creation. */
export const anEntry = (over: Partial<Entry> = {}): Entry => ({
  v: ENTRY_VERSION,
  no: 1,
  at: 0,
  epoch: 0,
  tick: 0,
  iteration: 0,
  cause: { kind: "creation" },
  event: { type: "created" },
  status: "awake.idle",
  messages: [],
  ...over
})

export const aMessage = (content: string, over: Partial<Message> = {}): Message => ({
  role: "user",
  content,
  at: 0,
  tokens: 1,
  ...over
})

export const aJob = (over: Partial<OpenJob> = {}): OpenJob => ({
  id: "1/infer",
  name: "infer",
  src: "infer",
  input: {},
  ...over
})

export const anEnvelopeId = (id: string): EnvelopeId => EnvelopeId.make(id)

export interface EnvelopeRequest {
  readonly id?: string
  readonly to?: Address
  readonly from?: string
  readonly event?: Event
  readonly hops?: number
  readonly traceparent?: string
}

/** A message in the mail lane. */
export const anEnvelope = (request: EnvelopeRequest = {}): Envelope => ({
  v: ENVELOPE_VERSION,
  id: anEnvelopeId(request.id ?? "envelope-1"),
  to: request.to ?? anAddress(),
  from: request.from ?? "person:tester",
  event: request.event ?? { type: "message", text: "hello" },
  hops: request.hops ?? 0,
  ...(request.traceparent === undefined ? {} : { traceparent: request.traceparent })
})

/** Four characters a token. */
export const someTokens = tokensOf((text) => Math.ceil(text.length / 4))
