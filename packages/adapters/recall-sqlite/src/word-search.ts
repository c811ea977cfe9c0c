// WordSearch: the entries that the words of a question bring up, the best first.
// Owns rarity, scores and what is demanded of an entry besides its words. Leaves reading entries to searching.ts, and their
// order to the text module.
// Q1  It reads at most READ_POSTINGS entries of lists, of the rarest words first: what a question costs does not grow with
//     the age of an assistant. As long as all of them are fewer, every word counts and the scores are exact. Beyond that the
//     most common words do not count: they are in a large part of all entries, and hardly tell one from another. Of a
//     question of such words only, the rarest counts, where it weighs most.
// Q2  What is demanded is demanded of every entry before anything is cut off.
// Q3  Of two with the same score the one that was told later comes first.

import { rarity } from "@reverie/memory"
import { type Doc, eachTerm } from "./doc-terms.ts"
import type { Group } from "./groups.ts"
import { addScores, ByteReader, markAll } from "./posting-list.ts"
import { listPlace, placeOfTerm, type SegmentHead } from "./segment.ts"
import type { Bounds, SegmentRow } from "./segments.ts"
import { type Scored, Top } from "./top.ts"
import { classWeights } from "./weight-class.ts"
import type { Words } from "./words.ts"

/** Entries of lists: less than a millisecond of work. */
const READ_POSTINGS = 65_536

export interface WordQuestion {
  /** Of the terms, each once. */
  readonly keys: ReadonlyArray<number>
  /** Of each of these lists an entry must have one. */
  readonly demands: ReadonlyArray<ReadonlyArray<number>>
  /** By the number of a kind. */
  readonly isKind: Uint8Array
  readonly since: number
  readonly until: number
  readonly minTrust: number
}

/** A segment that is searched. */
interface Part {
  readonly row: SegmentRow
  readonly head: SegmentHead
  /** The list of a term by its place. */
  readonly list: (place: number) => ByteReader
  /** For each term of the question its place; -1 where no entry has it. */
  readonly places: ReadonlyArray<number>
}

/** An entry of the tail that has some of the terms, each with the class of its weight. */
interface Recent {
  readonly doc: Doc
  readonly terms: ReadonlyArray<readonly [index: number, weightClass: number]>
}

/** A term that counts. */
interface Weighed {
  readonly index: number
  readonly rarity: number
  /** How much is read of its lists: all, but where even the rarest word is in too many entries. */
  readonly share: number
}

/** One for all questions: none is asked while another one is. */
let sums = new Float32Array(1_024)

const blank = (count: number): Float32Array => {
  if (sums.length < count) sums = new Float32Array(2 * count)
  else sums.fill(0, 0, count)
  return sums
}

/** The terms that count, the rarest first, of so many entries in all. */
const countingTerms = (having: ReadonlyArray<number>, count: number): ReadonlyArray<Weighed> => {
  const terms = having
    .map((each, index) => ({ index, having: each, rarity: rarity(count, Math.min(each, count)) }))
    .filter((term) => term.having > 0)
    .toSorted((a, b) => a.having - b.having)
  let left = READ_POSTINGS
  const firstUnread = terms.findIndex((term) => (left -= term.having) < 0)
  const counting = firstUnread < 0 ? terms : terms.slice(0, Math.max(1, firstUnread))
  return counting.map((term) => ({ ...term, share: Math.min(1, READ_POSTINGS / term.having) }))
}

export class WordSearch {
  readonly #words: Words
  readonly #question: WordQuestion
  readonly #recent: ReadonlyArray<Recent>
  readonly #parts: ReadonlyArray<Part>
  readonly #terms: ReadonlyArray<Weighed>

  constructor(words: Words, groups: ReadonlyArray<Group>, question: WordQuestion) {
    this.#words = words
    this.#question = question
    this.#recent = this.#recently(groups.flatMap(({ key }) => words.tail.of(key)))
    this.#parts = groups.flatMap(({ key }) => words.segments.ofGroup(key)).map((row) => this.#part(row))
    const having = question.keys.map((_, index) =>
      this.#parts.reduce((sum, { head, places }) => sum + (head.counts[places[index] ?? -1] ?? 0), 0)
    )
    for (const { terms } of this.#recent) for (const [index] of terms) having[index] = (having[index] ?? 0) + 1
    // An entry that two of the groups may read counts twice here, which is of no weight.
    this.#terms = countingTerms(
      having,
      groups.reduce((sum, { entries }) => sum + entries, 0)
    )
  }

