// Block: a memory block as it is kept, as it is shown, and who may do what to it.
// Owns these shapes and the rights that follow from owning and sharing. Leaves what it holds to `document.ts`.
// B1  Whoever neither owns a block nor was given it does not see that there is one.
// B2  Its text stands beside it, as it was rendered with its last change: to read a block is to read one row.
// B3  Settings belong to the owner, and those that say who may do what, to the system alone.

import { createHash } from "node:crypto"
import type { Json, TenantId } from "@reverie/protocol"
import type { Place } from "./document/document.ts"
import { type Access, accessUnder, type BlockAct, blockActs, lesserPermission } from "./permission.ts"
import type { BlockPermission, BlockType } from "./permission.ts"
import type { BlockSchema } from "./document/schema.ts"

/** Most UTF-16 units of a block that names no limit of its own. */
export const DEFAULT_CHAR_LIMIT = 5_000

/** Every assistant of the tenant. */
export const EVERYBODY = "*"

export interface BlockShare {
  /** An assistant's id, or `*` for every one of the tenant. */
  readonly with: string
  readonly permission: BlockPermission
}

/** As it is kept. */
export interface KeptBlock {
  readonly id: string
  readonly owner: string
  readonly label: string
  readonly type: BlockType
  readonly permission: BlockPermission
  readonly schema: BlockSchema
  readonly description: string
  readonly pinned: boolean
  readonly charLimit: number
  readonly shares: ReadonlyArray<BlockShare>
  readonly createdAt: number
  readonly updatedAt: number
  /** The number of its last commit. */
  readonly version: number
  readonly text: string
  /** How much of the limit it uses. */
  readonly chars: number
  /** The version whose content it shows, those an undo goes back to, and those a redo goes on to, the last first to go. */
  readonly shows: number
  readonly past: ReadonlyArray<number>
  readonly future: ReadonlyArray<number>
  /** Up to which version a snapshot holds everything, and what has come since, in bytes. */
  readonly snapshot: { readonly version: number; readonly bytes: number; readonly since: number }
  /** Where its document stands: one that was read and stands elsewhere is damaged. */
  readonly place: Place
}

/** Who looks: an assistant by its id, or the system under any name. */
export interface BlockViewer {
  readonly tenant: TenantId
  readonly by: string
  /** Permissions do not bind it. False when not said. */
  readonly isSystem?: boolean
}

/** A block as somebody may see it. */
export interface BlockView extends Omit<KeptBlock, "past" | "future" | "shows" | "snapshot" | "place" | "permission"> {
  /** What is left of its permission for whoever looks. */
  readonly permission: BlockPermission
  readonly access: Readonly<Record<BlockAct, Access>>
  /** Its owner, for whoever it was shared with. */
  readonly sharedFrom?: string
  /** Whom it is shared with: told to its owner and the system only. */
  readonly shares: ReadonlyArray<BlockShare>
}

export interface BlockDraft {
  /** The assistant it belongs to. Others than the system create only their own. */
  readonly owner: string
  /** Letters, digits and `_ . -`, at most 64; one of its owner's blocks has it, no other. */
  readonly label: string
  readonly type: BlockType
  /** ReadWrite when not said. */
  readonly permission?: BlockPermission
  /** A plain text when not said. */
  readonly schema?: BlockSchema
  /** What it begins with: a text, an object of fields, an array of items or entries, an object of sections. */
  readonly content?: Json
  /** Told to the model with the block: what it is for. */
  readonly description?: string
  readonly pinned?: boolean
  readonly charLimit?: number
}

/** The id of a block: the same for the same request, and no other block of any tenant has it. */
export const blockIdOf = (tenant: TenantId, { label, owner }: BlockDraft, key: string): string => {
  const named = JSON.stringify([tenant, owner, label, key])
  return `blk_${createHash("sha256").update(named).digest("hex").slice(0, 24)}`
}

/** What was given to somebody: what he was given himself goes before what everybody was given. */
const shareOf = (block: KeptBlock, by: string): BlockPermission | undefined =>
  (block.shares.find((share) => share.with === by) ?? block.shares.find((share) => share.with === EVERYBODY))
    ?.permission

export const isOwner = (block: KeptBlock, viewer: BlockViewer): boolean =>
  viewer.isSystem === true || block.owner === viewer.by

export const isVisible = (block: KeptBlock, viewer: BlockViewer): boolean =>
  isOwner(block, viewer) || shareOf(block, viewer.by) !== undefined

/** What somebody who sees a block may do to it. */
export const accessTo = (block: KeptBlock, viewer: BlockViewer, act: BlockAct): Access => {
  if (viewer.isSystem === true) return "allowed"
  return accessUnder(block.permission, isOwner(block, viewer) ? undefined : shareOf(block, viewer.by), act)
}

export const viewOf = (block: KeptBlock, viewer: BlockViewer): BlockView => {
  const { future: _future, past: _past, place: _place, shows: _shows, snapshot: _snapshot, ...told } = block
  const access = Object.fromEntries(blockActs.map((act) => [act, accessTo(block, viewer, act)]))
  const rights = { access: access as BlockView["access"] }
  if (isOwner(block, viewer)) return { ...told, ...rights }
  const permission = lesserPermission(block.permission, shareOf(block, viewer.by))
  return { ...told, ...rights, permission, sharedFrom: block.owner, shares: [] }
}
