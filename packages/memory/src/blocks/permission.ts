// Permission: who may do what with a memory block.
// Owns the kinds of blocks, the permissions, the matrix of both (F90) and what is left of a permission when a block is
// shared (A33). Leaves asking a person to whoever acts.
// P1  Reading is always allowed to whoever sees a block; deleting only under Admin.
// P2  What a share allows is never more than what the block itself allows, act by act.

export const blockTypes = ["core", "working", "archival", "log"] as const
/** core: always in the prompt. working: when pinned or referred to. archival: found by searching. log: only appended to. */
export type BlockType = (typeof blockTypes)[number]

/** As a prompt prints them (A31), the weakest first. */
export const blockPermissions = ["ReadOnly", "Partner", "Human", "Append", "ReadWrite", "Admin"] as const
export type BlockPermission = (typeof blockPermissions)[number]

export const blockActs = ["append", "overwrite", "delete"] as const
export type BlockAct = (typeof blockActs)[number]

/** Whom a consent is asked of: the assistant's partner, or any person. */
export type ConsentFrom = "partner" | "human"

/** Allowed, refused, or allowed once somebody has consented to it. */
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
