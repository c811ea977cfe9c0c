// RecentEntries: the newest entries of one assistant in memory, for the time that no index answers.
// Owns what changes come to, and the search for words among a few thousand entries. Ranking is in `text/`.
// R1  After the same changes it holds what an index holds, and finds by the same words.
// R2  A change costs the block that it falls into: the terms of all others stay as they are.

import type { AssistantId } from "@reverie/protocol"
import { fits } from "../facts/consolidate.ts"
import { entryNoOfId, type MemoryEntry } from "./messages.ts"
import type { Hit, IndexChange, RecallQuery } from "../recall.ts"
import { candidateLimit, rank } from "../text/rank.ts"
import { type AttachedFact, fieldsOf, queryTerms, rarity, indexWeights } from "../text/tokens.ts"

interface RecentEntry {
  readonly entry: MemoryEntry
  readonly facts: ReadonlyMap<string, string>
}

/** By id, in the order in which they were put. */
export type RecentEntries = ReadonlyMap<string, RecentEntry>

const NO_FACTS: ReadonlyMap<string, string> = new Map()

/** What is there after the changes, in their order. */
export const applyChanges = (changes: ReadonlyArray<IndexChange>, before: RecentEntries = new Map()): RecentEntries => {
  const entries = new Map(before)
  for (const change of changes) {
    if (change.type === "put") {
      const { entry } = change
      entries.set(entry.id, { entry, facts: entries.get(entry.id)?.facts ?? NO_FACTS })
    } else if (change.type === "remove") entries.delete(change.id)
    else {
      const known = entries.get(change.of)
      if (known === undefined) continue
      const facts = new Map(known.facts)
      if (change.text === null) facts.delete(change.fact)
      else facts.set(change.fact, change.text)
      entries.set(change.of, { ...known, facts })
    }
  }
  return entries
}

const attached = (facts: ReadonlyMap<string, string>): ReadonlyArray<AttachedFact> =>
  [...facts].map(([id, text]) => ({ id, text }))

/** Which entries of a block have a term, by their place in it, and what the term weighs in each. */
interface Postings {
  readonly places: Array<number>
  readonly weights: Array<number>
}

/** Entries that stay together whatever becomes of others. */
interface Block {
  readonly entries: ReadonlyArray<RecentEntry>
  readonly postings: ReadonlyMap<string, Postings>
}

const postingsOf = (entries: ReadonlyArray<RecentEntry>): ReadonlyMap<string, Postings> => {
  const postings = new Map<string, Postings>()
  for (const [place, { entry, facts }] of entries.entries()) {
    for (const [term, weight] of indexWeights(fieldsOf(entry, attached(facts)))) {
      const known = postings.get(term)
      if (known === undefined) postings.set(term, { places: [place], weights: [weight] })
      else {
        known.places.push(place)
        known.weights.push(weight)
      }
    }
  }
  return postings
}

/** By its first entry. An entry that is put anew is another object. */
const knownBlocks = new WeakMap<RecentEntry, Block>()

const blockOf = (entries: ReadonlyArray<RecentEntry>): Block | undefined => {
  const [first] = entries
  const known = first === undefined ? undefined : knownBlocks.get(first)
  const isSame =
    known?.entries.length === entries.length && known.entries.every((entry, place) => entry === entries[place])
  return isSame ? known : undefined
}

const newBlock = (entries: ReadonlyArray<RecentEntry>): Block => {
  const block = { entries, postings: postingsOf(entries) }
  const [first] = entries
  if (first !== undefined) knownBlocks.set(first, block)
  return block
}

/** Entries of the ledger whose messages make one block. */
const BLOCK_ENTRIES = 16
/** Blocks of facts, passages and notes, by their ids. */
const OTHER_BLOCKS = 16

