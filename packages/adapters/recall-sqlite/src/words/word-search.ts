// WordSearch: the entries that the words of a question bring up, the best first.
// Owns lists, rarity, scores and what is demanded of an entry besides its words. Leaves reading entries to searching.ts, and
// their order to the text module.
// Q1  What a question costs does not grow with the age of an assistant: its words are read, the rarest first, up to a bound.
//     They bring up the entries that are looked at. What the more common words add, those that many entries have, is known
//     of each of these by itself. Of an assistant with some ten thousand memories all words are read, and scores are exact.
// Q2  What is demanded is demanded of every entry before anything is cut off.
// Q3  Of two with the same score the one that was told later comes first.

import { classWeights, rarity } from "@reverie/memory"
import { type Doc, eachTerm, type SegmentRow, type Segments } from "./segments.ts"
import type { Group } from "../entries/entries.ts"
import { addScores, classesOf, eachEntry, haveMany, type List, Scores } from "./posting-list.ts"
import { Top } from "../search/top.ts"
import type { Words } from "./words.ts"
import { isOfMany, listPlace, placeOfTerm, type SegmentHead } from "./segment.ts"

// WordLists: what a segment has of the terms of one question.

/** By what stands for a term in a list of many: nothing, then each class. */
const weights = [0, ...classWeights]

class Part {
  readonly row: SegmentRow
  readonly head: SegmentHead
  readonly #segments: Segments
  /** For each term of the question its place; -1 where no entry has it. */
  readonly #places: ReadonlyArray<number>
  readonly #leaves = new Map<number, Uint8Array>()
  /** Of the terms that `rest` was asked for, what each is to every entry; undefined where no entry has it. */
  #counted: ReadonlyArray<Uint8Array | undefined> | undefined

  constructor(segments: Segments, row: SegmentRow, keys: ReadonlyArray<number>) {
    this.#segments = segments
    this.row = row
    this.head = segments.head(row.key)
    this.#places = keys.map((key) => placeOfTerm(this.head, key))
  }

  has(index: number): boolean {
    return this.#place(index) >= 0
  }

