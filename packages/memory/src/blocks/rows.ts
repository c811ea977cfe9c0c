// BlockRows: what an adapter keeps for the keeper of blocks, as texts and bytes, within one transaction.
// Owns the shapes of the rows. Leaves what they mean to `keeper.ts`, where they are to the adapter.
// R1  All of one `write` is kept, or nothing: also when the process dies in between.
// R2  No one else writes between a transaction's first look and its last word.
// R3  Texts come back exactly; the keeper gives only what JSON can hold, escaped where it has to be.

import type { TenantId } from "@reverie/protocol"
import type * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type { BlockStoreUnavailable } from "../errors.ts"

export interface BlockLooks {
  /** What was answered under a key. */
  readonly answer: (tenant: TenantId, key: string) => string | undefined
  readonly block: (tenant: TenantId, id: string) => string | undefined
  readonly isTaken: (tenant: TenantId, owner: string, label: string) => boolean
  /** The blocks that an assistant owns or shares, in any order; all of the tenant when no assistant is named. */
  readonly blocks: (tenant: TenantId, by: string | undefined) => ReadonlyArray<string>
  readonly snapshot: (tenant: TenantId, id: string) => Uint8Array | undefined
  /** After a version, oldest first. */
  readonly patches: (tenant: TenantId, id: string, after: number) => ReadonlyArray<Uint8Array>
  /** Before a version, newest first. */
  readonly versions: (tenant: TenantId, id: string, before: number, limit: number) => ReadonlyArray<string>
}

export interface BlockWrites {
  readonly putAnswer: (tenant: TenantId, key: string, answer: string) => void
  readonly putBlock: (
    tenant: TenantId,
    block: {
      readonly id: string
      readonly owner: string
      readonly label: string
      readonly readers: ReadonlyArray<string>
      readonly body: string
    }
  ) => void
  readonly putVersion: (tenant: TenantId, id: string, version: number, body: string, patch: Uint8Array) => void
  readonly putSnapshot: (tenant: TenantId, id: string, bytes: Uint8Array) => void
  /** With its versions, its snapshot and whom it was given to; answers stay. */
  readonly remove: (tenant: TenantId, id: string) => void
}

export type BlockRows = BlockLooks & BlockWrites

export interface BlockTransactions {
  readonly look: <A, E>(
    operation: string,
    run: (rows: BlockLooks) => Result.Result<A, E>
  ) => Effect.Effect<A, E | BlockStoreUnavailable>
  /** A failure of `run` comes before its first write. `onUndo` is called back when nothing was kept after all. */
  readonly write: <A, E>(
    operation: string,
    run: (rows: BlockRows, onUndo: (undo: () => void) => void) => Result.Result<A, E>
  ) => Effect.Effect<A, E | BlockStoreUnavailable>
}
