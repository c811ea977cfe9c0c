// State: what the store keeps of an assistant between two commits, and the lease to change it.
// Owns the shapes. Leaves their change to the ledger's commit, and their holder to the mailbox's claim.
// I1  `version` is the number of the last commit: each commit raises it by one.
// I2  A claim writes only while its epoch is the highest ever granted for the assistant.

import type { OpenJob, OpenTimer } from "../command.ts"
import type { AcceptedEnvelope, Cursors, UnreadableEnvelope } from "../mail/envelope.ts"
import type { Lane } from "../mail/event.ts"
import type { Address } from "../ids.ts"
import type { Json } from "../json.ts"

export const STATE_VERSION = 1

/** The control state of one assistant. Stays small whatever the assistant has lived through. */
export interface AssistantState {
  readonly v: typeof STATE_VERSION
  /** The persisted snapshot of the statechart. */
  readonly snapshot: Json
  readonly jobs: ReadonlyArray<OpenJob>
  readonly timers: ReadonlyArray<OpenTimer>
  /** Lanes that the present machine state listens to. */
  readonly receives: ReadonlyArray<Lane>
  /** The path of the present machine state, e.g. `awake.thinking.inferring`. */
  readonly status: string
  /** The definition the assistant was created from. */
  readonly definition: string
}

export interface Claim {
  readonly address: Address
  readonly worker: string
  readonly epoch: number
  /** Milliseconds since the epoch; after it another worker may claim. */
  readonly leaseUntil: number
}

/** What a granted claim hands over. */
export interface Hold {
  readonly claim: Claim
  readonly state: AssistantState
  readonly version: number
  readonly cursors: Cursors
  /**
   * Claims in a row that the work at hand has had, this one included. What a commit leaves open began under the claim of that
   * commit, which counts as the first; a release in good order begins the count anew.
   */
  readonly attempts: number
  /** What a holder noted that did not let go in good order (`Mailbox.note`); nothing was committed since. */
  readonly note?: string
}

/** What waits in a mailbox for the lanes asked for, control before reply before mail, each in order. */
export type Pending = ReadonlyArray<AcceptedEnvelope | UnreadableEnvelope>
