// RecentEntries: the newest entries of one assistant in memory, for the time that no index answers.
// Owns what changes come to, and the search for words among a few thousand entries. Ranking is in `text/`.
// R1  After the same changes it holds what an index holds, and finds by the same words.
// R2  A change costs the block that it falls into: the terms of all others stay as they are.

import type { AssistantId } from "@reverie/protocol"
import { fits } from "../facts/consolidate.ts"
import { entryNoOfId, type MemoryEntry } from "./messages.ts"
import type { Hit, IndexChange, RecallQuery } from "../recall.ts"
import { candidateLimit, rank } from "../text/rank.ts"
import { type AttachedFact, fieldsOf, queryTerms, rarity, termWeights } from "../text/tokens.ts"

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
    for (const [term, weight] of termWeights(fieldsOf(entry, attached(facts)))) {
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

/** The place of each entry among all of them, block by block. */
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

/** The entries that have a term of the question, each with its score. */
const scored = (recent: RecentEntries, terms: ReadonlyArray<string>): ReadonlyArray<Scored> => {
  const groups = groupsOf(recent)
  const blocks = groups.map(({ entries }) => blockOf(entries) ?? newBlock(entries))
  const lists = terms.map((term) => blocks.map(({ postings }) => postings.get(term)))
  const rarities = lists.map((ofTerm) =>
    rarity(
      recent.size,
      ofTerm.reduce((having, postings) => having + (postings?.places.length ?? 0), 0)
    )
  )
  return groups.flatMap(({ entries, order }, at) => {
    const sums = new Float64Array(entries.length)
    for (const [place, ofTerm] of lists.entries()) {
      const { places = [], weights = [] } = ofTerm[at] ?? {}
      for (let index = 0; index < places.length; index++) {
        const entry = places[index] ?? 0
        sums[entry] = (sums[entry] ?? 0) + (rarities[place] ?? 0) * (weights[index] ?? 0)
      }
    }
    const found: Array<Scored> = []
    for (const [index, { entry, facts }] of entries.entries()) {
      const lexical = sums[index] ?? 0
      if (lexical > 0) found.push({ entry, facts, lexical, order: order[index] ?? 0 })
    }
    return found
  })
}

/** The best entries by their words. */
export const searchRecent = (recent: RecentEntries, owner: AssistantId, query: RecallQuery): ReadonlyArray<Hit> => {
  const terms = queryTerms(query.text).map(({ term }) => term)
  const limit = candidateLimit(query.limit)
  const fitting = scored(recent, terms).filter(({ entry }) => fits(entry, query))
  // Sorting numbers costs a tenth of sorting entries.
  const least =
    Float64Array.from(fitting, ({ lexical }) => lexical).toSorted()[Math.max(0, fitting.length - limit)] ?? 0
  const candidates = fitting
    .filter(({ lexical }) => lexical >= least)
    .toSorted((a, b) => b.lexical - a.lexical || a.order - b.order)
    .slice(0, limit)
    .map(({ entry, facts, lexical }) => ({ owner, entry, lexical, facts: attached(facts) }))
  return rank(candidates, { ...query, search: "fts" })
}
