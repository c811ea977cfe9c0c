// Tail: the newest entries of the outbox, ready to be told.
// Owns keeping them within a bound. Leaves telling to the subscribers.
// T1  It holds every entry after `from` up to `end`, in order, and nothing else.
// T2  What many receive at once is made into bytes once.

import type { OutboxRow } from "reverie"
import { type EntryFrames, framesOf } from "./frame.ts"
import { SharedReads } from "../views/shared-reads.ts"

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

  /** What a tenant receives after a position, up to the size of a write; undefined when that lies before what is kept. */
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

// OldPages: pages of the outbox from before the tail, for streams that catch up.
// Q1  A client gets the entries right after its place, in order, and at least one where there is one.
// Q2  A page that was read a moment ago is not read again for a place inside it.
// Q3  At most MAX_READS pages are read at once, and none for clients that have all left before its turn.
// Q4  What is kept is bounded, and nothing is kept long after the last question.

type ReadOutbox = (after: number, limit: number) => Promise<ReadonlyArray<OutboxRow>>

/** Entries right after a place. */
interface Page {
  /** They begin right after this place. */
  readonly from: number
  /** And end with this one. */
  readonly to: number
  readonly entries: ReadonlyArray<EntryFrames>
  /** All of it that a tenant receives, made once for all who receive it. */
  readonly bytesFor: (tenant: string) => Buffer
}

const pageOf = (from: number, entries: ReadonlyArray<EntryFrames>): Page => {
  const made = new Map<string, Buffer>()
  const bytesFor = (tenant: string): Buffer => {
    const known = made.get(tenant)
    if (known !== undefined) return known
    const own = entries.filter((entry) => entry.tenant === tenant)
    const bytes = Buffer.from(own.map(({ frames }) => frames.join("")).join(""))
    made.set(tenant, bytes)
    return bytes
  }
  return { from, to: entries.at(-1)?.seq ?? from, entries, bytesFor }
}

const LIMIT = 200
const MAX_READS = 2
const MAX_KEPT_CHARS = 8_000_000
const KEPT_MILLIS = 2_000

const charsIn = ({ entries }: Page): number => entries.reduce((sum, { chars }) => sum + chars, 0)

const holds = ({ from, to }: Page, place: number): boolean => from <= place && place < to

export class OldPages {
  readonly #read: ReadOutbox
  readonly #reads = new SharedReads<number, Page | undefined>(MAX_READS)
  /** The newest last. */
  #kept: Array<Page> = []
  #chars = 0
  #forgetting: NodeJS.Timeout | undefined

  constructor(read: ReadOutbox) {
    this.#read = read
  }

  /** Undefined when nothing is after the place, or the client has left. Rejects when the store does not answer. */
  async after(place: number, leaving: AbortSignal): Promise<Page | undefined> {
    if (leaving.aborted) return undefined
    // Another page may bring it while this one waits for its turn.
    const read = async () => this.#keptWith(place) ?? this.#pageAfter(place)
    return this.#keptWith(place) ?? this.#reads.ask(place, read, leaving)
  }

  /** How many pages are kept, and how many are read or wait to be. */
  get size(): { readonly kept: number; readonly asked: number } {
    return { kept: this.#kept.length, asked: this.#reads.size }
  }

  close(): void {
    clearTimeout(this.#forgetting)
    this.#kept = []
    this.#chars = 0
  }

  #keptWith(place: number): Page | undefined {
    return this.#kept.find((page) => holds(page, place))
  }

  async #pageAfter(after: number): Promise<Page | undefined> {
    const rows = await this.#read(after, LIMIT)
    if (rows.length === 0) return undefined
    const page = pageOf(after, rows.map(framesOf))
    this.#keep(page)
    return page
  }

  #keep(page: Page): void {
    this.#kept.push(page)
    this.#chars += charsIn(page)
    while (this.#chars > MAX_KEPT_CHARS) {
      const oldest = this.#kept.shift()
      if (oldest === undefined) break
      this.#chars -= charsIn(oldest)
    }
    clearTimeout(this.#forgetting)
    this.#forgetting = setTimeout(() => {
      this.#kept = []
      this.#chars = 0
    }, KEPT_MILLIS).unref()
  }
}
