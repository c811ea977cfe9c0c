// IndexStatus: what an index tells of itself: to the runtime how far it has come, to those who run it how it is.
// Owns positions, what it says, and what a snapshot is. Leaves how far it is behind the ledger to the runtime, which knows the ledger.
// S1  It is of the whole index, of all tenants.
// S2  What is not known is left out, never zero.

import type { Address } from "@reverie/protocol"
import type * as Effect from "effect/Effect"
import type { RecallUnavailable } from "../errors.ts"

export interface VectorModel {
  /** Names the embedder and its version. */
  readonly id: string
  readonly dimensions: number
}

/**
 * green: all is well. yellow: it is being optimized. grey: it could be optimized, and begins with the next write. red: something
 * failed and was not made good.
 */
export const indexStates = ["green", "yellow", "grey", "red"] as const
/** How an index is. */
export type IndexState = (typeof indexStates)[number]

/** What an index tells of itself. */
export interface IndexStatus {
  /** What it is kept in: `qdrant`, `postgres` or `sqlite`; another one has a word of its own. */
  readonly kind: string
  /** How it is; one that keeps no such word is green when it answers. */
  readonly state: IndexState
  /** What it warns of, or why it is red. */
  readonly warnings: ReadonlyArray<string>
  /** The number of its form. */
  readonly format: number
  /** The form that it has when it is made now; a lower `format` is being replaced. */
  readonly newestFormat: number
  /** Memories of all assistants. */
  readonly memories: number
  /** Points of a collection: memories, and one for each assistant. */
  readonly points?: number
  /** Memories that have a vector of the current model. */
  readonly vectors?: number
  /**
   * Where vectors are compared, of an index in PostgreSQL: in the database all of them, by pgvector; in the process the newest ones.
   */
  readonly compared?: "database" | "process"
  /** Size on disk. */
  readonly bytes?: number
  /** The model of the vectors that searches use. */
  readonly embedder?: VectorModel
  /** The one that is being filled in. */
  readonly nextEmbedder?: VectorModel
}

/** Where an assistant stands in an index. */
export interface IndexStanding {
  readonly address: Address
  readonly position: IndexPosition
}

/** An index as it was. */
export interface IndexSnapshot {
  /** By which it is restored. */
  readonly name: string
  /** Its size. */
  readonly bytes: number
  /** When it was made, in milliseconds since the epoch; not there when the server does not say. */
  readonly at?: number
}

/** The snapshots of an index that keeps such. */
export interface IndexSnapshots {
  readonly list: Effect.Effect<ReadonlyArray<IndexSnapshot>, RecallUnavailable>
  readonly make: Effect.Effect<IndexSnapshot, RecallUnavailable>
  /**
   * Puts it in the place of the index, in one step, once it is there as a whole. What was indexed since is missing then as the
   * positions say. By its name, or by its location as the server understands it.
   */
  readonly restore: (snapshot: string) => Effect.Effect<void, RecallUnavailable>
}

// IndexPosition: how far an index has come in the ledger of an assistant.
// P1  Two positions are the same only when number and digest are: in another life of the same assistant, as it stands in
//     a store that was restored, the same number is another entry.
// P2  Each time that an index of an assistant is begun, it has a name of its own, and every digest says it: what was read of the ledger
//     before the index was emptied is made from no position of the one that was begun since.

export interface IndexPosition {
  /** The number of the last ledger entry that was indexed; 0 when none was. */
  readonly no: number
  /** The name of the beginning, a dot, and what tells that entry from others; empty when the index was not begun. */
  readonly digest: string
}

/** Where an index stands that knows nothing. */
export const INDEX_START: IndexPosition = { no: 0, digest: "" }

export const samePosition = (a: IndexPosition, b: IndexPosition): boolean => a.no === b.no && a.digest === b.digest

/** The name of the beginning that a position goes back to; empty when there is none. */
export const beginningOf = ({ digest }: IndexPosition): string => digest.slice(0, Math.max(0, digest.indexOf(".")))

/** The part of a ledger that changes were made from. `to` is where an index stands that has applied them. */
export interface IndexSpan {
  readonly from: IndexPosition
  readonly to: IndexPosition
}
