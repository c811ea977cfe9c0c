// Bundles: moving between data stores, one assistant at a time.
// Owns what a store promises when someone moves out of it or into it. Leaves the lines of a file, and whole fleets, to
// the one who drives the move; the shapes of what is carried to `bundle-part.ts`.
// R1  What is packed is the assistant at one moment: of a commit, an acceptance or a change of a block all of it or
//     nothing, no matter who writes meanwhile.
// R2  What was unpacked reads as before through every port. Only numbers that a store gives out for all, places in the
//     outbox and in a mailbox, are those of the new data store; the order of everything that is one assistant's stays.
// R3  A bundle is unpacked whole or not at all, also when the process dies in between.
// R4  Where another life is led, under this address or with one of its blocks, unpacking is refused and changes nothing.
//     Where this very life is led already, or a later time of it, it answers `present` and changes nothing.
// R5  A worker that was granted a claim before the move can write nothing after it.
// R6  An envelope that was accepted before is a duplicate after.
// R7  Tenants are apart: packing takes nothing of another, unpacking touches nothing of another.
// R8  An assistant that has moved in is held, neither due nor claimable, until he is admitted: of a fleet that moves together none
//     begins before all are there.
// R9  Rewritten lives are what the change made of them, all of them whole or nothing, in their old places: entries keep their
//     numbers and their places in the outbox, envelopes their order; sums of use stay, and nothing that went counts as
//     waiting. What they no longer hold can be read nowhere in the store, and a claim of before writes nothing after it.
//     A segment that is lost holds up no rewriting of the rest.

import type { Address, TenantId } from "@reverie/protocol"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { LedgerUnavailable, BundleRefused, UnreadableRecord } from "./errors.ts"
import type { Bundle, BundlePart } from "./bundle-part.ts"

/** Why a data store is not to be worked in: someone is on the way out of it or into it, or has left for good. */
export interface MoveMark {
  readonly state: "leaving" | "arriving" | "left"
  /** Where to or where from, for people: no secret is in it. */
  readonly place: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** One assistant, or what a tenant has besides its assistants. */
export type BundlePlace = Address | { readonly tenant: TenantId; readonly assistant?: undefined }

type Reading = LedgerUnavailable | UnreadableRecord | BundleRefused

export class Bundles extends Context.Service<
  Bundles,
  {
    /**
     * The bundle of one assistant, head first. Where a segment of it cannot be read it is refused; with `marksLost`, which is for what stays
     * in this store, something stands for the rows of one that is lost (`lost-segments.ts`).
     */
    readonly pack: (address: Address, options?: { readonly marksLost?: boolean }) => Stream.Stream<BundlePart, Reading>
    /** What a tenant has besides its assistants: its prompts, and blocks and answers whose owner does not live here. */
    readonly packTenant: (tenant: TenantId) => Stream.Stream<BundlePart, Reading>
    /** Every tenant that has anything here. */
    readonly tenants: Effect.Effect<ReadonlyArray<TenantId>, LedgerUnavailable>
    /** Durable when it returns. A trial judges and writes nothing. */
    readonly unpack: (
      bundle: Bundle,
      options?: { readonly isTrial?: boolean }
    ) => Effect.Effect<"unpacked" | "present", Reading>
    /**
     * Puts what `change` makes of these lives, and of what tenants have besides, in their places: no more entries, envelopes
     * and dead letters than there were, and whole bundles (`flawOfBundle`). Answers what stands there then, in the order of
     * the places. Durable when it returns. Of what is lost something stands for each row: left as it is, the row stays.
     */
    readonly rewrite: (
      places: ReadonlyArray<BundlePlace>,
      change: (there: Bundle) => Bundle
    ) => Effect.Effect<ReadonlyArray<Bundle>, Reading>
    /**
     * After a rewriting that left nothing of what was there: destroys the keys that these lives, and what tenants have besides,
     * were encrypted with, so that copies made before can not be read either. Nothing where nothing is encrypted.
     */
    readonly shred: (places: ReadonlyArray<BundlePlace>) => Effect.Effect<void, LedgerUnavailable>
    /** Lets those begin that have moved in. */
    readonly admit: (addresses: ReadonlyArray<Address>) => Effect.Effect<void, LedgerUnavailable>
    /** The mark on the data store, which anyone who opens it to work is shown; null takes it away. Durable when it returns. */
    readonly mark: (mark: MoveMark | null) => Effect.Effect<void, LedgerUnavailable>
    readonly marked: Effect.Effect<MoveMark | undefined, LedgerUnavailable>
  }
>()("@reverie/ledger/bundles") {}
