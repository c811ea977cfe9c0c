// Options: what a queue on BullMQ is given when it is opened, and what it takes where nothing is said.
// Owns the numbers. Leaves their meaning for BullMQ to the carriers.

import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"

export interface QueueBullmqOptions {
  /** Where the wake-ups are carried. */
  readonly backend: { readonly redis: Redacted.Redacted } | { readonly postgres: Redacted.Redacted }
  /** Stands before every key or queue, so that several deployments may share one server. */
  readonly prefix: string
  /** How many wake-ups may be in hand at the same time. */
  readonly concurrency: number
  /** How long any call of the server may take; a wake-up that takes longer is dropped. */
  readonly deadlineMillis?: number
  /** How long the end of the queue waits for wake-ups in hand. */
  readonly drainMillis?: number
  /** How long a worker that is gone keeps its wake-ups. */
  readonly lockMillis?: number
  /** How often wake-ups of workers that are gone are looked for. */
  readonly stalledMillis?: number
  /** The clock that judges what is due, in milliseconds since the epoch; this machine's when absent. */
  readonly now?: Effect.Effect<number>
}

export interface Timing {
  readonly deadlineMillis: number
  readonly drainMillis: number
  readonly lockMillis: number
  readonly stalledMillis: number
}

/** Below 5 s the stalled check of BullMQ 6.7 deadlocks with fetching on PostgreSQL. */
const STALLED_MILLIS = { redis: 2_500, postgres: 5_000 } as const

export const timingOf = (options: QueueBullmqOptions): Timing => ({
  deadlineMillis: options.deadlineMillis ?? 2_000,
  drainMillis: options.drainMillis ?? 10_000,
  lockMillis: options.lockMillis ?? 5_000,
  stalledMillis: options.stalledMillis ?? STALLED_MILLIS["redis" in options.backend ? "redis" : "postgres"]
})

/** How long to wait before a server that did not answer is asked again. */
export const RETRY_MILLIS = 500

/** How long a fetch blocks when nothing is there; a wake-up that was given back is found within it. */
export const BLOCK_SECONDS = 1
