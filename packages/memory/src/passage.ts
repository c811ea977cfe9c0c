// Passage: a text that an assistant put away to be searched for, its archival memory.
// Owns its shape as it is kept, and how it stands in an index. Leaves putting it away to a tool.
// P1  A passage that is no passage is not indexed, and what stood under its key leaves the index.
// P2  Its own tags and readers go with it; nobody else may read it unless it says so.

import { type RecordChange, defined } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import { entryId } from "./entry.ts"
import { Origin } from "./fact.ts"
import type { IndexChange } from "./recall.ts"

/** Longest text of a passage, in UTF-16 units. */
export const MAX_PASSAGE_CHARS = 8_000

/** As it is kept, under its id, as a record of the kind `passage`. */
export const Passage = Schema.Struct({
  id: Schema.String,
  text: Schema.String,
  /** When it was put away, in milliseconds since the epoch. */
  at: Schema.Finite,
  tags: Schema.Array(Schema.String),
  /** Besides its owner: nobody, or every assistant of the tenant. */
  readers: Schema.Literals(["owner", "fleet"]),
  origin: Origin,
  trust: Schema.Finite,
  importance: Schema.Finite
})
export type Passage = typeof Passage.Type

export const isPassage = Schema.is(Passage)

/** What a changed passage means for an index. */
export const passageChanges = ({ key, value }: RecordChange): ReadonlyArray<IndexChange> => {
  const id = entryId("passage", key)
  if (!isPassage(value)) return [{ type: "remove", id }]
  const passage: Passage = value
  const { at, importance, origin, readers, tags, text, trust } = passage
  return [
    {
      type: "put",
      entry: {
        id,
        kind: "passage",
        at,
        text,
        ...defined({ speaker: origin.type === "self" ? undefined : origin.name }),
        entities: [],
        tags,
        trust,
        importance,
        readers
      }
    }
  ]
}
