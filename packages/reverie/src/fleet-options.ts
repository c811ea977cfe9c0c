// FleetOptions: what a fleet is opened with, and a message sent with.
// Owns the shapes. Leaves what they do to fleet.ts.

import type { Address, Notice } from "@reverie/protocol"
import type { Faults, HostFailure, WorkerSettings } from "@reverie/runtime"
import type { FleetDefinition } from "./define-fleet.ts"
import type { Terms } from "./fleet/limits.ts"
import type { ProfileOptions } from "./opening/profile.ts"
import type { TracingOptions } from "./opening/tracing.ts"

/** all: takes in and works. api: takes in, reads, and leaves the work to others. worker: the same as all, by another name. */
export type FleetRole = "all" | "api" | "worker"

/** Limits of tenants, and prices, stand in place of those of the definition. */
export interface FleetOptions extends Partial<ProfileOptions>, Terms, TracingOptions {
  readonly fleet: FleetDefinition
  /** What this process does; "all" when not said. */
  readonly role?: FleetRole
  /** "default" when not said. */
  readonly tenant?: string
  readonly worker?: Partial<WorkerSettings>
  /** Where tests stop, delay or kill. */
  readonly faults?: (typeof Faults)["Service"]
  /** Told of assistants that can not be hosted, e.g. because their definition is gone. */
  readonly onTrouble?: (address: Address, failure: HostFailure) => void
  /** Told of every notice from the first one on; `fleet.on` receives only what comes after the opening. */
  readonly onNotice?: (notice: Notice) => void
}

export interface SendOptions {
  /** Idempotency key: the same id is accepted once. A fresh one when not said. */
  readonly id?: string | undefined
  /** Who says it. "user" when not said. */
  readonly from?: string | undefined
  /** Ids of memory blocks that a message refers to: they are in view while it is answered. */
  readonly blocks?: ReadonlyArray<string> | undefined
  /** W3C trace context that this belongs to; what is none is passed over. */
  readonly traceparent?: string | undefined
}
