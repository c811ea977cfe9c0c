// BlockCommit: one change of what a block holds, from an uncommitted document to the rows that keep it.
// Owns the number, the place and the bytes of a version, the limits, and when a snapshot is taken. Leaves deciding what is
// changed to `keeper.ts`.
// V1  A version is kept as what it added: together they are the document, whatever snapshot there is.
// V2  A snapshot is taken when what came since weighs more than it, so that writing one costs each change a constant.
// V3  A block that is beyond its limit may still shrink.

import { defined, type TenantId } from "@reverie/protocol"
import * as Result from "effect/Result"
import { BlockRefused } from "../../errors.ts"
import type { BlockChange, BlockRequest, BlockVersion, KeptBlock } from "../block-store.ts"
import type { Place, StructuredDocument } from "./document.ts"
import type { BlockWrites } from "../rows.ts"

/** As it is kept. */
export interface KeptVersion extends BlockVersion {
  readonly place: Place
}

/** No snapshot before so much has come together. */
const LEAST_SNAPSHOT_BYTES = 8_192

/** Most changes that can be undone. */
const MAX_UNDO = 100

/** How a version stands to those before it. */
export type Standing =
  | { readonly kind: "edit" }
  | { readonly kind: "undo"; readonly restores: number }
  | { readonly kind: "redo"; readonly restores: number }

const standing = (
  { future, past, shows }: KeptBlock,
  version: number,
  { kind, ...rest }: Standing
): Pick<KeptBlock, "past" | "future" | "shows"> => {
  const restores = "restores" in rest ? rest.restores : version
  switch (kind) {
    case "edit":
      return { past: shows === 0 ? [] : [...past, shows].slice(-MAX_UNDO), future: [], shows: version }
    case "undo":
      return { past: past.slice(0, -1), future: [...future, shows], shows: restores }
    case "redo":
      return { past: [...past, shows].slice(-MAX_UNDO), future: future.slice(0, -1), shows: restores }
  }
}

export interface Ready {
  readonly block: KeptBlock
  readonly change: BlockChange
  readonly body: KeptVersion
  readonly patch: Uint8Array
  readonly snapshot?: Uint8Array
}

/** Commits the document. Fails when it has become too long; then the document is to be thrown away. */
export const committed = (
  before: KeptBlock,
  document: StructuredDocument,
  from: Place,
  request: BlockRequest,
  stands: Standing
): Result.Result<Ready, BlockRefused> => {
  const dropped = document.trim()
  document.commit(request.by)
  const { charLimit, id, label } = before
  const { chars } = document
  if (chars > charLimit && chars > before.chars) {
    const message = `block ${label}: it would have ${chars} characters, its limit is ${charLimit}`
    return Result.fail(new BlockRefused({ block: label, reason: "full", message }))
  }
  const patch = document.patchSince(from)
  const version = before.version + 1
  const since = before.snapshot.since + patch.length
  const whole = since > Math.max(LEAST_SNAPSHOT_BYTES, before.snapshot.bytes) ? document.snapshot() : undefined
  const { place } = document
  const restores = stands.kind === "edit" ? {} : { restores: stands.restores }
  const { at, by, isSystem = false, message } = request
  return Result.succeed({
    block: {
      ...before,
      place,
      ...standing(before, version, stands),
      version,
      updatedAt: at,
      text: document.render(charLimit),
      chars,
      snapshot: whole === undefined ? { ...before.snapshot, since } : { version, bytes: whole.length, since: 0 }
    },
    change: { block: id, version, changed: true, dropped, ...restores },
    body: {
      version,
      at,
      by,
      isSystem,
      ...defined({ message }),
      ...restores,
      place
    },
    patch,
    ...defined({ snapshot: whole })
  })
}

export const putBlock = (rows: BlockWrites, tenant: TenantId, block: KeptBlock): void => {
  const { id, label, owner, shares } = block
  const readers = shares.map((share) => share.with)
  rows.putBlock(tenant, { id, owner, label, readers, body: JSON.stringify(block) })
}

/** Writes what is ready. */
export const put = (rows: BlockWrites, tenant: TenantId, { block, body, patch, snapshot }: Ready): void => {
  putBlock(rows, tenant, block)
  rows.putVersion(tenant, block.id, body.version, JSON.stringify(body), patch)
  if (snapshot !== undefined) rows.putSnapshot(tenant, block.id, snapshot)
}
