// Searching: from a question to hits.
// Owns which entries are candidates. Leaves their order to the text module, which orders them in every index alike.
// S1  Whatever the words and the vectors say, an entry is a candidate only if the viewer may read it: its owner and its
//     readers are looked at again, in its row.
// S2  Conditions are applied before anything is cut off.

import {
  type Candidate,
  candidateLimit,
  demandsOf,
  fits,
  type Hit,
  kindsOf,
  latestOf,
  mayRead,
  memoryKinds,
  queryTerms,
  rank,
  type RecallQuery,
  searchKindOf,
  termKey
} from "@reverie/memory"
import { type Address, defined } from "@reverie/protocol"
import type { Entries, Group, Groups, Models } from "../entries/entries.ts"
import type { Matrices } from "./matrices.ts"
import { Top } from "./top.ts"
import { type Scored, WordSearch } from "../words/word-search.ts"
import type { Words } from "../words/words.ts"
import type { FoundEntry } from "../entries/row.ts"

export interface Sources {
  readonly entries: Entries
  readonly groups: Groups
  readonly matrices: Matrices
  readonly models: Models
  readonly words: Words
}

/** Some of the best, and whether these are all. */
type Best = (most: number) => { readonly found: ReadonlyArray<Scored>; readonly isAll: boolean }

/** Besides those that are wanted: some may have been told anew since, or may not be read. */
const SPARE = 64
const MORE = 4

const nothing: Best = () => ({ found: [], isAll: true })

const byWords = ({ words }: Sources, readable: ReadonlyArray<Group>, query: RecallQuery): Best => {
  const keys = queryTerms(query.text).map(({ term }) => termKey(term))
  if (keys.length === 0) return nothing
  const { minTrust = -Infinity, since = -Infinity } = query
  const wanted = new Set(kindsOf(query))
  const latest = Float64Array.from(memoryKinds, (kind) => (wanted.has(kind) ? latestOf(kind, query) : -Infinity))
  const search = new WordSearch(words, readable, { keys, demands: demandsOf(query), latest, since, minTrust })
  return (most) => search.best(most)
}

const byMeaning =
  (nearness: ReadonlyMap<number, number>): Best =>
  (most) => {
    const top = new Top<Scored>(most, (a, b) => b.score - a.score)
    for (const [row, score] of nearness) top.offer({ row, doc: undefined, score })
    return { found: top.sorted(), isAll: !top.isFull }
  }

/** The best of those that the viewer may read and that fulfil every condition, by the keys of their rows. */
const chosen = ({ entries, groups }: Sources, best: Best, viewer: Address, query: RecallQuery) => {
  const limit = candidateLimit(query.limit)
  const owners = new Map<number, Address | undefined>()
  const ownerOf = (group: number): Address | undefined => {
    if (!owners.has(group)) owners.set(group, groups.owner(group))
    return owners.get(group)
  }
  for (let most = limit + SPARE; ; most *= MORE) {
    const { found, isAll } = best(most)
    const kept = new Map<number, readonly [FoundEntry, number]>()
    for (const { doc, row, score } of found) {
      const entry = entries.get(row, doc, ownerOf)
      if (entry === undefined || !mayRead(viewer, entry.owner, entry.entry, query.scope)) continue
      if (!fits(entry.entry, query)) continue
      kept.set(entry.key, [entry, score])
      if (kept.size === limit) break
    }
    if (kept.size === limit || isAll) return kept
  }
}

/** The question as it can be asked: a vector counts only when it is of the current model. */
const answerable = ({ models }: Sources, query: RecallQuery) => {
  const { vector = [], ...words } = query
  const model = query.search === "fts" || vector.length === 0 ? undefined : models.current()
  return model?.dimensions === vector.length ? { model, query, vector } : { model: undefined, query: words, vector: [] }
}

export const search = (sources: Sources, viewer: Address, wanted: RecallQuery): ReadonlyArray<Hit> => {
  const { model, query, vector } = answerable(sources, wanted)
  const { groups, matrices } = sources
  const readable = groups.readableBy(viewer, query.scope)
  const keys = readable.map(({ key }) => key)
  const words = searchKindOf(query) === "vector" ? nothing : byWords(sources, readable, query)
  const nearness = model === undefined ? undefined : matrices.nearness(model.key, keys, vector)
  const lexical = chosen(sources, words, viewer, query)
  const near = chosen(sources, nearness === undefined ? nothing : byMeaning(nearness), viewer, query)
  const candidates = [...new Map([...near, ...lexical])].map(([key, [{ entry, facts, owner }]]): Candidate => ({
    owner: owner.assistant,
    entry,
    facts,
    ...defined({ lexical: lexical.get(key)?.[1], vector: nearness?.get(key) })
  }))
  return rank(candidates, query)
}
