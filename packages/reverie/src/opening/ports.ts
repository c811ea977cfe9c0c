// Ports: what a fleet runs on, whichever adapters stand behind it.
// Owns the list, and what else a profile decides. Leaves the choice to profile.ts.

import type { SleepSchedule } from "@reverie/assistant"
import type { PromptStore } from "@reverie/context"
import type { Ledger } from "@reverie/ledger"
import type { Mailbox, WakeQueue } from "@reverie/mailbox"
import type { BlockStore } from "@reverie/memory"
import type { Model, Tokens } from "@reverie/model"
import type { Address } from "@reverie/protocol"
import type { NoticeHub, StoreFailure, WorkerSettings } from "@reverie/runtime"
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"

/** The ports that a fleet runs on. An index and an embedder may be among them. */
export type Ports = Mailbox | Ledger | PromptStore | BlockStore | WakeQueue | Tokens | Model

/** What an open fleet stands on. */
export type Services = NoticeHub | Ports

export interface Profile {
  /** In words, without any password. */
  readonly says: string
  readonly ports: Layer.Layer<Ports | NoticeHub, unknown>
  /** What its servers have measured, in the text format of Prometheus. */
  readonly measured: Effect.Effect<string>
  /** The other processes that work on the same store, by name; undefined when the queue can not say. */
  readonly otherWorkers: Effect.Effect<ReadonlyArray<string> | undefined>
  /** Tells the queue of an assistant's sleep schedule, where it keeps such. Only a wake-up: the night itself is in the store. */
  readonly keepHours: (address: Address, hours: SleepSchedule) => Effect.Effect<void>
  /** What differs from the defaults of a worker. */
  readonly worker: Partial<WorkerSettings>
  /** What becomes of the work of this process when its store fails. */
  readonly sustained: <R>(work: Effect.Effect<never, StoreFailure, R>) => Effect.Effect<never, unknown, R>
}
