// Segment: entries of a group that were told about the same time, with the lists of their terms. It is never changed.
// Owns its head: which terms it has and where their lists are, which entries it has and what kinds they are. Leaves rows
// to segments.ts, lists to posting-list.ts.
// G1  Entries are numbered within it in the order in which they were told; a number that no row has any more is dead.
// G2  Lists stand in the order of the keys of their terms, cut into leaves; none is in two leaves.

import { type ByClass, haveMany, writeList } from "./posting-list.ts"
import { ByteWriter } from "./byte-writer.ts"

/** More entries than a segment can have are never merged into one. */
export const MAX_DOCS = 262_144

export interface SegmentHead {
  /** Of the terms, ascending. */
  readonly keys: Float64Array
  /** How many entries have each term. */
  readonly counts: Uint32Array
  /** Where the list of each ends, counted through all leaves. */
  readonly ends: Uint32Array
  /** Where each leaf begins, counted through all leaves. */
  readonly leaves: Uint32Array
  /** The number of each entry in the index, less that of the first one. */
  readonly docs: Uint32Array
  /** The key of the row of each. */
  readonly rows: Uint32Array
  readonly kinds: Uint8Array
}

const LENGTHS_BYTES = 16

export const writeHead = ({ counts, docs, ends, keys, kinds, leaves, rows }: SegmentHead): Uint8Array => {
  const lengths = Uint32Array.of(keys.length, leaves.length, docs.length, 0)
  const parts = [lengths, keys, counts, ends, leaves, docs, rows, kinds].map(
    (part) => new Uint8Array(part.buffer, part.byteOffset, part.byteLength)
  )
  const head = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    head.set(part, at)
    at += part.length
  }
  return head
}

/** Bytes that begin where every number can be read in place. */
export const aligned = (bytes: Uint8Array): Uint8Array => (bytes.byteOffset % 8 === 0 ? bytes : bytes.slice())

export const readHead = (bytes: Uint8Array): SegmentHead => {
  const { buffer, byteOffset } = aligned(bytes)
  const [terms = 0, leaves = 0, docs = 0] = new Uint32Array(buffer, byteOffset, 3)
  let at = byteOffset + LENGTHS_BYTES
  const next = (length: number): number => {
    const begin = at
    at += length
    return begin
  }
  return {
    keys: new Float64Array(buffer, next(8 * terms), terms),
    counts: new Uint32Array(buffer, next(4 * terms), terms),
    ends: new Uint32Array(buffer, next(4 * terms), terms),
    leaves: new Uint32Array(buffer, next(4 * leaves), leaves),
    docs: new Uint32Array(buffer, next(4 * docs), docs),
    rows: new Uint32Array(buffer, next(4 * docs), docs),
    kinds: new Uint8Array(buffer, next(docs), docs)
  }
}

export const headBytes = ({ docs, keys, leaves }: SegmentHead): number =>
  16 * keys.length + 4 * leaves.length + 9 * docs.length

/** The last of ascending numbers that is not above another one; -1 when all are. */
const lastUpTo = (numbers: Float64Array | Uint32Array, most: number): number => {
  let [low, high] = [0, numbers.length - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] ?? 0) <= most) low = middle + 1
    else high = middle - 1
  }
  return high
}

/** The place of a term; -1 when no entry has it. */
export const placeOfTerm = ({ keys }: SegmentHead, key: number): number => {
  const place = lastUpTo(keys, key)
  return keys[place] === key ? place : -1
}

/** Where a list is: in which leaf, and from where to where in it. */
export interface ListPlace {
  readonly leaf: number
  readonly from: number
  readonly end: number
}

export const listPlace = ({ ends, leaves }: SegmentHead, place: number): ListPlace => {
  const from = place === 0 ? 0 : (ends[place - 1] ?? 0)
  const leaf = lastUpTo(leaves, from)
  const begin = leaves[leaf] ?? 0
  return { leaf, from: from - begin, end: (ends[place] ?? 0) - begin }
}

/** Whether the list of a term is written as one that many entries have. */
export const isOfMany = ({ counts, docs }: SegmentHead, place: number): boolean =>
  haveMany(counts[place] ?? 0, docs.length)

// SegmentWriter: a segment as it is made, term by term.
// S1  Terms come in the order of their keys, each once; leaves are written as soon as they are full.

/** Most bytes of a leaf, unless one list alone has more: it fills a page of the file. */
const LEAF_BYTES = 4_000

/** What a segment knows of its entries, each under its number. */
export interface DocColumns {
  /** The number of each in the index. */
  readonly docs: Float64Array
  /** The key of the row of each. */
  readonly rows: Uint32Array
  readonly kinds: Uint8Array
  readonly ats: Float64Array
  readonly trusts: Float64Array
}

export class SegmentWriter {
  readonly #write: (number: number, body: Uint8Array) => void
  readonly #leaf = new ByteWriter()
  readonly #list = new ByteWriter()
  readonly #keys: Array<number> = []
  readonly #counts: Array<number> = []
  readonly #ends: Array<number> = []
  readonly #leaves: Array<number> = []
  /** Bytes of the leaves that were written. */
  #written = 0

  /** `write` keeps a leaf. */
  constructor(write: (number: number, body: Uint8Array) => void) {
    this.#write = write
  }

  /** Adds a term that so many of all entries have. */
  add(key: number, count: number, byClass: ByClass, entries: number): void {
    this.#list.clear()
    writeList(this.#list, byClass, count, entries)
    if (this.#leaf.length + this.#list.length > LEAF_BYTES) this.#close()
    this.#leaf.append(this.#list)
    this.#keys.push(key)
    this.#counts.push(count)
    this.#ends.push(this.#written + this.#leaf.length)
  }

  /** The head, once every term was added. */
  head({ docs, kinds, rows }: DocColumns): SegmentHead {
    this.#close()
    const first = docs[0] ?? 0
    return {
      keys: Float64Array.from(this.#keys),
      counts: Uint32Array.from(this.#counts),
      ends: Uint32Array.from(this.#ends),
      leaves: Uint32Array.from(this.#leaves),
      docs: Uint32Array.from(docs, (doc) => doc - first),
      rows,
      kinds
    }
  }

  #close(): void {
    if (this.#leaf.length === 0) return
    this.#write(this.#leaves.length, this.#leaf.taken())
    this.#leaves.push(this.#written)
    this.#written += this.#leaf.length
    this.#leaf.clear()
  }
}
