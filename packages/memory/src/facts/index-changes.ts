// IndexChanges: what a fact means for the index in which it is recalled.
// Owns a fact's entry, and which entries its words are attached to. Leaves applying the changes to the index.
// X1  A fact that holds is found by itself and by each of its sources; any other is found by neither.
// X2  Made from what a fact is now alone, the changes are enough: sources are never taken from a fact (O1 of a fact). With what it
//     was before, they are the fewest; links and marks change nothing.
// X3  A fact is its owner's alone.

import type { RecordChange } from "@reverie/protocol"
import { entryId, type MemoryEntry } from "../entry.ts"
import { type Fact, isFact } from "../fact.ts"
import type { IndexChange } from "../recall.ts"

const entryOf = ({ at, entities, id, importance, origin, text, trust }: Fact): MemoryEntry => ({
  id: entryId("fact", id),
  kind: "fact",
  at,
  text,
  ...(origin.name === "" ? {} : { speaker: origin.name }),
  entities,
  tags: [],
  trust,
  importance,
  readers: "owner"
})

const attached = (fact: Fact): ReadonlyMap<string, string | null> =>
  new Map(fact.sources.map((source) => [source, fact.state === "active" ? fact.text : null]))

const isSameEntry = (a: Fact, b: Fact): boolean =>
  a.state === b.state && JSON.stringify(entryOf(a)) === JSON.stringify(entryOf(b))

/** What a changed fact means for an index; without the fact as it was, everything about it is said anew. */
export const factChanges = (before: Fact | undefined, after: Fact): ReadonlyArray<IndexChange> => {
  const was = before === undefined ? new Map<string, string | null>() : attached(before)
  const is = attached(after)
  const entry: ReadonlyArray<IndexChange> =
    before !== undefined && isSameEntry(before, after)
      ? []
      : [
          after.state === "active"
            ? { type: "put", entry: entryOf(after) }
            : { type: "remove", id: entryId("fact", after.id) }
        ]
  const gone = [...was.keys()].filter((source) => !is.has(source)).map((source) => [source, null] as const)
  const texts = [...gone, ...[...is].filter(([source, text]) => was.get(source) !== text)]
  return [...entry, ...texts.map(([of, text]): IndexChange => ({ type: "fact", of, fact: after.id, text }))]
}

/** What a changed record of the kind `fact` means for an index. */
export const factRecordChanges = ({ key, value }: RecordChange): ReadonlyArray<IndexChange> =>
  isFact(value) ? factChanges(undefined, value) : [{ type: "remove", id: entryId("fact", key) }]
