// Tail: the newest entries of the outbox, ready to be told.
// Owns keeping them within a bound. Leaves telling to the subscribers.
// T1  It holds every entry after `from` up to `end`, in order, and nothing else.
// T2  What many are told at once is made into bytes once.

import type { EntryFrames } from "./frame.ts"

const MAX_ENTRIES = 4_096
const MAX_CHARS = 16_000_000

/** Frames of one tenant, ready to be sent to many. */
export interface Chunk {
  readonly bytes: Buffer
  /** How far it tells. */
  readonly end: number
}

/** Text for one write. */
export const CHUNK_CHARS = 65_536

export class Tail {
  /** Made since the last entry came: those who keep up all want the same. */
  readonly #chunks = new Map<string, Chunk>()
  #entries: Array<EntryFrames> = []
  /** Entries before this index were let go. */
  #first = 0
  #chars = 0
  #from = 0
  #end = 0

  get end(): number {
    return this.#end
  }

  /** Begins anew after a position. */
  reset(position: number): void {
    this.#entries = []
    this.#first = 0
    this.#chars = 0
    this.#from = position
    this.#end = position
    this.#chunks.clear()
  }

  add(entry: EntryFrames): void {
    this.#chunks.clear()
    this.#entries.push(entry)
    this.#chars += entry.chars
    this.#end = entry.seq
    while (this.#entries.length - this.#first > MAX_ENTRIES || this.#chars > MAX_CHARS) {
      const gone = this.#entries[this.#first]
      if (gone === undefined) break
      this.#first++
      this.#chars -= gone.chars
      this.#from = gone.seq
    }
    if (this.#first > MAX_ENTRIES) {
      this.#entries = this.#entries.slice(this.#first)
      this.#first = 0
    }
  }

  /** What a tenant is told after a position, up to the size of a write; undefined when that lies before what is kept. */
  chunkAfter(position: number, tenant: string): Chunk | undefined {
    const key = `${position} ${tenant}`
    const made = this.#chunks.get(key)
    if (made !== undefined) return made
    const entries = this.after(position)
    if (entries === undefined) return undefined
    let text = ""
    let end = position
    for (const entry of entries) {
      end = entry.seq
      if (entry.tenant === tenant) text += entry.frames.join("")
      if (text.length >= CHUNK_CHARS) break
    }
    const chunk = { bytes: Buffer.from(text), end }
    this.#chunks.set(key, chunk)
    return chunk
  }

  /** The entries after a position; undefined when it lies before what is kept. */
  after(position: number): Iterable<EntryFrames> | undefined {
    if (position < this.#from) return undefined
    let low = this.#first
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#entries[middle]?.seq ?? Infinity) <= position) low = middle + 1
      else high = middle
    }
    return this.#entries.slice(low)
  }
}
