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

/** The weights of an entry by their terms, and marks that tell of most terms that it does not have them. */
interface Known {
  readonly weights: ReadonlyMap<string, number>
  readonly marks: Uint32Array
}

/** Several times as many as an entry has terms. */
const MARKS = 256
const MARKS_A_WORD = 32

const markOf = (term: string): number => {
  let mark = 0
  for (let at = 0; at < term.length; at++) mark = (Math.imul(mark, 31) + term.charCodeAt(at)) | 0
  return mark & (MARKS - 1)
}

const isMarked = (marks: Uint32Array, mark: number): boolean =>
  ((marks[mark >> 5] ?? 0) & (1 << (mark & (MARKS_A_WORD - 1)))) !== 0

const knownOf = (weights: ReadonlyMap<string, number>): Known => {
  const marks = new Uint32Array(MARKS / MARKS_A_WORD)
  for (const term of weights.keys()) {
    const mark = markOf(term)
    marks[mark >> 5] = (marks[mark >> 5] ?? 0) | (1 << (mark & (MARKS_A_WORD - 1)))
  }
  return { weights, marks }
}

/** An entry that is told anew is another object, and weighed anew. */
const knownWeights = new WeakMap<Shelved, Known>()

const weightsOf = (shelved: Shelved): Known => {
  const before = knownWeights.get(shelved)
  if (before !== undefined) return before
  const known = knownOf(termWeights(fieldsOf(shelved.entry, attached(shelved.facts))))
  knownWeights.set(shelved, known)
  return known
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

interface Found {
  readonly shelved: Shelved
  /** Of the terms that it has: the place in the question, and the weight. */
  readonly terms: ReadonlyArray<readonly [place: number, weight: number]>
}

/** The entries that have a term, and how many have each. Most entries have none: they are passed over by their marks. */
const foundBy = (shelf: Shelf, terms: ReadonlyArray<string>) => {
  const asked = terms.map((term, place) => ({ term, place, mark: markOf(term) }))
  const having = new Uint32Array(terms.length)
  const found: Array<Found> = []
  for (const shelved of shelf.values()) {
    const { marks, weights } = weightsOf(shelved)
    const own: Array<readonly [number, number]> = []
    for (const { mark, place, term } of asked) {
      const weight = isMarked(marks, mark) ? weights.get(term) : undefined
      if (weight === undefined) continue
      having[place] = (having[place] ?? 0) + 1
      own.push([place, weight])
    }
    if (own.length > 0) found.push({ shelved, terms: own })
  }
  return { having, found }
}

/** The best of what is on the shelf, by its words. */
export const searchShelf = (shelf: Shelf, owner: AssistantId, query: RecallQuery): ReadonlyArray<Hit> => {
  const { found, having } = foundBy(
    shelf,
    queryTerms(query.text).map(({ term }) => term)
  )
  const rarities = Float64Array.from(having, (each) => rarity(shelf.size, each))
  const scored = found.flatMap(({ shelved: { entry, facts }, terms }) => {
    const lexical = terms.reduce((sum, [place, weight]) => sum + (rarities[place] ?? 0) * weight, 0)
    return lexical > 0 && fits(entry, query) ? [{ owner, entry, facts, lexical }] : []
  })
  const candidates = scored
    .toSorted((a, b) => b.lexical - a.lexical)
    .slice(0, candidateLimit(query.limit))
    .map((candidate) => ({ ...candidate, facts: attached(candidate.facts) }))
  return rank(candidates, { ...query, search: "fts" })
}
