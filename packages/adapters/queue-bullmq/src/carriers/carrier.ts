// Carrier: the server that carries wake-ups, as far as this queue needs to know it.
// Owns the words that Redis and PostgreSQL have in common here. Leaves each of them to a file of its own.

import type { Address, Urgency } from "@reverie/protocol"
import type { Job, Queue, Worker } from "bullmq"
import type { Sleep, Tick, WaitingEvent } from "../job.ts"

/** A wake-up that someone wants to be given. */
export interface Request {
  readonly address: Address
  readonly urgency: Urgency
  /** Of anyone who gives it. */
  readonly trace?: string
  readonly event?: WaitingEvent
}

/** When an assistant is to be woken. */
export interface Appointment {
  readonly address: Address
  readonly dueAt: number
  /** The present by the same clock. */
  readonly at: number
}

export interface Carrier {
  /** What the connection on which this process waits for wake-ups is called. */
  readonly workerName: string
  readonly events: Queue<Tick>
  readonly sleep: Queue<Sleep>
  /** Settles when the server has answered for the first time. */
  readonly ready: () => Promise<unknown>
  /** Fetches by hand. */
  readonly openTaker: () => Worker<Tick>
  readonly openSleeper: (process: (job: Job<Sleep>, token: string) => Promise<void>) => Worker<Sleep>
  /** Whether there is a connection, as far as is known. */
  readonly isUp: () => boolean
  readonly ping: () => Promise<unknown>
  /** How much the server has said on the connection there is: no more than before means that it said nothing. */
  readonly heardBytes: () => number
  /** Gives up connections that do not answer, and makes new ones. */
  readonly reconnect: () => void
  /** The priority of each request. */
  readonly priorities: (requests: ReadonlyArray<Request>) => Promise<ReadonlyArray<number>>
  /** Tells every process that listens; may be lost. */
  readonly publish: (keys: ReadonlyArray<string>) => Promise<void>
  readonly listen: (heard: (key: string) => void) => Promise<void>
  /** Remembers the earliest time for an assistant. Answers whether this is it. */
  readonly appoint: (appointment: Appointment) => Promise<boolean>
  /** The earliest time that is remembered. */
  readonly appointed: (address: Address) => Promise<number | undefined>
  /** Forgets times until then. */
  readonly keepAppointment: (address: Address, until: number) => Promise<void>
  /** Leaves nothing but its address in what waits for an assistant, also in what waits behind a job in hand. */
  readonly redact: (address: Address) => Promise<void>
  /** Whether the server has forgotten everything since this was asked the last time. */
  readonly hasForgotten: () => Promise<boolean>
  readonly close: () => Promise<void>
}
