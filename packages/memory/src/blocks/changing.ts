// Changing: from a request to the rows that keep what it did.
// Owns the order in which a change is judged: visible, allowed, carried out, within limits, kept. Leaves who sees a block
// to `kept.ts`, the version to `commit.ts`, settings to `settings.ts`.
// C1  Everything that can be refused is refused before the first row is written.

import * as Result from "effect/Result"
import { type BlockRefused, ConsentNeeded } from "../errors.ts"
import { accessTo, type BlockChange, type BlockRequest, type BlockSetting, type KeptBlock } from "./block-store.ts"
import { committed, put, putBlock, type Standing } from "./document/commit.ts"
import { type Author, type Loro, peerOf, type Place, type StructuredDocument } from "./document/document.ts"
import type { Documents } from "./document/documents.ts"
import { found, refused, versionAt } from "./kept.ts"
import { actOf, type BlockOperation } from "./operation.ts"
import type { BlockRows } from "./rows.ts"
import { configured } from "./settings.ts"

/** What a request is judged and kept with. */
export interface Bench {
  readonly loro: Loro
  readonly rows: BlockRows
  readonly documents: Documents
  readonly request: BlockRequest
  readonly onUndo: (undo: () => void) => void
}

const authorOf = (block: KeptBlock, request: BlockRequest): Author => {
  const { at, by, hasConsent = false, isSystem = false } = request
  return {
    by,
    at,
    isSystem,
    accessTo: (act) => {
      const access = accessTo(block, request, act)
      return hasConsent && access !== "refused" ? "allowed" : access
    }
  }
}

const unchanged = ({ id, version }: KeptBlock): BlockChange => ({ block: id, version, changed: false, dropped: 0 })

/** Keeps what a document was made to hold. */
export const keep = (
  { documents, onUndo, request, rows }: Bench,
  block: KeptBlock,
  document: StructuredDocument,
  from: Place,
  stands: Standing
): Result.Result<BlockChange, BlockRefused> =>
  Result.map(committed(block, document, from, request, stands), (ready) => {
    put(rows, request.tenant, ready)
    documents.keep(block.id, ready.block.version, document, block.remade)
    onUndo(() => documents.drop(block.id))
    return ready.change
  })

/** Changes what the author saw, and merges that with what came since (K5). */
const changedAsSeen = (
  { request, rows }: Bench,
  block: KeptBlock,
  document: StructuredDocument,
  operation: BlockOperation,
  seen: number
) =>
  Result.gen(function* () {
    const { place } = yield* versionAt(rows, request.tenant, block, seen)
    const then = document.at(place)
    then.writeAs(peerOf("change", block.id, request.key))
    const isChanged = yield* then.change(operation, authorOf(block, request))
    then.commit(request.by)
    document.merge(then.patchSince(place))
    then.free()
    return isChanged
  })

export const changed = (bench: Bench, id: string, operation: BlockOperation) =>
  Result.gen(function* () {
    const { documents, loro, request, rows } = bench
    const block = yield* found(rows, request, id)
    if (block.type === "log" && actOf(operation) !== "append") {
      return yield* Result.fail(refused(block, "append-only", "a log is only appended to"))
    }
    const document = yield* documents.take(loro, rows, request.tenant, block)
    const from = document.place
    const { seen = block.version } = request
    document.writeAs(peerOf("author", id, request.by))
    const isChanged =
      seen === block.version
        ? yield* document.change(operation, authorOf(block, request))
        : yield* changedAsSeen(bench, block, document, operation, seen)
    if (isChanged) return yield* keep(bench, block, document, from, { kind: "edit" })
    documents.keep(id, block.version, document, block.remade)
    return unchanged(block)
  })

/** The version to be shown again, and the change that is taken back or made again with it. */
const wayBack = ({ future, past, shows }: KeptBlock, kind: "undo" | "redo") =>
  kind === "undo" ? { restores: past.at(-1), edit: shows } : { restores: future.at(-1), edit: future.at(-1) ?? 0 }

const mayOverwrite = (block: KeptBlock, request: BlockRequest): Result.Result<void, BlockRefused | ConsentNeeded> => {
  const access = authorOf(block, request).accessTo("overwrite")
  if (access === "allowed") return Result.void
  return Result.fail(
    access === "refused"
      ? refused(block, "permission", "its permission does not allow to overwrite")
      : new ConsentNeeded({ block: block.label, from: access })
  )
}

export const restored = (bench: Bench, id: string, kind: "undo" | "redo") =>
  Result.gen(function* () {
    const { documents, loro, request, rows } = bench
    const block = yield* found(rows, request, id)
    const fail = (reason: BlockRefused["reason"], message: string) => Result.fail(refused(block, reason, message))
    if (block.type === "log") return yield* fail("append-only", "a log is only appended to")
    yield* mayOverwrite(block, request)
    const { edit, restores } = wayBack(block, kind)
    if (restores === undefined) return yield* fail("nothing-to-undo", `there is nothing to ${kind}`)
    const { isSystem } = yield* versionAt(rows, request.tenant, block, edit)
    if (isSystem && request.isSystem !== true) {
      return yield* fail("permission", "the system made that change, and alone takes it back or makes it again")
    }
    const { place } = yield* versionAt(rows, request.tenant, block, restores)
    const document = yield* documents.take(loro, rows, request.tenant, block)
    const from = document.place
    document.writeAs(peerOf("author", id, request.by))
    document.bringBack(place)
    return yield* keep(bench, block, document, from, { kind, restores })
  })

export const deleted = ({ documents, onUndo, request, rows }: Bench, id: string) =>
  Result.gen(function* () {
    const block = yield* found(rows, request, id)
    if (accessTo(block, request, "delete") !== "allowed") {
      return yield* Result.fail(refused(block, "permission", "its permission does not allow to delete it"))
    }
    rows.remove(request.tenant, id)
    documents.drop(id)
    onUndo(() => documents.drop(id))
    return { ...unchanged(block), changed: true }
  })

/** Whether a setting changes how what it holds is read. */
const isReadAnew = ({ set }: BlockSetting): boolean => set === "schema" || set === "viewport" || set === "charLimit"

/** The block as its new schema or limit shows it; items that are too many go, as a version of their own. */
const readAnew = (bench: Bench, before: KeptBlock, after: KeptBlock) =>
  Result.gen(function* () {
    const { documents, loro, request, rows } = bench
    const document = yield* documents.take(loro, rows, request.tenant, before)
    document.schema = after.schema
    const misfit = document.misfit()
    if (misfit !== undefined) return yield* Result.fail(refused(before, "schema", misfit))
    const from = document.place
    document.writeAs(peerOf("author", before.id, request.by))
    if (document.trim() > 0) return yield* keep(bench, after, document, from, { kind: "edit" })
    const { charLimit, id, remade, version } = after
    putBlock(rows, request.tenant, { ...after, text: document.render(charLimit), chars: document.chars })
    documents.keep(id, version, document, remade)
    return { ...unchanged(after), changed: true }
  })

export const settled = (bench: Bench, id: string, setting: BlockSetting) =>
  Result.gen(function* () {
    const { request, rows } = bench
    const before = yield* found(rows, request, id)
    const block = yield* configured(before, request, setting)
    if (block === before) return unchanged(block)
    const after = { ...block, updatedAt: request.at }
    if (isReadAnew(setting)) return yield* readAnew(bench, before, after)
    putBlock(rows, request.tenant, after)
    return { ...unchanged(after), changed: true }
  })