const blockKey = (id: string): number => {
  const no = entryNoOfId(id)
  if (no !== undefined) return Math.floor(no / BLOCK_ENTRIES)
  let hash = 0
  for (let at = 0; at < id.length; at++) hash = (Math.imul(hash, 31) + id.charCodeAt(at)) >>> 0
  return -1 - (hash % OTHER_BLOCKS)
}

/** Entries whose block is one, with the place of each among all of them in the order in which they were put. */
interface Group {
  readonly entries: Array<RecentEntry>
  readonly order: Array<number>
}

const knownGroups = new WeakMap<RecentEntries, ReadonlyArray<Group>>()

const groupsOf = (recent: RecentEntries): ReadonlyArray<Group> => {
  const known = knownGroups.get(recent)
  if (known !== undefined) return known
  const groups = new Map<number, Group>()
  let order = 0
  for (const [id, entry] of recent) {
    const key = blockKey(id)
    const group = groups.get(key) ?? { entries: [], order: [] }
    groups.set(key, group)
    group.entries.push(entry)
    group.order.push(order++)
  }
  const all = [...groups.values()]
  knownGroups.set(recent, all)
  return all
}

/** Indexes what is not indexed yet, some entries at a time: the first search would index all of it in one piece. */
export const indexInSteps = function* (recent: RecentEntries, step: number): Generator<void> {
  let indexed = 0
  for (const { entries } of groupsOf(recent)) {
    if (blockOf(entries) !== undefined) continue
    newBlock(entries)
    indexed += entries.length
    if (indexed < step) continue
    indexed = 0
    yield
  }
}

interface Scored extends RecentEntry {
  readonly lexical: number
  readonly order: number
}

/** What each entry scores, by its place among all of them. */
const scoresOf = (recent: RecentEntries, terms: ReadonlyArray<string>): Float64Array => {
  const scores = new Float64Array(recent.size)
  const groups = groupsOf(recent).map(({ entries, order }) => ({ order, ...(blockOf(entries) ?? newBlock(entries)) }))
  for (const term of terms) {
    const having = groups.flatMap(({ order, postings }) => {
      const found = postings.get(term)
      return found === undefined ? [] : [{ order, found }]
    })
    const rare = rarity(
      recent.size,
      having.reduce((count, { found }) => count + found.places.length, 0)
    )
    for (const { found, order } of having) {
      for (let index = 0; index < found.places.length; index++) {
        const place = order[found.places[index] ?? 0] ?? 0
        scores[place] = (scores[place] ?? 0) + rare * (found.weights[index] ?? 0)
      }
    }
  }
  return scores
}

/** The best that fit, so many and others that score as much as the last of them, in the order in which they were put. */
const bestOf = (recent: RecentEntries, scores: Float64Array, limit: number, query: RecallQuery) => {
  // Sorting numbers costs a tenth of sorting entries, and most entries are never looked at.
  const sorted = scores.filter((score) => score > 0).toSorted()
  for (let share = 2 * limit; ; share *= 4) {
    const least = sorted[Math.max(0, sorted.length - share)] ?? Number.POSITIVE_INFINITY
    const best: Array<Scored> = []
    let order = 0
    for (const { entry, facts } of recent.values()) {
      const lexical = scores[order] ?? 0
      if (lexical >= least && fits(entry, query)) best.push({ entry, facts, lexical, order })
      order++
    }
    if (best.length >= limit || share >= sorted.length) return best
  }
}

/** The best entries by their words. */
export const searchRecent = (recent: RecentEntries, owner: AssistantId, query: RecallQuery): ReadonlyArray<Hit> => {
  const terms = queryTerms(query.text).map(({ term }) => term)
  const limit = candidateLimit(query.limit)
  const candidates = bestOf(recent, scoresOf(recent, terms), limit, query)
    .toSorted((a, b) => b.lexical - a.lexical || a.order - b.order)
    .slice(0, limit)
    .map(({ entry, facts, lexical }) => ({ owner, entry, lexical, facts: attached(facts) }))
  return rank(candidates, { ...query, search: "fts" })
}
