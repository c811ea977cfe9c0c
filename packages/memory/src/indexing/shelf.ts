// Shelf: the entries of one assistant in memory, for the time that its index does not answer.
// Owns what changes come to, and the search for words among few entries. Leaves ranking to `text/`.
// H1  After the same changes it holds what an index holds, and finds by the same words.

import type { AssistantId } from "@reverie/protocol"
import { fits } from "../asked.ts"
import type { MemoryEntry } from "../entry.ts"
import type { Hit, IndexChange, RecallQuery } from "../recall.ts"
import { candidateLimit, rank } from "../text/rank.ts"
import { type AttachedFact, fieldsOf, queryTerms } from "../text/terms.ts"
import { rarity, termWeights } from "../text/weights.ts"

interface Shelved {
  readonly entry: MemoryEntry
  readonly facts: ReadonlyMap<string, string>
}

export type Shelf = ReadonlyMap<string, Shelved>

const NO_FACTS: ReadonlyMap<string, string> = new Map()

/** What is there after the changes, in their order. */
export const shelve = (changes: ReadonlyArray<IndexChange>, before: Shelf = new Map()): Shelf => {
  const shelf = new Map(before)
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

/** An entry that is told anew is another object, and weighed anew. */
const knownWeights = new WeakMap<Shelved, ReadonlyMap<string, number>>()

const weightsOf = (shelved: Shelved): ReadonlyMap<string, number> => {
  const known = knownWeights.get(shelved)
  if (known !== undefined) return known
  const weights = termWeights(fieldsOf(shelved.entry, attached(shelved.facts)))
  knownWeights.set(shelved, weights)
  return weights
}

/** Weighs what is on a shelf, so many at a time: the first search would weigh all of it in one piece. */
export const weighed = function* (shelf: Shelf, some: number): Generator<void> {
  let weighedNow = 0
  for (const shelved of shelf.values()) {
    if (knownWeights.has(shelved)) continue
    weightsOf(shelved)
    if (++weighedNow % some === 0) yield
  }
}

/** The best of what is on the shelf, by its words. */
export const searchShelf = (shelf: Shelf, owner: AssistantId, query: RecallQuery): ReadonlyArray<Hit> => {
  const terms = queryTerms(query.text).map(({ term }) => term)
  const all = [...shelf.values()].map((shelved) => ({ ...shelved, weights: weightsOf(shelved) }))
  const rarities = new Map(
    terms.map((term) => [term, rarity(all.length, all.filter(({ weights }) => weights.has(term)).length)])
  )
  const scored = all.flatMap(({ entry, facts, weights }) => {
    const lexical = terms.reduce((sum, term) => sum + (rarities.get(term) ?? 0) * (weights.get(term) ?? 0), 0)
    return lexical > 0 && fits(entry, query) ? [{ owner, entry, facts, lexical }] : []
  })
  const candidates = scored
    .toSorted((a, b) => b.lexical - a.lexical)
    .slice(0, candidateLimit(query.limit))
    .map((candidate) => ({ ...candidate, facts: attached(candidate.facts) }))
  return rank(candidates, { ...query, search: "fts" })
}
