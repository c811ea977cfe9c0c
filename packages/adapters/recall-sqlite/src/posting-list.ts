// PostingList: the entries of a segment that have a term, as bytes.
// Owns writing and reading them. Leaves which term, and what the numbers of entries mean, to the segment.
// L1  Runs of the same class, the weightiest first: the class, how many, and their numbers in the segment, ascending, each
//     as the distance to the one before.
// L2  Numbers are written with seven bits in a byte, the lowest first; the eighth says that more follow.

import { classWeights } from "./weight-class.ts"

const FIRST_BYTES = 1_024

/** Bytes that grow as they are written. */
export class ByteWriter {
  #bytes = new Uint8Array(FIRST_BYTES)
  #length = 0

  get length(): number {
    return this.#length
  }

  byte(value: number): void {
    this.#room(1)
    this.#bytes[this.#length++] = value
  }

  number(value: number): void {
    this.#room(5)
    let rest = value
    while (rest > 127) {
      this.#bytes[this.#length++] = (rest & 127) | 128
      rest >>>= 7
    }
    this.#bytes[this.#length++] = rest
  }

  append(other: ByteWriter): void {
    this.#room(other.#length)
    this.#bytes.set(other.#bytes.subarray(0, other.#length), this.#length)
    this.#length += other.#length
  }

  clear(): void {
    this.#length = 0
  }

  taken(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }

  #room(more: number): void {
    if (this.#length + more <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length + more))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }
}

/** Reads numbers one after the other. */
export class ByteReader {
  readonly bytes: Uint8Array
  at: number
  readonly end: number

  constructor(bytes: Uint8Array, at: number = 0, end: number = bytes.length) {
    this.bytes = bytes
    this.at = at
    this.end = end
  }

  get isOver(): boolean {
    return this.at >= this.end
  }

  byte(): number {
    return this.bytes[this.at++] ?? 0
  }

  number(): number {
    let byte = this.byte()
    if (byte < 128) return byte
    let value = byte & 127
    for (let shift = 7; byte >= 128; shift += 7) {
      byte = this.byte()
      value |= (byte & 127) << shift
    }
    return value
  }
}

/** Adds a run: entries of one class, ascending. */
export const writeRun = (to: ByteWriter, weightClass: number, numbers: ArrayLike<number>): void => {
  to.byte(weightClass)
  to.number(numbers.length)
  let before = 0
  for (let index = 0; index < numbers.length; index++) {
    const number = numbers[index] ?? 0
    to.number(number - before)
    before = number
  }
}

/**
 * Adds to the score of each entry of a list what its class weighs, of the weightiest at most so many; answers how many it
 * read. The one loop that every question spends its time in: bytes are read in place.
 */
export const addScores = (
  bytes: Uint8Array,
  from: number,
  end: number,
  scores: Float32Array,
  rarity: number,
  most: number
): number => {
  let at = from
  let left = most
  while (at < end && left > 0) {
    const weight = rarity * (classWeights[bytes[at++] ?? 0] ?? 0)
    let byte = bytes[at++] ?? 0
    let count = byte & 127
    for (let shift = 7; byte >= 128; shift += 7) {
      byte = bytes[at++] ?? 0
      count |= (byte & 127) << shift
    }
    const reading = count < left ? count : left
    left -= reading
    let number = 0
    for (let index = 0; index < reading; index++) {
      byte = bytes[at++] ?? 0
      let distance = byte & 127
      for (let shift = 7; byte >= 128; shift += 7) {
        byte = bytes[at++] ?? 0
        distance |= (byte & 127) << shift
      }
      number += distance
      scores[number] = (scores[number] ?? 0) + weight
    }
  }
  return most - left
}

/** Marks each entry of a list. */
export const markAll = (reader: ByteReader, marks: Uint8Array, mark: number): void => {
  while (!reader.isOver) {
    reader.byte()
    let number = 0
    for (let left = reader.number(); left > 0; left--) {
      number += reader.number()
      marks[number] = mark
    }
  }
}
