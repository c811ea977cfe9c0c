// OldPages: pages of the outbox from before the tail, for streams that catch up.
// Owns reading each of them once for all who want it, how many are read at the same time, and keeping the last ones for a
// while. Leaves telling them to subscriber.ts.
// Q1  Whoever asks gets the entries right after its place, in order, and at least one where there is one.
// Q2  A page that is being read, or was read a moment ago, is not read again for a place inside it.
// Q3  At most MAX_READS pages are read at once, and none for those who have all left before its turn.
// Q4  What is kept is bounded, and nothing is kept long after the last question.

import type { OutboxRow } from "reverie"
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

interface Asked {
  readonly after: number
  /** Those who wait for it and have not left. */
  waiting: number
  readonly page: PromiseWithResolvers<Page | undefined>
}

const charsIn = ({ entries }: Page): number => entries.reduce((sum, { chars }) => sum + chars, 0)

const holds = ({ from, to }: Page, place: number): boolean => from <= place && place < to

export class OldPages {
  readonly #read: ReadOutbox
  readonly #asked = new Map<number, Asked>()
  /** Waiting for their turn, and no page being read covers them. */
  #line: Array<Asked> = []
  #reading = 0
  /** The newest last. */
  #kept: Array<Page> = []
  #chars = 0
  #forgetting: NodeJS.Timeout | undefined

  constructor(read: ReadOutbox) {
    this.#read = read
  }

  /** Undefined when nothing is after the place, or the asker has left. Rejects when the store does not answer. */
  async after(place: number, leaving: AbortSignal): Promise<Page | undefined> {
    if (leaving.aborted) return undefined
    const kept = this.#kept.find((page) => holds(page, place))
    if (kept !== undefined) return kept
    const asked = this.#asked.get(place) ?? this.#ask(place)
    asked.waiting++
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const leave = (): void => {
      asked.waiting--
      resolve(undefined)
    }
    leaving.addEventListener("abort", leave, { once: true })
    try {
      return await Promise.race([asked.page.promise, promise])
    } finally {
      leaving.removeEventListener("abort", leave)
    }
  }

  /** How many pages are kept, and how many are read or wait to be. */
  get size(): { readonly kept: number; readonly asked: number } {
    return { kept: this.#kept.length, asked: this.#asked.size }
  }

  close(): void {
    clearTimeout(this.#forgetting)
    this.#kept = []
    this.#chars = 0
  }

  #ask(after: number): Asked {
    const asked: Asked = { after, waiting: 0, page: Promise.withResolvers<Page | undefined>() }
    // Those who wait hear of a failure; when all of them have left, nobody does.
    asked.page.promise.catch(() => {})
    this.#asked.set(after, asked)
    this.#line.push(asked)
    this.#next()
    return asked
  }

  #next(): void {
    while (this.#reading < MAX_READS) {
      const asked = this.#line.shift()
      if (asked === undefined) return
      this.#reading++
      // Whoever has just asked is counted when this turn is over.
      void Promise.resolve()
        .then(() => this.#carryOut(asked))
        .finally(() => {
          this.#reading--
          this.#next()
        })
    }
  }

  async #carryOut(asked: Asked): Promise<void> {
    const { after, page } = asked
    try {
      // Another page may have brought it meanwhile.
      const kept = this.#kept.find((each) => holds(each, after))
      page.resolve(kept ?? (asked.waiting > 0 ? await this.#pageAfter(after) : undefined))
    } catch (error) {
      page.reject(error)
    } finally {
      this.#asked.delete(after)
    }
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
