// BlockIndex: an assistant's memory blocks in the index, where blocks are kept.
// Owns noticing which have changed, and leaving out what may not be read any more. Leaves what of a block is indexed to
// `memory`, and the blocks to their store.
// B1  A block is found as it was when the index was last brought up to date.
// B2  A block that is gone, or is not shared any more, is in no answer, whatever the index says.

import {
  blockChanges,
  BlockStore,
  cleanText,
  type BlockView,
  type Hit,
  type IndexPosition,
  keyOfId,
  Recall,
  samePosition
} from "@reverie/memory"
import type { Address, Json } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { stateOf } from "./index-state.ts"

/** Of each block, in UTF-16 units. */
const MAX_TEXT_CHARS = 8_000

/** Every text that a value holds, one a line. */
const textOf = (content: Json): string => {
  if (typeof content === "string") return content
  if (typeof content !== "object" || content === null) return String(content)
  return Object.values(content).map(textOf).join("\n")
}

/** Whatever of a block the index is told, in short. */
const meaningOf = ({ description, label, shares, type, updatedAt, version }: BlockView): string =>
  JSON.stringify([version, updatedAt, type, label, description, shares])

const blocksIndexed = Effect.fnUntraced(function* (address: Address, position: IndexPosition) {
  const found = yield* Effect.serviceOption(BlockStore)
  if (Option.isNone(found)) return
  const recall = yield* Recall
  const store = found.value
  const viewer = { tenant: address.tenant, by: address.assistant, isSystem: true }
  const blocks = yield* store.list(viewer, { owner: address.assistant })
  const state = stateOf(recall)
  const told = state.blocksOf(address)
  const now = new Map(blocks.map((block) => [block.id, meaningOf(block)]))
  const changed = blocks.filter((block) => told.get(block.id) !== now.get(block.id))
  const gone = [...told.keys()].filter((id) => !now.has(id))
  if (changed.length === 0 && gone.length === 0) return state.keepBlocks(address, now)
  const puts = yield* Effect.forEach(changed, (block) =>
    block.type === "core"
      ? Effect.succeed(blockChanges(block, null))
      : Effect.map(store.read(viewer, block.id), ({ content }) =>
          blockChanges(block, cleanText(textOf(content).slice(0, MAX_TEXT_CHARS)))
        )
  )
  const bundles = gone.map((id) => ({ type: "remove", id: `b/${id}` }) as const)
  const span = { from: position, to: position }
  // Somebody else may have moved the index on meanwhile: then blocks are told the next time.
  if (samePosition(yield* recall.apply(address, [...puts.flat(), ...bundles], span), position)) {
    state.keepBlocks(address, now)
  }
})

/** Tells the index of the blocks that have changed since it was last told. Blocks that can not be read wait. */
export const indexBlocks = (address: Address, position: IndexPosition) =>
  blocksIndexed(address, position).pipe(
    Effect.catchTag(["BlockUnknown", "BlockUnreadable", "BlockRefused", "BlockStoreUnavailable"], (failure) =>
      Effect.logDebug(`blocks could not be indexed: ${failure.message}`)
    )
  )

/** The hits without blocks that the viewer may not read any more. */
export const withoutGoneBlocks = Effect.fnUntraced(function* (viewer: Address, hits: ReadonlyArray<Hit>) {
  if (!hits.some(({ entry }) => entry.kind === "block")) return hits
  const found = yield* Effect.serviceOption(BlockStore)
  if (Option.isNone(found)) return hits
  const isThere = ({ entry }: Hit) =>
    entry.kind !== "block"
      ? Effect.succeed(true)
      : found.value.load({ tenant: viewer.tenant, by: viewer.assistant }, keyOfId(entry.id) ?? "").pipe(
          Effect.map((block) => block !== undefined),
          // What can not be looked up is shown to nobody.
          Effect.catch(() => Effect.succeed(false))
        )
  return yield* Effect.filter(hits, isThere)
})
