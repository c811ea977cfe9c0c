// PostingList: the entries of a segment that have a term, each with the class of its weight, as bytes.
// Owns writing and reading them. Leaves which term, and what the numbers of entries mean, to the segment.
// L1  Of a term that few entries have: runs of the same class, the weightiest first: the class, how many, and their numbers
//     in the segment, ascending, each as the distance to the one before.
// L2  Of a term that many have: for every entry a byte, one more than the class, or 0. So what the term is to one entry is
//     known without reading what it is to the others.
// L3  Which of the two it is follows from how many have it.

import { classWeights } from "@reverie/memory"
import type { ByteWriter } from "./byte-writer.ts"

/** A term that more than one of so many entries have is one that many have. */
const FEW = 16

export const haveMany = (count: number, entries: number): boolean => count * FEW > entries

/** A list: bytes of a leaf, from one place to another. */
export interface List {
  readonly bytes: Uint8Array
  readonly from: number
  readonly end: number
}

/** For each class the numbers of the entries, ascending; nothing for a class that none has. */
export type ByClass = ReadonlyArray<ReadonlyArray<number> | undefined>

export const writeList = (to: ByteWriter, byClass: ByClass, count: number, entries: number): void => {
  if (haveMany(count, entries)) {
    const classes = new Uint8Array(entries)
    for (let weightClass = 0; weightClass < byClass.length; weightClass++) {
      const numbers = byClass[weightClass]
      if (numbers !== undefined) for (const number of numbers) classes[number] = weightClass + 1
    }
    return to.bytes(classes)
  }
  for (let weightClass = byClass.length - 1; weightClass >= 0; weightClass--) {
    const numbers = byClass[weightClass]
    if (numbers === undefined || numbers.length === 0) continue
    to.byte(weightClass)
    to.number(numbers.length)
    let before = 0
    for (const number of numbers) {
      to.number(number - before)
      before = number
    }
  }
}

/** Calls for each entry of a list. */
export const eachEntry = (
  { bytes, end, from }: List,
  areMany: boolean,
  use: (number: number, weightClass: number) => void
): void => {
  if (areMany) {
    for (let at = from; at < end; at++) {
      const weightClass = (bytes[at] ?? 0) - 1
      if (weightClass >= 0) use(at - from, weightClass)
    }
    return
  }
  let at = from
  const next = (): number => {
    let byte = bytes[at++] ?? 0
    let value = byte & 127
    for (let shift = 7; byte >= 128; shift += 7) {
      byte = bytes[at++] ?? 0
      value |= (byte & 127) << shift
    }
    return value
  }
  while (at < end) {
    const weightClass = bytes[at++] ?? 0
    let number = 0
    for (let left = next(); left > 0; left--) {
      number += next()
      use(number, weightClass)
    }
  }
}

/** What a term is worth to an entry, by what stands for it in a list of many. */
const worths = (rarity: number): Float32Array => Float32Array.from([0, ...classWeights], (weight) => rarity * weight)

/** As `eachEntry` of few, adding to the score of each. Most of the time of a question goes by here: bytes are read in place. */
const addFew = ({ bytes, end, from }: List, scores: Scores, rarity: number): void => {
  const { sums, touched } = scores
  let { count } = scores
  let at = from
  while (at < end) {
    const weight = rarity * (classWeights[bytes[at++] ?? 0] ?? 0)
    let byte = bytes[at++] ?? 0
    let left = byte & 127
    for (let shift = 7; byte >= 128; shift += 7) {
      byte = bytes[at++] ?? 0
      left |= (byte & 127) << shift
    }
    let number = 0
    for (; left > 0; left--) {
      byte = bytes[at++] ?? 0
      let distance = byte & 127
      for (let shift = 7; byte >= 128; shift += 7) {
        byte = bytes[at++] ?? 0
        distance |= (byte & 127) << shift
      }
      number += distance
      const sum = sums[number] ?? 0
      if (sum === 0) touched[count++] = number
      sums[number] = sum + weight
    }
  }
  scores.count = count
}

const addMany = ({ bytes, end, from }: List, scores: Scores, rarity: number): void => {
  const { sums } = scores
  const worth = worths(rarity)
  scores.isListed = false
  for (let at = from; at < end; at++) {
    const number = at - from
    sums[number] = (sums[number] ?? 0) + (worth[bytes[at] ?? 0] ?? 0)
  }
}

/** Adds to the score of each entry of a list what its class weighs. */
export const addScores = (list: List, areMany: boolean, scores: Scores, rarity: number): void =>
  areMany ? addMany(list, scores, rarity) : addFew(list, scores, rarity)

/** For every entry one more than its class, or 0, whichever way the list is written. */
export const classesOf = (list: List, areMany: boolean, entries: number): Uint8Array => {
  if (areMany) return list.bytes.subarray(list.from, list.end)
  const classes = new Uint8Array(entries)
  eachEntry(list, false, (number, weightClass) => {
    classes[number] = weightClass + 1
  })
  return classes
}

// Scores: what the entries of a segment have come to, one number each.
// Owns the memory, one for all questions, for none is asked while another one is.
// S1  Anyone who has a score can be told without a look at those who have none, unless these are few.

export class Scores {
  sums = new Float32Array(1_024)
  /** The numbers of the entries that have a score, as far as `isListed`. */
  touched = new Uint32Array(1_024)
  count = 0
  isListed = true
  #entries = 0

  /** No entry of so many has a score. */
  begin(entries: number): void {
    if (this.sums.length < entries) {
      this.sums = new Float32Array(2 * entries)
      this.touched = new Uint32Array(2 * entries)
    } else if (this.isListed) for (let at = 0; at < this.count; at++) this.sums[this.touched[at] ?? 0] = 0
    else this.sums.fill(0, 0, this.#entries)
    this.#entries = entries
    this.count = 0
    this.isListed = true
  }
}
