// Owners: whose memories are among the hits, besides those of the viewer.
// Owns that their indexes are held against their ledgers, too, before anything of them is shown: the viewer's own is when
// it is brought up to date. Leaves emptying an index, and making it again, to indexer.ts.
// O1  What an owner never said in this life is shown to nobody else either, not even where the owner is gone.

import { type Hit, Recall } from "@reverie/memory"
import { type Address, addressKey } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { indexBlocks } from "./block-index.ts"
import { stateOf } from "./index-state.ts"
import { catchUp, standingOf } from "./indexer.ts"

/** Entries of somebody else that a viewer waits for. */
const WAITED_ENTRIES = 256

const ownersIn = (viewer: Address, hits: ReadonlyArray<Hit>): ReadonlyArray<Address> =>
  [...new Set(hits.map(({ owner }) => owner))]
    .filter((assistant) => assistant !== viewer.assistant)
    .map((assistant) => ({ tenant: viewer.tenant, assistant }))

/** True when the index of an owner has changed for it. */
const judged = Effect.fnUntraced(function* (recall: Recall["Service"], owner: Address) {
  const state = stateOf(recall)
  const before = yield* recall.position(owner)
  if (state.isBelieved(owner, before, yield* Clock.currentTimeMillis)) return false
  const position = yield* standingOf(owner)
  const isEmptied = position.no === 0 && before.no > 0
  const caught = isEmptied ? yield* catchUp(owner, { maxEntries: WAITED_ENTRIES }) : { position }
  const isTold = !state.knowsBlocks(owner)
  if (isTold) yield* indexBlocks(owner, caught.position)
  state.believe(owner, caught.position, yield* Clock.currentTimeMillis)
  return isEmptied || isTold
})

/** The hits of a search, every one of them of this life. */
export const ofThisLife = Effect.fnUntraced(function* <E, R>(
  viewer: Address,
  search: Effect.Effect<ReadonlyArray<Hit>, E, R>
) {
  const recall = yield* Recall
  const known = new Set<string>()
  while (true) {
    const hits = yield* search
    let isAgain = false
    for (const owner of ownersIn(viewer, hits)) {
      if (known.has(addressKey(owner))) continue
      known.add(addressKey(owner))
      isAgain = (yield* judged(recall, owner)) || isAgain
    }
    if (!isAgain) return hits
  }
})
