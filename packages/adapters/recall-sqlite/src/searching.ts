// Searching: from a question to hits.
// Owns which entries are candidates. Leaves their order to the text module, which orders them in every index alike.
// S1  Whatever the words and the vectors say, an entry is a candidate only if the viewer may read it: its owner and its
//     readers are looked at again, in its row.
// S2  Conditions are applied before anything is cut off.

import {
  type Candidate,
  candidateLimit,
  fits,
  type Hit,
  mayRead,
  queryTerms,
  rank,
  rarity,
  type RecallQuery,
  searchKindOf
} from "@reverie/memory"
import type { Address } from "@reverie/protocol"
import type { Entries, FoundEntry } from "./entries.ts"
import type { Group, Groups } from "./groups.ts"
import type { Matrices } from "./matrices.ts"
import type { Models } from "./models.ts"
import type { Postings } from "./postings.ts"

export interface Sources {
  readonly entries: Entries
  readonly groups: Groups
  readonly matrices: Matrices
  readonly models: Models
  readonly postings: Postings
}

type Scores = ReadonlyMap<number, number>

/** What the words of a question give each entry that has one of them. */
const byWords = ({ postings }: Sources, readable: ReadonlyArray<Group>, text: string): Scores => {
  // An entry that two of the groups may read counts twice here, which is of no weight.
  const count = readable.reduce((sum, { entries }) => sum + entries, 0)
  const scores = new Map<number, number>()
  for (const { term } of queryTerms(text)) {
    const having = new Map(readable.flatMap(({ key }) => postings(key, term)))
    const rare = rarity(count, Math.min(having.size, count))
    for (const [entry, weight] of having) scores.set(entry, (scores.get(entry) ?? 0) + rare * weight)
  }
  return scores
}

/** The best of those that the viewer may read and that fulfil every condition. */
const best = ({ entries }: Sources, scores: Scores, viewer: Address, query: RecallQuery) => {
  const chosen = new Map<number, readonly [FoundEntry, number]>()
  const limit = candidateLimit(query.limit)
  for (const [key, score] of [...scores].toSorted(([, a], [, b]) => b - a)) {
    const found = entries.get(key)
    if (found === undefined || !mayRead(viewer, found.owner, found.entry, query.scope)) continue
    if (!fits(found.entry, query)) continue
    chosen.set(key, [found, score])
    if (chosen.size === limit) break
  }
  return chosen
}

/** The question as it can be asked: a vector counts only when it is of the current model. */
const answerable = ({ models }: Sources, query: RecallQuery) => {
  const { vector = [], ...words } = query
  const model = query.search === "fts" || vector.length === 0 ? undefined : models.current()
  return model?.dimensions === vector.length ? { model, query, vector } : { model: undefined, query: words, vector: [] }
}

export const search = (sources: Sources, viewer: Address, wanted: RecallQuery): ReadonlyArray<Hit> => {
  const { model, query, vector } = answerable(sources, wanted)
  const readable = sources.groups.readableBy(viewer, query.scope)
  const keys = readable.map(({ key }) => key)
  const words: Scores = searchKindOf(query) === "vector" ? new Map() : byWords(sources, readable, query.text)
  const meaning: Scores = model === undefined ? new Map() : sources.matrices.nearness(model.key, keys, vector)
  const lexical = best(sources, words, viewer, query)
  const near = best(sources, meaning, viewer, query)
  const candidates = [...new Map([...near, ...lexical])].map(([key, [{ entry, facts, owner }]]): Candidate => {
    const [said, meant] = [lexical.get(key)?.[1], near.get(key)?.[1]]
    return {
      owner: owner.assistant,
      entry,
      facts,
      ...(said === undefined ? {} : { lexical: said }),
      ...(meant === undefined ? {} : { vector: meant })
    }
  })
  return rank(candidates, query)
}
