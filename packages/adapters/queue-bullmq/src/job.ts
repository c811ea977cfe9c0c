// Job: what BullMQ carries for this queue, and under which options.
// Owns payloads, ids and options of jobs. Leaves adding and taking them to others.
// J1  A payload is an address, a trace where one is known, what the wake-up is about and, for later, a time: never the only
//     copy of anything. Nothing here acts on what it is about: it is for those who look at a queue.
// J2  At most one job of an assistant waits and at most one is active; what is added meanwhile becomes the next one.
// J3  A job never fails for good.

import { randomUUID } from "node:crypto"
import {
  type Address,
  addressKey,
  AssistantId,
  defined,
  type Envelope,
  laneOf,
  TenantId,
  type Urgency
} from "@reverie/protocol"
import type { JobsOptions } from "bullmq"

export interface Tick {
  readonly tenant: string
  readonly assistant: string
  /** W3C trace context of the one who gave the wake-up. What a server answers may be anything. */
  readonly trace?: unknown
  /** What it was given for; the events that joined it while it waited are in the store. */
  readonly event?: WaitingEvent
}

/** An event as it is shown to those who look at a queue. */
export type WaitingEvent =
  | {
      readonly id: string
      readonly kind: Envelope["event"]["type"]
      readonly lane: string
      readonly sender: string
      /** As it was accepted, where it is small. */
      readonly envelope?: Envelope
    }
  /** A time that has come: one that was set, or the hour of a schedule of sleep. */
  | { readonly kind: "due" | "sleep"; readonly dueAt: number }

export interface Sleep extends Tick {
  /** Absent when a schedule made the job. */
  readonly dueAt?: number
}

export const EVENTS = "events"
export const SLEEP = "sleep"

/** High enough never to be reached. */
export const FOR_EVER = 1_000_000

const lasting: JobsOptions = {
  attempts: FOR_EVER,
  backoff: { type: "fixed", delay: 200 },
  removeOnComplete: true
}

/** Longest envelope that a job carries whole, in UTF-16 units of its JSON. */
const SMALL_CHARS = 2_048

const isSmall = (envelope: Envelope): boolean => {
  const { event } = envelope
  const text = event.type === "message" ? event.text : event.type === "report" ? event.content : ""
  return text.length <= SMALL_CHARS && JSON.stringify(envelope).length <= SMALL_CHARS
}

export const eventOf = (envelope: Envelope): WaitingEvent => ({
  id: envelope.id,
  kind: envelope.event.type,
  lane: laneOf(envelope.event),
  sender: envelope.from,
  ...defined({ envelope: isSmall(envelope) ? envelope : undefined })
})

export const payloadOf = ({ assistant, tenant }: Address, trace?: string, event?: WaitingEvent): Tick => ({
  tenant,
  assistant,
  ...defined({ trace, event })
})

export const traceOf = ({ trace }: Tick): { readonly trace?: string } => (typeof trace === "string" ? { trace } : {})

export const addressOf = ({ assistant, tenant }: Tick): Address => ({
  tenant: TenantId.make(tenant),
  assistant: AssistantId.make(assistant)
})

const letters: Readonly<Record<Urgency, string>> = { order: "o", person: "p", routine: "r" }
const places: Readonly<Record<string, number>> = { o: 0, p: 1, r: 2 }

/** Names this process in ids. */
const author = randomUUID().replaceAll("-", "").slice(0, 12)
let made = 0

/** An id that says how urgent the wake-up was when it was given. */
const newTickId = (urgency: Urgency): string => `${letters[urgency]}-${author}-${(made++).toString(36)}`

/** Whether a job of this id may be less urgent than that. */
export const mayBeLessUrgent = (id: string, urgency: Urgency): boolean =>
  (places[id.slice(0, 1)] ?? 0) > (places[letters[urgency]] ?? 0)

export const tickOptions = (address: Address, urgency: Urgency, priority: number): JobsOptions => ({
  ...lasting,
  jobId: newTickId(urgency),
  priority,
  deduplication: { id: addressKey(address), keepLastIfActive: true, reschedule: true }
})

export const sleepIdOf = (address: Address): string => `sleep:${addressKey(address)}`

/** `at` is the present by the clock that `dueAt` was made by: together they are the due time, whatever the machine's. */
export const sleepOptions = (address: Address, dueAt: number, at: number): JobsOptions => ({
  ...lasting,
  timestamp: Math.round(at),
  delay: Math.max(0, Math.round(dueAt - at)),
  deduplication: { id: sleepIdOf(address), keepLastIfActive: true, replace: true }
})

export const scheduledOptions = lasting
