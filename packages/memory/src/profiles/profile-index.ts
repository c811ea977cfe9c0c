// ProfileIndex: how a profile stands in the index of recall, apart from episodes.
// Owns its entries and their ids. Leaves applying them to the index.
// X1  An attribute is one entry, `e/<entity>/<attribute>`; what is not digested yet is one more, `e/<entity>/new`.
// X2  The changes of a profile bring the index from what was before to what is; without what was before, from anything
//     that the last profiles of this entity left there.

import type { RecordChange } from "@reverie/protocol"
import { entryId, keyOfId, type MemoryEntry } from "../entry.ts"
import type { IndexChange } from "../recall.ts"
import { type EntityProfile, isEntityProfile } from "./profile.ts"

/** Of the entry that holds what is not digested yet. */
const NEW = "new"

const MAX_NEW_SHOWN = 10

/** Above a message: it was made of several, and thought about. */
const IMPORTANCE = 6

const idOf = (entity: string, part: string): string => entryId("profile", `${entity}/${part}`)

/** The entity that an id of an index entry is of; undefined when it is of none. */
export const entityOfId = (id: string): string | undefined =>
  id.startsWith("e/") ? keyOfId(id)?.split("/")[0] : undefined

const entriesOf = (profile: EntityProfile): ReadonlyMap<string, MemoryEntry> => {
  const { aliases, attributes, id: entity, name, observations, type } = profile
  const common = {
    kind: "profile",
    entities: [name, ...aliases],
    tags: type === "unknown" ? [] : [type],
    importance: IMPORTANCE,
    readers: "owner"
  } as const
  const entries = attributes.map(({ at, id, text, trust }): MemoryEntry => ({
    ...common,
    id: idOf(entity, id),
    at,
    text,
    trust
  }))
  const news = observations
    .filter(({ digested }) => !digested)
    .toSorted((a, b) => a.at - b.at)
    .slice(-MAX_NEW_SHOWN)
  const last = news.at(-1)
  if (last !== undefined) {
    entries.push({
      ...common,
      id: idOf(entity, NEW),
      at: last.at,
      text: news.map(({ text }) => text).join("\n"),
      trust: Math.min(...news.map(({ trust }) => trust))
    })
  }
  return new Map(entries.map((entry) => [entry.id, entry]))
}

/** What a changed profile means for an index. Without `before`, everything is told that could have to be. */
export const profileChanges = (before: EntityProfile | undefined, after: EntityProfile): ReadonlyArray<IndexChange> => {
  const entries = entriesOf(after)
  const known = before === undefined ? undefined : entriesOf(before)
  const stale = known?.keys() ?? [...after.gone, NEW].map((part) => idOf(after.id, part))
  return [
    ...[...stale].filter((id) => !entries.has(id)).map((id): IndexChange => ({ type: "remove", id })),
    ...[...entries.values()]
      .filter((entry) => JSON.stringify(known?.get(entry.id)) !== JSON.stringify(entry))
      .map((entry): IndexChange => ({ type: "put", entry }))
  ]
}

/** What a changed record of the kind `entity` means for an index; what is no profile means nothing. */
export const entityChanges = ({ value }: Pick<RecordChange, "value">): ReadonlyArray<IndexChange> =>
  isEntityProfile(value) ? profileChanges(undefined, value) : []
