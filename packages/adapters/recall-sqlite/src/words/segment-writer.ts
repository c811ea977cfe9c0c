// SegmentWriter: a segment as it is made, term by term.
// Owns cutting its lists into leaves, and its head. Leaves where its lists come from to words.ts and merging.ts, its
// rows to segments.ts.
// S1  Terms come in the order of their keys, each once; leaves are written as soon as they are full.

import { ByteWriter } from "./byte-writer.ts"
import { type ByClass, writeList } from "./posting-list.ts"
import type { SegmentHead } from "./segment.ts"

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
