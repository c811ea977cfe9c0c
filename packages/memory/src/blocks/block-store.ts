// BlockStore: the port under which memory blocks are kept.
// Owns what a store of blocks promises. Leaves how it keeps its promises to `keeper.ts` over an adapter's rows.
// K1  A tenant sees and changes only its own blocks; an assistant only those it owns or was given (F91, A33).
// K2  A change that has answered is durable, and one that failed has changed nothing (F93).
// K3  A change repeated under its key answers what it answered before and changes nothing twice; the key with another
//     change is refused.
// K4  Versions only grow: each is what one change made, and stays readable. Undo and redo make versions too.
// K5  A change that was made to an earlier version is merged with what came since, not laid over it.
// K6  No block grows beyond its limit and no list beyond its items: the former is refused, the latter loses its oldest.
// K7  Blocks come back exactly, whatever text is in them.
// K8  A block that is gone leaves nothing but the answers to what was done to it, and its label is free.

import type { Json } from "@reverie/protocol"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { BlockRefused, BlockStoreUnavailable, BlockUnknown, BlockUnreadable, ConsentNeeded } from "../errors.ts"
import type { BlockDraft, BlockViewer, BlockView } from "./block.ts"
import type { BlockOperation } from "./operation.ts"
import type { BlockPermission, BlockType } from "./permission.ts"
import type { BlockSchema, Viewport } from "./document/schema.ts"

/** Who changes something, when, and under which name that is only done once. */
export interface BlockRequest extends BlockViewer {
  /** The same for every attempt at this change, and no other change of the tenant has it. */
  readonly key: string
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Why, for whoever reads the versions. */
  readonly message?: string
  /** The version that the author looked at; the newest when not said. */
  readonly seen?: number
  /** Whoever had to agree to this very change has done so. */
  readonly hasConsent?: boolean
}

/** What became of a request. */
export interface BlockChange {
  readonly block: string
  /** The newest version after it. */
  readonly version: number
  /** False when there was nothing to change: the text to be replaced does not occur, the value is there already. */
  readonly changed: boolean
  /** How many of the oldest items went to make room. */
  readonly dropped: number
  /** Of an undo or redo: the version whose content is shown again. */
  readonly restores?: number
}

export type BlockSetting =
  | { readonly set: "pinned"; readonly pinned: boolean }
  | { readonly set: "type"; readonly type: BlockType }
  /** Null shows the whole text again. */
  | { readonly set: "viewport"; readonly viewport: Viewport | null; readonly section?: string }
  | { readonly set: "share"; readonly with: string; readonly permission: BlockPermission }
  | { readonly set: "unshare"; readonly with: string }
  /** From here on for the system alone. */
  | { readonly set: "schema"; readonly schema: BlockSchema }
  | { readonly set: "permission"; readonly permission: BlockPermission }
  | { readonly set: "description"; readonly description: string }
  | { readonly set: "charLimit"; readonly charLimit: number }

export interface BlockVersion {
  readonly version: number
  readonly at: number
  readonly by: string
  readonly isSystem: boolean
  readonly message?: string
  readonly restores?: number
}

/** A state of a block. */
export interface BlockReading {
  readonly version: number
  /** As a prompt shows it, through the present schema. */
  readonly text: string
  /** All there is: of a log every entry, of a text the lines outside the viewport too. */
  readonly content: Json
}

type Failure = BlockUnknown | BlockUnreadable | BlockStoreUnavailable
type Refusal = BlockRefused | ConsentNeeded

export class BlockStore extends Context.Service<
  BlockStore,
  {
    readonly create: (draft: BlockDraft, request: BlockRequest) => Effect.Effect<BlockChange, Failure | Refusal>
    /** Undefined when there is none for this viewer. */
    readonly load: (
      viewer: BlockViewer,
      id: string
    ) => Effect.Effect<BlockView | undefined, BlockUnreadable | BlockStoreUnavailable>
    /** His own first, then those he was given, each in the order of their labels. The system sees all of its tenant. */
    readonly list: (
      viewer: BlockViewer,
      filter?: { readonly types?: ReadonlyArray<BlockType>; readonly owner?: string }
    ) => Effect.Effect<ReadonlyArray<BlockView>, BlockUnreadable | BlockStoreUnavailable>
    /** The newest version when none is named. */
    readonly read: (
      viewer: BlockViewer,
      id: string,
      version?: number
    ) => Effect.Effect<BlockReading, Failure | BlockRefused>
    /** Newest first. */
    readonly versions: (
      viewer: BlockViewer,
      id: string,
      page?: { readonly before?: number; readonly limit?: number }
    ) => Effect.Effect<ReadonlyArray<BlockVersion>, Failure>
    readonly change: (
      id: string,
      request: BlockRequest,
      operation: BlockOperation
    ) => Effect.Effect<BlockChange, Failure | Refusal>
    /** Takes the last change back that is still in force. Others than the system never undo what the system did. */
    readonly undo: (id: string, request: BlockRequest) => Effect.Effect<BlockChange, Failure | Refusal>
    readonly redo: (id: string, request: BlockRequest) => Effect.Effect<BlockChange, Failure | Refusal>
    readonly configure: (
      id: string,
      request: BlockRequest,
      setting: BlockSetting
    ) => Effect.Effect<BlockChange, Failure | Refusal>
    readonly delete: (id: string, request: BlockRequest) => Effect.Effect<BlockChange, Failure | Refusal>
  }
>()("@reverie/memory/BlockStore") {}
