// Indexed: blocks as an index finds them again.
// Owns what of a block is searched, and by whom. Leaves applying it to the indexer.
// X1  A core block is in no index: it is in every prompt of its owner already.
// X2  Whoever a block is shared with finds it, and nobody else.

import type { AssistantId } from "@reverie/protocol"
import { entryId, type Readers } from "../entry.ts"
import type { IndexChange } from "../recall.ts"
import { type BlockView, EVERYBODY } from "./block.ts"

/** What an assistant keeps on purpose is believed as far as the assistant itself. */
const TRUST = 0.6
const IMPORTANCE = 5

const readersOf = ({ shares }: BlockView): Readers => {
  if (shares.some((share) => share.with === EVERYBODY)) return "fleet"
  return shares.length === 0 ? "owner" : shares.map((share) => share.with as AssistantId)
}

/**
 * What an index has to be told of a block as its owner or the system sees it. `text` is all that it holds
 * (`BlockStore.read(...).content`), or the text it is shown with; null when the block is gone.
 */
export const blockChanges = (block: BlockView, text: string | null): ReadonlyArray<IndexChange> => {
  const id = entryId("block", block.id)
  if (text === null || text === "" || block.type === "core") return [{ type: "remove", id }]
  const { description, label, type, updatedAt } = block
  return [
    {
      type: "put",
      entry: {
        id,
        kind: "block",
        at: updatedAt,
        text,
        context: description === "" ? label : `${label}: ${description}`,
        entities: [],
        tags: [type, label],
        trust: TRUST,
        importance: IMPORTANCE,
        readers: readersOf(block)
      }
    }
  ]
}
