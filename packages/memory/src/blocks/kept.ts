// Kept: blocks and versions as they come out of their rows.
// Owns reading them, who learns that there are any, and answering what was answered before. Leaves changing to
// `changing.ts`.

import { createHash } from "node:crypto"
import { type Json, parseJson, type TenantId } from "@reverie/protocol"
import * as Result from "effect/Result"
import { BlockRefused, BlockUnknown, BlockUnreadable, type ConsentNeeded } from "../errors.ts"
import { type BlockChange, type BlockRequest, type BlockViewer, isVisible, type KeptBlock } from "./block-store.ts"
import type { KeptVersion } from "./document/commit.ts"
import type { BlockLooks, BlockRows } from "./rows.ts"

export type ChangeFailure = BlockRefused | ConsentNeeded | BlockUnknown | BlockUnreadable

// What is kept was written by the keeper alone, so that being JSON vouches for its shape.
const parsed = (text: string, block: string): Result.Result<Json, BlockUnreadable> =>
  Result.mapError(parseJson(text), (message) => new BlockUnreadable({ block, message }))

export const readBlock = (text: string, name: string): Result.Result<KeptBlock, BlockUnreadable> =>
  Result.map(parsed(text, name), (value) => value as unknown as KeptBlock)

export const readVersion = (text: string, name: string): Result.Result<KeptVersion, BlockUnreadable> =>
  Result.map(parsed(text, name), (value) => value as unknown as KeptVersion)

/** A block that the viewer sees. */
export const found = (
  rows: BlockLooks,
  viewer: BlockViewer,
  id: string
): Result.Result<KeptBlock, BlockUnknown | BlockUnreadable> => {
  const text = rows.block(viewer.tenant, id)
  if (text === undefined) return Result.fail(new BlockUnknown({ block: id }))
  return Result.flatMap(readBlock(text, id), (block) =>
    isVisible(block, viewer) ? Result.succeed(block) : Result.fail(new BlockUnknown({ block: id }))
  )
}

export const refused = (
  { label }: Pick<KeptBlock, "label">,
  reason: BlockRefused["reason"],
  message: string
): BlockRefused => new BlockRefused({ block: label, reason, message: `block ${label}: ${message}` })

export const versionAt = (
  rows: BlockLooks,
  tenant: TenantId,
  block: KeptBlock,
  version: number
): Result.Result<KeptVersion, BlockRefused | BlockUnreadable> => {
  const missing = Result.fail(refused(block, "no-version", `it has no version ${version}`))
  if (!Number.isInteger(version) || version < 1 || version > block.version) return missing
  const [text] = rows.versions(tenant, block.id, version + 1, 1)
  if (text === undefined) return missing
  return Result.flatMap(readVersion(text, block.id), (kept) =>
    kept.version === version ? Result.succeed(kept) : missing
  )
}

/** Judges a request, unless it was answered before: then that is the answer (K3). */
export const once = (
  rows: BlockRows,
  request: BlockRequest,
  what: ReadonlyArray<unknown>,
  judge: () => Result.Result<BlockChange, ChangeFailure>
): Result.Result<BlockChange, ChangeFailure> => {
  const { by, isSystem = false, key, tenant } = request
  const print = createHash("sha256")
    .update(JSON.stringify([by, isSystem, ...what]))
    .digest("hex")
  const before = rows.answer(tenant, key)
  if (before !== undefined) {
    return Result.flatMap(parsed(before, key), (value) => {
      const kept = value as unknown as { readonly print: string; readonly change: BlockChange }
      if (kept.print === print) return Result.succeed(kept.change)
      const message = `the key ${JSON.stringify(key)} was used for another change`
      return Result.fail(new BlockRefused({ block: key, reason: "key-reused", message }))
    })
  }
  const judged = judge()
  if (Result.isSuccess(judged)) rows.putAnswer(tenant, key, JSON.stringify({ print, change: judged.success }))
  return judged
}
