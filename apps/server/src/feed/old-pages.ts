// OldPages: pages of the outbox from before the tail, for streams that catch up.
// Owns keeping the last pages for a while, so that many streams use one reading. Leaves sharing a reading to shared-reads.ts,
// telling pages to subscriber.ts.
// Q1  A client gets the entries right after its place, in order, and at least one where there is one.
// Q2  A page that was read a moment ago is not read again for a place inside it.
// Q3  At most MAX_READS pages are read at once, and none for clients that have all left before its turn.
// Q4  What is kept is bounded, and nothing is kept long after the last question.

import type { OutboxRow } from "reverie"
import { SharedReads } from "../views/shared-reads.ts"
import { type EntryFrames, framesOf } from "./frame.ts"

export type ReadOutbox = (after: number, limit: number) => Promise<ReadonlyArray<OutboxRow>>

/** Entries right after a place. */
export interface Page {
  /** They begin right after this place. */
  readonly from: number
  /** And end with this one. */
  readonly to: number
  readonly entries: ReadonlyArray<EntryFrames>
  /** All of it that a tenant is told, made once for all who are told it. */
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
