// Mailbox: the durable inbox of one assistant, and the lease on it.
// Owns arrival order, deduplication, the claim. Leaves the meaning of an event to the assistant, and its end to the ledger.
// I1  At most one live claim per assistant; a stale epoch can renew nothing and release nothing.
// I2  An envelope is accepted once, however often and by however many senders it is sent.
// I3  Accepted envelopes of a lane are pending in the order of acceptance until a commit moves the cursor past them.
// I4  An epoch is never granted twice, and each grant is higher than the one before.
// I5  An assistant with something to do (heard mail, an open job, a due timer) and no live claim is in `due`.
// I6  What one assistant is sent is never pending for another.
// I7  Nothing is accepted for an address where no one lives.
// I8  After `fence` no one holds the assistant, and who held it can write nothing more.
// I9  What was accepted can be read again under its id, after it was handled too.
// I10 A note of a holder is handed to the one who claims next, until a commit, a release or a fence; a stale claim notes nothing.
// I11 Of what an assistant sent only what is still open is accepted: a send that was settled, or taken back by a forgetting, brings nothing.

import type { Address, Claim, Envelope, EnvelopeId, Hold, Lane, Pending, Receipt } from "@reverie/protocol"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ClaimHeld, LeaseLost, MailboxUnavailable, StateUnreadable, UnknownAssistant } from "./errors.ts"

export interface ClaimRequest {
  readonly address: Address
  readonly worker: string
  readonly leaseMillis: number
}

/** How much one call may hand out. */
export const MAX_PENDING = 64

export class Mailbox extends Context.Service<
  Mailbox,
  {
    /**
     * Durable when it returns. `send`: the number of the open send that it comes from; where that is open no more nothing is accepted, and
     * it counts as a duplicate.
     */
    readonly accept: (
      envelope: Envelope,
      send?: number
    ) => Effect.Effect<Receipt, MailboxUnavailable | UnknownAssistant>
    /** Grants the next epoch, or fails while another worker's lease lives. The same worker may claim again at once. */
    readonly claim: (
      request: ClaimRequest
    ) => Effect.Effect<Hold, MailboxUnavailable | UnknownAssistant | ClaimHeld | StateUnreadable>
    readonly renew: (claim: Claim, leaseMillis: number) => Effect.Effect<Claim, MailboxUnavailable | LeaseLost>
    /** Keeps a text for the next claim, in place of an earlier one, in case this one does not end well. Durable on return. */
    readonly note: (claim: Claim, text: string) => Effect.Effect<void, MailboxUnavailable | LeaseLost>
    /** Ends the lease at once, in good order: the next claim is a first attempt. A stale claim releases nothing. */
    readonly release: (claim: Claim) => Effect.Effect<void, MailboxUnavailable>
    /** Takes an assistant from the one who holds it: from now on that claim is stale, and the next is a first attempt. */
    readonly fence: (address: Address) => Effect.Effect<void, MailboxUnavailable | UnknownAssistant>
    /** What waits in the given lanes, at most `limit` a lane. */
    readonly pending: (
      address: Address,
      lanes: ReadonlyArray<Lane>,
      limit: number
    ) => Effect.Effect<Pending, MailboxUnavailable>
    /** Envelopes that were accepted, handled or not, in the order of the ids; what no one knows is left out. */
    readonly accepted: (address: Address, ids: ReadonlyArray<EnvelopeId>) => Effect.Effect<Pending, MailboxUnavailable>
    /**
     * Assistants that have something to do and that no one holds, the longest waiting first. When there are more than
     * asked for, each tenant has a share: one with a backlog does not hide the others. With `until`, in milliseconds since
     * the epoch, also those whom a timer will wake by then.
     */
    readonly due: (limit: number, until?: number) => Effect.Effect<ReadonlyArray<Address>, MailboxUnavailable>
    /** When the next assistant becomes due, in milliseconds since the epoch; undefined when all are at rest. */
    readonly nextDue: Effect.Effect<number | undefined, MailboxUnavailable>
  }
>()("@reverie/mailbox/Mailbox") {}
