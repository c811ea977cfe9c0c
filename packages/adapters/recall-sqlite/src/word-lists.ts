// WordLists: what a segment has of the terms of one question.
// Owns reading each leaf once for a question, and what is demanded of the entries of a segment. Leaves scores to
// word-search.ts.

import { classesOf, eachEntry, type List } from "./posting-list.ts"
import { isOfMany, listPlace, placeOfTerm, type SegmentHead } from "./segment.ts"
import type { SegmentRow, Segments } from "./segments.ts"
import { classWeights } from "./weight-class.ts"
import type { Weighed, WordQuestion } from "./word-search.ts"

/** By what stands for a term in a list of many: nothing, then each class. */
const weights = [0, ...classWeights]

export class Part {
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
