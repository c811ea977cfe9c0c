// Episodes: how a journal entry stands in an index.
// Owns reading it. Leaves what a journal entry is, and how long it is kept, to whoever keeps the journal.
// E1  An entry that left the journal leaves the index.

import type { RecordChange } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import { cleanText } from "../integrity/clean-text.ts"
import { entryId } from "../entry.ts"
import type { IndexChange } from "../recall.ts"

/** As much of a journal entry as an index needs. */
const Episode = Schema.Struct({
  timestamp: Schema.String,
  content: Schema.String,
  source_trust: Schema.Finite,
  source_entity: Schema.NullOr(Schema.String),
  importance: Schema.Finite,
  tags: Schema.Array(Schema.String),
  related_projects: Schema.Array(Schema.String)
})

const isEpisode = Schema.is(Episode)

export const episodeChanges = ({ key, value }: RecordChange): ReadonlyArray<IndexChange> => {
  const id = entryId("episode", key)
  const at = isEpisode(value) ? Date.parse(value.timestamp) : Number.NaN
  if (!isEpisode(value) || Number.isNaN(at)) return [{ type: "remove", id }]
  const { content, importance, related_projects, source_entity, source_trust, tags } = value
  return [
    {
      type: "put",
      entry: {
        id,
        kind: "episode",
        at,
        text: cleanText(content),
        entities: source_entity === null ? [] : [source_entity],
        tags: [...new Set([...tags, ...related_projects])],
        trust: source_trust,
        importance,
        readers: "owner"
      }
    }
  ]
}
