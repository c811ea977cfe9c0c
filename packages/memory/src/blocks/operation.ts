// BlockOperation: one change of what a block holds.
// Owns the closed list (F95-F99), what each may be done to and what permission it needs. Leaves carrying it out to
// `document.ts`.
// O1  A permission to append can neither change nor remove earlier text.
// O2  Taking an item out of a list is deleting.

import type { Json } from "@reverie/protocol"
import type { PartSchema } from "./document/schema.ts"

/** `section` names where in a composite; positions in a list count from 0. */
export type BlockOperation = (
  | { readonly op: "set_text"; readonly text: string }
  | { readonly op: "append_text"; readonly text: string }
  /** The first occurrence only. */
  | { readonly op: "replace_text"; readonly old: string; readonly new: string }
  | { readonly op: "set_field"; readonly field: string; readonly value: Json }
  | { readonly op: "set_text_field"; readonly field: string; readonly text: string }
  | { readonly op: "append_to_list_field"; readonly field: string; readonly value: Json }
  | { readonly op: "increment_counter"; readonly field: string; readonly by: number }
  | { readonly op: "push_item"; readonly value: Json }
  | { readonly op: "insert_item"; readonly index: number; readonly value: Json }
  | { readonly op: "delete_item"; readonly index: number }
  | { readonly op: "append_log_entry"; readonly entry: { readonly [name: string]: Json } }
) & { readonly section?: string }

export type BlockOperationName = BlockOperation["op"]

interface Trait {
  readonly act: BlockAct
  readonly kind: PartSchema["kind"]
}

const traits: Readonly<Record<BlockOperationName, Trait>> = {
  set_text: { act: "overwrite", kind: "text" },
  append_text: { act: "append", kind: "text" },
  replace_text: { act: "overwrite", kind: "text" },
  set_field: { act: "overwrite", kind: "map" },
  set_text_field: { act: "overwrite", kind: "map" },
  append_to_list_field: { act: "append", kind: "map" },
  increment_counter: { act: "overwrite", kind: "map" },
  push_item: { act: "append", kind: "list" },
  insert_item: { act: "append", kind: "list" },
  delete_item: { act: "delete", kind: "list" },
  append_log_entry: { act: "append", kind: "log" }
}

export const actOf = ({ op }: BlockOperation): BlockAct => traits[op].act

/** What a block or section must hold for the operation to make sense. */
export const kindOf = ({ op }: BlockOperation): PartSchema["kind"] => traits[op].kind

/** The field that it changes. */
export const fieldOf = (operation: BlockOperation): string | undefined =>
  "field" in operation ? operation.field : undefined

// Permission: who may do what with a memory block.
// P1  Every viewer of a block may read it; deleting needs Admin.
// P2  What a share allows is never more than what the block itself allows, act by act.

export const blockTypes = ["core", "working", "archival", "log"] as const
/** core: always in the prompt. working: when pinned or referred to. archival: found by searching. log: only appended to. */
export type BlockType = (typeof blockTypes)[number]

/** As a prompt prints them (A31), the weakest first. */
export const blockPermissions = ["ReadOnly", "Partner", "Human", "Append", "ReadWrite", "Admin"] as const
/** What a holder may do with a block. */
export type BlockPermission = (typeof blockPermissions)[number]

export const blockActs = ["append", "overwrite", "delete"] as const
export type BlockAct = (typeof blockActs)[number]

/** Who must consent: the assistant's partner, or any person. */
type ConsentFrom = "partner" | "human"

/** Allowed, refused, or allowed after a consent. */
export type Access = "allowed" | "refused" | ConsentFrom

const row = (append: Access, overwrite: Access, remove: Access): Readonly<Record<BlockAct, Access>> => ({
  append,
  overwrite,
  delete: remove
})

const matrix: Readonly<Record<BlockPermission, Readonly<Record<BlockAct, Access>>>> = {
  ReadOnly: row("refused", "refused", "refused"),
  Partner: row("partner", "partner", "refused"),
  Human: row("human", "human", "refused"),
  Append: row("allowed", "refused", "refused"),
  ReadWrite: row("allowed", "allowed", "refused"),
  Admin: row("allowed", "allowed", "allowed")
}

const accessOf = (permission: BlockPermission, act: BlockAct): Access => matrix[permission][act]

const strength: Readonly<Record<Access, number>> = { refused: 0, partner: 1, human: 2, allowed: 3 }

const weaker = (one: Access, other: Access): Access => (strength[one] <= strength[other] ? one : other)

/** What may be done under both; without a share it is the block's own permission (A33). */
export const accessUnder = (block: BlockPermission, share: BlockPermission | undefined, act: BlockAct): Access =>
  share === undefined ? accessOf(block, act) : weaker(accessOf(block, act), accessOf(share, act))

/** The name of the lesser permission, for a prompt to print. */
export const lesserPermission = (block: BlockPermission, share: BlockPermission | undefined): BlockPermission =>
  share === undefined || blockPermissions.indexOf(block) <= blockPermissions.indexOf(share) ? block : share
