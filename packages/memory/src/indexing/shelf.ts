// Shelf: the entries of one assistant in memory, for the time that its index does not answer.
// Owns what changes come to, and the search for words among few entries. Leaves ranking to `text/`.
// H1  After the same changes it holds what an index holds, and finds by the same words.

import type { AssistantId } from "@reverie/protocol"
import { fits } from "../asked.ts"
import type { MemoryEntry } from "../entry.ts"
import type { Hit, IndexChange, RecallQuery } from "../recall.ts"
import { rank } from "../text/rank.ts"
import { type AttachedFact, fieldsOf, queryTerms } from "../text/terms.ts"
import { rarity, termWeights } from "../text/weights.ts"

interface Shelved {
  readonly entry: MemoryEntry
  readonly facts: ReadonlyMap<string, string>
}

export type Shelf = ReadonlyMap<string, Shelved>

const NO_FACTS: ReadonlyMap<string, string> = new Map()

/** What is there after the changes, in their order. */
export const shelve = (changes: ReadonlyArray<IndexChange>): Shelf => {
  const shelf = new Map<string, Shelved>()
  for (const change of changes) {
    if (change.type === "put") {
      const { entry } = change
      shelf.set(entry.id, { entry, facts: shelf.get(entry.id)?.facts ?? NO_FACTS })
    } else if (change.type === "remove") shelf.delete(change.id)
    else {
      const told = shelf.get(change.of)
      if (told === undefined) continue
      const facts = new Map(told.facts)
      if (change.text === null) facts.delete(change.fact)
      else facts.set(change.fact, change.text)
      shelf.set(change.of, { ...told, facts })
    }
  }
  return shelf
}

const attached = (facts: ReadonlyMap<string, string>): ReadonlyArray<AttachedFact> =>
  [...facts].map(([id, text]) => ({ id, text }))

/** The best of what is on the shelf, by its words. */
export const searchShelf = (shelf: Shelf, owner: AssistantId, query: RecallQuery): ReadonlyArray<Hit> => {
  const terms = queryTerms(query.text).map(({ term }) => term)
  const weighed = [...shelf.values()].map(({ entry, facts }) => {
    const told = attached(facts)
    return { entry, facts: told, weights: termWeights(fieldsOf(entry, told)) }
  })
  const rarities = new Map(
    terms.map((term) => [term, rarity(weighed.length, weighed.filter(({ weights }) => weights.has(term)).length)])
  )
  const candidates = weighed.flatMap(({ entry, facts, weights }) => {
    const lexical = terms.reduce((sum, term) => sum + (rarities.get(term) ?? 0) * (weights.get(term) ?? 0), 0)
    return lexical > 0 && fits(entry, query) ? [{ owner, entry, facts, lexical }] : []
  })
  return rank(candidates, { ...query, search: "fts" })
}
