// Keeper: the store of blocks over any adapter's rows.
// Owns the reading of blocks, and putting each request into one transaction. Leaves judging it to `changing.ts`, the rows
// to an adapter. Its promises are those of the port.

import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type BlockViewer, isVisible, type KeptBlock, viewOf } from "./block.ts"
import type { BlockChange, BlockReading, BlockRequest, BlockStore, BlockVersion } from "./block-store.ts"
import { type Bench, changed, deleted, restored, settled } from "./changing.ts"
import type { KeptVersion } from "./commit.ts"
import { contentJson } from "./content.ts"
import { created } from "./creation.ts"
import { Documents } from "./documents.ts"
import { type ChangeFailure, found, once, readBlock, readVersion, versionAt } from "./kept.ts"
import { loadLoro } from "./loro.ts"
import type { BlockTransactions } from "./rows.ts"

type Service = BlockStore["Service"]

const DEFAULT_PAGE = 50

/** A viewer's own blocks first, then those of others, each in the order of their labels. */
const inOrder =
  ({ by }: BlockViewer) =>
  (one: KeptBlock, other: KeptBlock): number =>
    Number(other.owner === by) - Number(one.owner === by) ||
    compared(one.owner, other.owner) ||
    compared(one.label, other.label)

const compared = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

const toldVersion = ({ place: _, ...version }: KeptVersion): BlockVersion => version

const looking = (
  { look }: BlockTransactions,
  documents: Documents
): Pick<Service, "load" | "list" | "versions" | "read"> => ({
  load: (viewer, id) =>
    look("load", (rows) => {
      const text = rows.block(viewer.tenant, id)
      if (text === undefined) return Result.succeed(undefined)
      return Result.map(readBlock(text, id), (block) => (isVisible(block, viewer) ? viewOf(block, viewer) : undefined))
    }),
  list: (viewer, { owner, types } = {}) =>
    look("list", (rows) => {
      const texts = rows.blocks(viewer.tenant, viewer.isSystem === true ? undefined : viewer.by)
      return Result.map(Result.all(texts.map((text) => readBlock(text, "?"))), (blocks) =>
        blocks
          .filter((block) => isVisible(block, viewer))
          .filter((block) => owner === undefined || block.owner === owner)
          .filter(({ type }) => types === undefined || types.includes(type))
          .toSorted(inOrder(viewer))
          .map((block) => viewOf(block, viewer))
      )
    }),
  versions: (viewer, id, { before = Number.MAX_SAFE_INTEGER, limit = DEFAULT_PAGE } = {}) =>
    look("versions", (rows) =>
      Result.flatMap(found(rows, viewer, id), () =>
        Result.all(
          rows.versions(viewer.tenant, id, before, limit).map((text) => Result.map(readVersion(text, id), toldVersion))
        )
      )
    ),
  read: (viewer, id, version) =>
    Effect.flatMap(loadLoro, (loro) =>
      look("read", (rows) =>
        Result.gen(function* () {
          const block = yield* found(rows, viewer, id)
          const at = version === undefined ? undefined : yield* versionAt(rows, viewer.tenant, block, version)
          const document = yield* documents.take(loro, rows, viewer.tenant, block)
          const seen = at === undefined ? document : document.at(at.place)
          const reading: BlockReading = {
            version: at?.version ?? block.version,
            text: seen.render(block.charLimit),
            content: contentJson(seen.content())
          }
          if (seen !== document) seen.free()
          documents.keep(id, block.version, document)
          return reading
        })
      )
    )
})

const changingOver = (
  { write }: BlockTransactions,
  documents: Documents
): Pick<Service, "create" | "change" | "undo" | "redo" | "configure" | "delete"> => {
  const judged = (
    operation: string,
    request: BlockRequest,
    what: ReadonlyArray<unknown>,
    judge: (bench: Bench) => Result.Result<BlockChange, ChangeFailure>
  ) =>
    Effect.flatMap(loadLoro, (loro) =>
      write(operation, (rows, onUndo) =>
        once(rows, request, [operation, ...what], () => judge({ loro, rows, documents, request, onUndo }))
      )
    )
  return {
    create: (draft, request) => judged("create", request, [draft], (bench) => created(bench, draft)),
    change: (id, request, operation) =>
      judged("change", request, [id, operation], (bench) => changed(bench, id, operation)),
    undo: (id, request) => judged("undo", request, [id], (bench) => restored(bench, id, "undo")),
    redo: (id, request) => judged("redo", request, [id], (bench) => restored(bench, id, "redo")),
    configure: (id, request, setting) =>
      judged("configure", request, [id, setting], (bench) => settled(bench, id, setting)),
    delete: (id, request) => judged("delete", request, [id], (bench) => deleted(bench, id))
  }
}

/** The port over an adapter's transactions. `documents` is how many are kept in memory. */
export const keepBlocks = (transactions: BlockTransactions, options: { readonly documents?: number } = {}): Service => {
  const documents = new Documents(options.documents)
  return { ...looking(transactions, documents), ...changingOver(transactions, documents) }
}
