// Tail: the newest entries of the outbox, ready to be told.
// Owns keeping them within a bound. Leaves telling to the subscribers.
// T1  It holds every entry after `from` up to `end`, in order, and nothing else.

import type { EntryFrames } from "./frame.ts"

const MAX_ENTRIES = 4_096
const MAX_CHARS = 16_000_000

export class Tail {
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
  }

  add(entry: EntryFrames): void {
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