  /** How many entries have a term, as far as they live: lists keep those that were told anew since. */
  living(index: number): number {
    const { dead, docs } = this.row
    return ((this.head.counts[this.#place(index)] ?? 0) * (docs - dead)) / docs
  }

  isOfMany(index: number): boolean {
    return isOfMany(this.head, this.#place(index))
  }

  list(index: number): List {
    return this.#listAt(this.#place(index))
  }

  /** What terms give one entry; they are the same at every call. */
  rest(terms: ReadonlyArray<Weighed>, number: number): number {
    this.#counted ??= terms.map(({ index }) =>
      this.has(index) ? classesOf(this.list(index), this.isOfMany(index), this.row.docs) : undefined
    )
    let sum = 0
    for (let at = 0; at < terms.length; at++) {
      sum += (terms[at]?.rarity ?? 0) * (weights[this.#counted[at]?.[number] ?? 0] ?? 0)
    }
    return sum
  }

  /** Whether an entry is what is demanded. */
  fitting({ demands, latest, minTrust, since }: WordQuestion): (number: number) => boolean {
    const { kinds } = this.head
    const { maxAt, minAt, minTrust: leastTrust } = this.row
    const met = demands.map((keys) => this.#marked(keys))
    const meets = (number: number): boolean => met.every((marks) => marks[number] === 1)
    const latestHere = (number: number): number => latest[kinds[number] ?? 0] ?? -Infinity
    // Of most segments every entry is early enough, or none of a kind is.
    const isBounded = latest.some((each) => each < maxAt && each >= minAt) || minAt < since || leastTrust < minTrust
    if (!isBounded) return (number) => latestHere(number) >= maxAt && meets(number)
    const { ats, trusts } = this.#segments.bounds(this.row)
    return (number) => {
      const at = ats[number] ?? 0
      return at >= since && at <= latestHere(number) && (trusts[number] ?? 0) >= minTrust && meets(number)
    }
  }

  /** Marks the entries that have one of some keys. */
  #marked(keys: ReadonlyArray<number>): Uint8Array {
    const marks = new Uint8Array(this.row.docs)
    for (const key of keys) {
      const place = placeOfTerm(this.head, key)
      if (place < 0) continue
      eachEntry(this.#listAt(place), isOfMany(this.head, place), (number) => {
        marks[number] = 1
      })
    }
    return marks
  }

  #place(index: number): number {
    return this.#places[index] ?? -1
  }

  #listAt(place: number): List {
    const { end, from, leaf } = listPlace(this.head, place)
    const bytes = this.#leaves.get(leaf) ?? this.#segments.leaf(this.row.key, leaf)
    this.#leaves.set(leaf, bytes)
    return { bytes, from, end }
  }
}

export interface WordQuestion {
  /** Of the terms, each once. */
  readonly keys: ReadonlyArray<number>
  /** Of each of these lists an entry must have one. */
  readonly demands: ReadonlyArray<ReadonlyArray<number>>
  /** By the number of a kind, the latest that an entry may be of; of a kind that is not asked for none is early enough. */
  readonly latest: Float64Array
  readonly since: number
  readonly minTrust: number
}

/** An entry: the key of its row, and the number under which its words are kept where it was found by them. */
export interface Scored {
  readonly row: number
  readonly doc: number | undefined
  readonly score: number
}

/** An entry with what its rarer words give it, and where it is: in a segment, or in the tail. */
interface Brought {
  readonly row: number
  readonly doc: number
  readonly score: number
  readonly at: Part | Recent
  /** Within its segment. */
  readonly number: number
}

/** An entry of the tail that has some of the terms: by their place in the question the classes of their weights. */
interface Recent {
  readonly doc: Doc
  readonly classes: ReadonlyMap<number, number>
}

/** A term of the question, by its place there. */
export interface Weighed {
  readonly index: number
  readonly rarity: number
}

/** The terms that bring entries up, and those that count for what is brought up. */
interface Terms {
  readonly bringing: ReadonlyArray<Weighed>
  readonly counting: ReadonlyArray<Weighed>
}

/** So many times as many entries are brought up as are wanted: what the more common words add may change their order. */
const SPARE = 4

const scores = new Scores()

/** The better first; of two alike the one that was told later. */
const byScore = (a: { readonly score: number; readonly doc: number }, b: typeof a): number =>
  b.score - a.score || b.doc - a.doc

/** Which terms do what, of so many entries in all, when at most so much is read. */
export const termsOf = (having: ReadonlyArray<number>, entries: number, most: number): Terms => {
  const terms = having
    .map((each, index) => ({
      index,
      areMany: haveMany(each, entries),
      work: haveMany(each, entries) ? entries : each,
      having: each,
      rarity: rarity(entries, Math.min(each, entries))
    }))
    .filter((term) => term.having > 0)
    .toSorted((a, b) => a.having - b.having)
  let left = most
  const firstLeft = terms.findIndex(({ work }) => (left -= work) < 0)
  const bringing = firstLeft < 0 ? terms : terms.slice(0, Math.max(1, firstLeft))
  // What few have and is too much to read is left out: a question has no room for many such words.
  return { bringing, counting: terms.slice(bringing.length).filter(({ areMany }) => areMany) }
}

export class WordSearch {
  readonly #question: WordQuestion
  readonly #recent: ReadonlyArray<Recent>
  readonly #parts: ReadonlyArray<Part>
  readonly #terms: Terms

  constructor(words: Words, groups: ReadonlyArray<Group>, question: WordQuestion) {
    this.#question = question
    this.#recent = this.#recently(groups.flatMap(({ key }) => words.tail.of(key)))
    this.#parts = groups
      .flatMap(({ key }) => words.segments.ofGroup(key))
      .map((row) => new Part(words.segments, row, question.keys))
    const having = question.keys.map((_, index) => this.#parts.reduce((sum, part) => sum + part.living(index), 0))
    for (const { classes } of this.#recent) {
      for (const index of classes.keys()) having[index] = (having[index] ?? 0) + 1
    }
    // An entry that two of the groups may read counts twice here, which is of no weight.
    const entries = groups.reduce((sum, group) => sum + group.entries, 0)
    this.#terms = termsOf(having, entries, words.read)
  }

  /** The best, at most so many, and whether these are all. */
  best(most: number): { readonly found: ReadonlyArray<Scored>; readonly isAll: boolean } {
    const { counting } = this.#terms
    const top = new Top<Brought>(counting.length === 0 ? most : SPARE * most, byScore)
    this.#searchRecent(top)
    for (const part of this.#parts.toReversed()) this.#searchPart(part, top)
    const found = top
      .sorted()
      .map(({ at, doc, number, row, score }) => ({
        doc,
        row,
        score: score + (at instanceof Part ? at.rest(counting, number) : sumOf(at, counting))
      }))
      .toSorted(byScore)
    return { found: found.slice(0, most), isAll: !top.isFull && found.length <= most }
  }

  /** The entries of the tail that have a term. */
  #recently(docs: ReadonlyArray<Doc>): ReadonlyArray<Recent> {
    const indexes = new Map(this.#question.keys.map((key, index) => [key, index]))
    return docs
      .map((doc): Recent => {
        const classes = new Map<number, number>()
        eachTerm(doc.terms, (key, weightClass) => {
          const index = indexes.get(key)
          if (index !== undefined) classes.set(index, weightClass)
        })
        return { doc, classes }
      })
      .filter(({ classes }) => classes.size > 0)
  }

  #searchPart(part: Part, top: Top<Brought>): void {
    const { head, row } = part
    const { bringing } = this.#terms
    const lists = bringing.filter(({ index }) => part.has(index))
    if (lists.length === 0 || row.maxAt < this.#question.since) return
    scores.begin(row.docs)
    for (const { index, rarity } of lists) addScores(part.list(index), part.isOfMany(index), scores, rarity)
    const isFit = part.fitting(this.#question)
    const { count, isListed, sums, touched } = scores
    const found = isListed ? count : row.docs
    let { bar, worst } = top
    // The newest first: of many that score alike it is they who stay, and the others are not even offered.
    for (let at = found - 1; at >= 0; at--) {
      const number = isListed ? (touched[at] ?? 0) : at
      const score = sums[number] ?? 0
      if (score === 0 || score < bar) continue
      const doc = row.first + (head.docs[number] ?? 0)
      if ((score === bar && doc <= (worst?.doc ?? -1)) || !isFit(number)) continue
      top.offer({ row: head.rows[number] ?? 0, doc, score, at: part, number })
      ;({ bar, worst } = top)
    }
  }

  #searchRecent(top: Top<Brought>): void {
    const { demands, latest, minTrust, since } = this.#question
    for (const recent of this.#recent) {
      const { at, doc, kind, row, trust } = recent.doc
      if (at < since || !(at <= (latest[kind] ?? -Infinity)) || trust < minTrust) continue
      if (demands.length > 0 && !meets(recent.doc, demands)) continue
      const score = Math.fround(sumOf(recent, this.#terms.bringing))
      if (score > 0) top.offer({ row, doc, score, at: recent, number: 0 })
    }
  }
}

/** What terms give an entry of the tail. */
const sumOf = ({ classes }: Recent, terms: ReadonlyArray<Weighed>): number =>
  terms.reduce((sum, { index, rarity }) => sum + rarity * (classWeights[classes.get(index) ?? -1] ?? 0), 0)

const meets = ({ terms }: Doc, demands: WordQuestion["demands"]): boolean => {
  const keys = new Set<number>()
  eachTerm(terms, (key) => keys.add(key))
  return demands.every((some) => some.some((key) => keys.has(key)))
}
