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
// K9  Who subscribes hears of a change when it is kept, once: never before, of none that failed, of none that was made
//     before under the same key (F102).

import type { Json, TenantId } from "@reverie/protocol"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import type { BlockRefused, BlockStoreUnavailable, BlockUnknown, BlockUnreadable, ConsentNeeded } from "../errors.ts"
import {
  type Access,
  accessUnder,
  type BlockAct,
  blockActs,
  type BlockOperation,
  type BlockPermission,
  type BlockType,
  lesserPermission
} from "./operation.ts"
import type { BlockSchema, Viewport } from "./document/schema.ts"
import type { Place } from "./document/document.ts"

/** Who changes something, when, and under which name that is only done once. */
export interface BlockRequest extends BlockViewer {
  /** The same for every attempt at this change, and no other change of the tenant has it. */
  readonly key: string
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The reason, shown with the version. */
  readonly message?: string
  /** The version that the author looked at; the newest when not said. */
  readonly seen?: number
  /** The required consent to this change has been given. */
  readonly hasConsent?: boolean
}

/** What became of a request. */
export interface BlockChange {
  /** The id of the block. */
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

/** A change of how a block is kept or shared, not of its text. */
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

/** A change of a block that was kept. */
export interface KeptChange {
  /** The id of the block. */
  readonly block: string
  /** The newest version after it. */
  readonly version: number
  /** What kind of change it was. */
  readonly what: "create" | "change" | "undo" | "redo" | "configure" | "delete"
  /** Who made it, and when. */
  readonly by: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** One version of a block. */
export interface BlockVersion {
  /** Its number, from 1 on. */
  readonly version: number
  /** When it was made, in milliseconds since the epoch. */
  readonly at: number
  /** Who made it. */
  readonly by: string
  /** It was made by the program that holds the fleet or by the definition, not by an assistant. */
  readonly isSystem: boolean
  /** What was said about the change. */
  readonly message?: string
  /** Of an undo or redo: the version whose content is shown again. */
  readonly restores?: number
}

/** A state of a block. */
export interface BlockReading {
  /** The number of the version that was read. */
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
    /** Calls back after each change that this store keeps for the tenant, and answers how to stop. Other processes are not heard. */
    readonly subscribe: (tenant: TenantId, listener: (kept: KeptChange) => void) => () => void
  }
>()("@reverie/memory/BlockStore") {}

// Block: a memory block as it is kept, as it is shown, and who may do what to it.
// B1  An assistant without ownership or a share can not see that a block exists.
// B2  Its text stands beside it, as it was rendered with its last change: to read a block is to read one row.
// B3  Settings belong to the owner, and those that say who may do what, to the system alone.

/** Most UTF-16 units of a block that names no limit of its own. */
export const DEFAULT_CHAR_LIMIT = 5_000

/** Every assistant of the tenant. */
export const EVERYBODY = "*"

interface BlockShare {
  /** An assistant's id, or `*` for every one of the tenant. */
  readonly with: string
  readonly permission: BlockPermission
}

/** As it is kept. */
export interface KeptBlock {
  /** Made by the store; stays the same for the life of the block. */
  readonly id: string
  /** The assistant it belongs to. */
  readonly owner: string
  /** Its name among its owner's blocks. */
  readonly label: string
  /** When a prompt shows it. */
  readonly type: BlockType
  /** What its owner may do with it. */
  readonly permission: BlockPermission
  /** The form of its content. */
  readonly schema: BlockSchema
  /** Told to the model with the block: what it is for. */
  readonly description: string
  /** Of a working block: it stands in every prompt. */
  readonly pinned: boolean
  /** Most characters of its content. */
  readonly charLimit: number
  /** Those it is shared with, each with a permission. */
  readonly shares: ReadonlyArray<BlockShare>
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** Milliseconds since the epoch, of its last commit. */
  readonly updatedAt: number
  /** The number of its last commit. */
  readonly version: number
  /** As a prompt shows it. */
  readonly text: string
  /** How much of the limit it uses. */
  readonly chars: number
  /** The version whose content it shows. */
  readonly shows: number
  /** The versions that an undo goes back to, the last first to go. */
  readonly past: ReadonlyArray<number>
  /** The versions that a redo goes on to, the last first to go. */
  readonly future: ReadonlyArray<number>
  /** Up to which version a snapshot holds everything, and what has come since, in bytes. */
  readonly snapshot: { readonly version: number; readonly bytes: number; readonly since: number }
  /** Where its document stands: one that was read and stands elsewhere is damaged. */
  readonly place: Place
  /** How often words were taken out of its versions; left out where never. */
  readonly remade?: number
}

/** Who looks: an assistant by its id, or the system under any name. */
export interface BlockViewer {
  readonly tenant: TenantId
  readonly by: string
  /** Permissions do not bind it. False when not said. */
  readonly isSystem?: boolean
}

/** A block as a viewer may see it. */
export interface BlockView extends Omit<
  KeptBlock,
  "past" | "future" | "shows" | "snapshot" | "place" | "remade" | "permission"
> {
  /** The permission that remains for a viewer. */
  readonly permission: BlockPermission
  /** What the viewer may do, and why not. */
  readonly access: Readonly<Record<BlockAct, Access>>
  /** Its owner, shown to those it is shared with. */
  readonly sharedFrom?: string
  /** Those it is shared with: shown to its owner and the system only. */
  readonly shares: ReadonlyArray<BlockShare>
}

/** A memory block to be made. */
export interface BlockDraft {
  /** The assistant it belongs to. Others than the system create only their own. */
  readonly owner: string
  /** Letters, digits and `_ . -`, at most 64; one of its owner's blocks has it, no other. */
  readonly label: string
  /** core: always in the prompt. working: when pinned or referred to. archival: found by searching. log: only appended to. */
  readonly type: BlockType
  /** ReadWrite when not said. */
  readonly permission?: BlockPermission
  /** A plain text when not said. */
  readonly schema?: BlockSchema
  /** What it begins with: a text, an object of fields, an array of items or entries, an object of sections. */
  readonly content?: Json
  /** Told to the model with the block: what it is for. */
  readonly description?: string
  /** Of a working block: it stands in every prompt; false when not said. */
  readonly pinned?: boolean
  /** Most characters of its content; that of its schema when not said. */
  readonly charLimit?: number
}

/** The id of a block: the same for the same request, and no other block of any tenant has it. */
export const blockIdOf = (tenant: TenantId, { label, owner }: BlockDraft, key: string): string => {
  const named = JSON.stringify([tenant, owner, label, key])
  return `blk_${createHash("sha256").update(named).digest("hex").slice(0, 24)}`
}

/** The permission that an assistant has: its own share goes before the share of all. */
const shareOf = (block: KeptBlock, by: string): BlockPermission | undefined =>
  (block.shares.find((share) => share.with === by) ?? block.shares.find((share) => share.with === EVERYBODY))
    ?.permission

export const isOwner = (block: KeptBlock, viewer: BlockViewer): boolean =>
  viewer.isSystem === true || block.owner === viewer.by

export const isVisible = (block: KeptBlock, viewer: BlockViewer): boolean =>
  isOwner(block, viewer) || shareOf(block, viewer.by) !== undefined

/** What a viewer may do to a block. */
export const accessTo = (block: KeptBlock, viewer: BlockViewer, act: BlockAct): Access => {
  if (viewer.isSystem === true) return "allowed"
  return accessUnder(block.permission, isOwner(block, viewer) ? undefined : shareOf(block, viewer.by), act)
}

export const viewOf = (block: KeptBlock, viewer: BlockViewer): BlockView => {
  const { future: _1, past: _2, place: _3, remade: _4, shows: _5, snapshot: _6, ...told } = block
  const access = Object.fromEntries(blockActs.map((act) => [act, accessTo(block, viewer, act)]))
  const rights = { access: access as BlockView["access"] }
  if (isOwner(block, viewer)) return { ...told, ...rights }
  const permission = lesserPermission(block.permission, shareOf(block, viewer.by))
  return { ...told, ...rights, permission, sharedFrom: block.owner, shares: [] }
}