  /** The best, at most so many, and whether these are all. */
  best(most: number): { readonly found: ReadonlyArray<Scored>; readonly isAll: boolean } {
    const top = new Top(most)
    this.#searchRecent(top)
    for (const part of this.#parts.toReversed()) this.#searchPart(part, top)
    return { found: top.sorted(), isAll: !top.isFull }
  }

  /** The entries of the tail that have a term, those that were told last first. */
  #recently(docs: ReadonlyArray<Doc>): ReadonlyArray<Recent> {
    const indexes = new Map(this.#question.keys.map((key, index) => [key, index]))
    return docs
      .map((doc): Recent => {
        const terms: Array<readonly [number, number]> = []
        eachTerm(doc.terms, (key, weightClass) => {
          const index = indexes.get(key)
          if (index !== undefined) terms.push([index, weightClass])
        })
        return { doc, terms }
      })
      .filter(({ terms }) => terms.length > 0)
      .toSorted((a, b) => b.doc.doc - a.doc.doc)
  }

  #part(row: SegmentRow): Part {
    const { segments } = this.#words
    const head = segments.head(row.key)
    const leaves = new Map<number, Uint8Array>()
    const list = (place: number): ByteReader => {
      const { end, from, leaf } = listPlace(head, place)
      const body = leaves.get(leaf) ?? segments.leaf(row.key, leaf)
      leaves.set(leaf, body)
      return new ByteReader(body, from, end)
    }
    return { row, head, list, places: this.#question.keys.map((key) => placeOfTerm(head, key)) }
  }

  #searchPart(part: Part, top: Top): void {
    const { head, list, places, row } = part
    const { since, until } = this.#question
    const found = this.#terms.flatMap(({ index, rarity, share }) => {
      const place = places[index] ?? -1
      return place < 0 ? [] : [{ place, rarity, most: Math.ceil((head.counts[place] ?? 0) * share) }]
    })
    if (found.length === 0 || row.maxAt < since || row.minAt > until) return
    const scores = blank(row.docs)
    for (const { most, place, rarity } of found) {
      const { at, bytes, end } = list(place)
      addScores(bytes, at, end, scores, rarity, most)
    }
    const isFit = this.#fitting(part)
    let { bar } = top
    for (let number = row.docs - 1; number >= 0; number--) {
      const score = scores[number] ?? 0
      if (score <= bar || !isFit(number)) continue
      top.offer(head.rows[number] ?? 0, row.first + (head.docs[number] ?? 0), score)
      bar = top.bar
    }
  }

  /** Whether an entry of a segment is what is demanded. */
  #fitting({ head, list, row }: Part): (number: number) => boolean {
    const { demands, isKind, minTrust, since, until } = this.#question
    const { kinds } = head
    const isBounded = row.minAt < since || row.maxAt > until || row.minTrust < minTrust
    const bounds: Bounds | undefined = isBounded ? this.#words.segments.bounds(row) : undefined
    const met = demands.map((keys) => {
      const marks = new Uint8Array(row.docs)
      for (const key of keys) {
        const place = placeOfTerm(head, key)
        if (place >= 0) markAll(list(place), marks, 1)
      }
      return marks
    })
    return (number) =>
      isKind[kinds[number] ?? 0] === 1 &&
      (bounds === undefined ||
        ((bounds.ats[number] ?? 0) >= since &&
          (bounds.ats[number] ?? 0) <= until &&
          (bounds.trusts[number] ?? 0) >= minTrust)) &&
      met.every((marks) => marks[number] === 1)
  }

  #searchRecent(top: Top): void {
    const { demands, isKind, minTrust, since, until } = this.#question
    const rarities = new Map(this.#terms.map(({ index, rarity }) => [index, rarity]))
    for (const { doc, terms } of this.#recent) {
      const { at, kind, trust } = doc
      if (isKind[kind] !== 1 || at < since || at > until || trust < minTrust) continue
      if (demands.length > 0 && !meets(doc, demands)) continue
      const score = terms.reduce(
        (sum, [index, weightClass]) => sum + (rarities.get(index) ?? 0) * (classWeights[weightClass] ?? 0),
        0
      )
      top.offer(doc.row, doc.doc, Math.fround(score))
    }
  }
}

const meets = ({ terms }: Doc, demands: WordQuestion["demands"]): boolean => {
  const keys = new Set<number>()
  eachTerm(terms, (key) => keys.add(key))
  return demands.every((some) => some.some((key) => keys.has(key)))
}
