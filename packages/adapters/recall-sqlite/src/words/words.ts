// Words: what the index keeps so that entries are found by their words.
// Owns putting an entry under a number of its own for each group that may read it, and taking it away. Leaves
// segments to segments.ts, what is in none yet to tail.ts, and searching to word-search.ts.
// W1  An entry has a new number whenever it is reported anew, so what stands under an old one is dead, wherever it still stands.
// W2  An entry is found by its words as soon as it was told.
// W3  Telling it something costs as much for an old assistant as for a young one.

import type { DatabaseSync } from "node:sqlite"
import { type Doc, docTerms, eachTerm, kindNumber, segmentQueries, type SegmentRow, type Segments } from "./segments.ts"
import { query } from "../connection.ts"
import { type DocColumns, MAX_DOCS, SegmentWriter } from "./segment.ts"
import type { Kept } from "../entries/row.ts"
import { Tail } from "./tail.ts"
import { type IsAlive, Merge } from "./merging.ts"

// Housekeeping: the work that keeps an index small and quick, a little at a time.
// H1  Segments come in levels: four of a level become one of the next, so that there are few of them however long an
//     assistant has lived, and each entry is written anew a few times in its life.
// H2  Each step is small; who tells the index something does as many as that makes necessary.
// H3  A merge is of this process: what it has made so far when the process ends is dropped, and it begins again.
// H4  What is out of use is dropped as fast as it comes to be: an index that was made anew at once leaves nothing behind
//     that later events pay for.

const SEGMENTS_A_LEVEL = 4
/** A segment of which so much is dead is made anew. */
const DEAD_SHARE = 0.5

/**
 * To drop a leaf is as much work as so many entries of lists. Over its life an entry leaves less than half a leaf behind: what
 * is dropped for each that is reported is more than that, so that nothing piles up, and never much at once.
 */
const WORK_A_LEAF = 512

/** What is to be merged of the segments of a group; nothing when they are as they should be. */
const mergeable = (rows: ReadonlyArray<SegmentRow>): ReadonlyArray<SegmentRow> => {
  for (const [, level] of Map.groupBy(rows, (row) => row.level)) {
    const oldest = level.slice(0, SEGMENTS_A_LEVEL)
    const docs = oldest.reduce((sum, row) => sum + row.docs - row.dead, 0)
    if (oldest.length === SEGMENTS_A_LEVEL && docs <= MAX_DOCS) return oldest
  }
  return rows.filter(({ dead, docs }) => dead > DEAD_SHARE * docs).slice(0, 1)
}

class Housekeeping {
  readonly #segments: Segments
  readonly #isAlive: IsAlive
  /** Groups whose segments have changed since they were last looked at. */
  readonly #unsettled = new Set<number>()
  #merge: Merge | undefined

  constructor(database: DatabaseSync, segments: Segments) {
    this.#segments = segments
    const present = query<{ readonly doc: number }>(database, "SELECT doc FROM entries WHERE key = ?")
    this.#isAlive = (row, doc) => present.one(row)?.doc === doc
    const groups = query<{ readonly grp: number }>(database, "SELECT DISTINCT grp FROM segments")
    for (const { grp } of groups.all()) this.#unsettled.add(grp)
  }

  /** To be told when a group has another segment, or more dead entries. */
  note(grp: number): void {
    this.#unsettled.add(grp)
  }

  /** What was done in a transaction that came to nothing was not done. */
  forget(): void {
    if (this.#merge !== undefined) this.#unsettled.add(this.#merge.grp)
    this.#merge = undefined
  }

  /** Does so much of what is to be done. */
  work(work: number): void {
    this.#drop(Math.ceil(work / WORK_A_LEAF))
    this.#merge ??= this.#next()
    if (this.#merge?.step(work) === true) {
      this.#unsettled.add(this.#merge.grp)
      this.#merge = undefined
    }
  }

  /** Drops all of a group, some at a time; false when nothing was left. A merge of it is broken off. */
  dropSome(grp: number): boolean {
    if (this.#merge?.grp === grp) this.#merge = undefined
    for (const { key } of this.#segments.ofGroup(grp)) this.#segments.retire(key)
    return this.#segments.dropUnused(this.#merge?.segment) > 0
  }

  /** Makes segments of a group anew that have dead entries, some at a time; false when there are none. */
  purgeSome(grp: number, work: number): boolean {
    if (this.#merge !== undefined && this.#merge.grp !== grp) this.forget()
    const dead = this.#segments.ofGroup(grp).find((row) => row.dead > 0)
    if (this.#merge === undefined && dead === undefined) return this.#segments.dropUnused() > 0
    this.#merge ??= dead === undefined ? undefined : new Merge(this.#segments, [dead], this.#isAlive)
    if (this.#merge?.step(work) === true) this.#merge = undefined
    return true
  }

  /** Drops so many leaves that are out of use. */
  #drop(leaves: number): void {
    let left = leaves
    while (left > 0) {
      const dropped = this.#segments.dropUnused(this.#merge?.segment, left)
      if (dropped === 0) return
      left -= dropped
    }
  }

  #next(): Merge | undefined {
    for (const grp of this.#unsettled) {
      const rows = mergeable(this.#segments.ofGroup(grp))
      if (rows.length > 0) return new Merge(this.#segments, rows, this.#isAlive)
      this.#unsettled.delete(grp)
    }
    return undefined
  }
}

// Flushing: the oldest entries of a tail, made into a segment.
// B1  It is a bounded piece of work, however long the assistant has lived.

const columnsOf = (docs: ReadonlyArray<Doc>): DocColumns => {
  const { length } = docs
  const columns: DocColumns = {
    docs: new Float64Array(length),
    rows: new Uint32Array(length),
    kinds: new Uint8Array(length),
    ats: new Float64Array(length),
    trusts: new Float64Array(length)
  }
  // `from` of a typed array goes by iterators, once for each column.
  for (const [index, { at, doc, kind, row, trust }] of docs.entries()) {
    columns.docs[index] = doc
    columns.rows[index] = row
    columns.kinds[index] = kind
    columns.ats[index] = at
    columns.trusts[index] = trust
  }
  return columns
}

interface Posting {
  readonly byClass: Array<Array<number>>
  count: number
}

const postingsOf = (docs: ReadonlyArray<Doc>): ReadonlyMap<number, Posting> => {
  const postings = new Map<number, Posting>()
  for (const [number, { terms }] of docs.entries()) {
    eachTerm(terms, (key, weightClass) => {
      const known = postings.get(key)
      const { byClass } = known ?? { byClass: [] }
      const same = byClass[weightClass]
      if (same === undefined) byClass[weightClass] = [number]
      else same.push(number)
      if (known === undefined) postings.set(key, { byClass, count: 1 })
      else known.count++
    })
  }
  return postings
}

/** Makes a segment of entries, which are in the order in which they were told. */
export const flush = (segments: Segments, grp: number, docs: ReadonlyArray<Doc>): void => {
  const { key: segment, write } = segments.begun(grp)
  const writer = new SegmentWriter(write)
  const postings = postingsOf(docs)
  for (const key of Float64Array.from(postings.keys()).toSorted()) {
    const { byClass, count } = postings.get(key) ?? { byClass: [], count: 0 }
    writer.add(key, count, byClass, docs.length)
  }
  const columns = columnsOf(docs)
  segments.file(segment, { grp, level: 0, dead: 0 }, writer.head(columns), columns)
}

export interface Sizes {
  /** So many entries become a segment. */
  readonly flushed: number
  /** A tail keeps some besides: what was told last is often told again. */
  readonly kept: number
  /** Work on segments for each entry that is reported, in entries of lists. */
  readonly work: number
  /** Most entries of lists that are read for a question. */
  readonly read: number
}

/** Over its life an entry is written anew some six times, with some seventy terms. Reading takes less than a millisecond. */
const SIZES: Sizes = { flushed: 64, kept: 16, work: 1_024, read: 32_768 }

/** Numbers for entries that are taken from the store at once. */
const NUMBERS_TAKEN = 64

const numbersOf = (database: DatabaseSync) => {
  const take = query<{ readonly doc: number }>(
    database,
    `UPDATE counters SET doc = doc + ${NUMBERS_TAKEN} RETURNING doc - ${NUMBERS_TAKEN} AS doc`
  )
  let given = 0
  let left = 0
  return {
    /** A number higher than every one given before; some are never given. */
    next: (): number => {
      if (left === 0) {
        given = take.one()?.doc ?? 0
        left = NUMBERS_TAKEN
      }
      left--
      return ++given
    },
    /** The transaction that took the numbers may have come to nothing. */
    forget: (): void => {
      left = 0
    }
  }
}

export const wordsOf = (database: DatabaseSync, { flushed, kept, read, work }: Sizes = SIZES) => {
  const tail = new Tail(database)
  const segments = segmentQueries(database)
  const housekeeping = new Housekeeping(database, segments)
  const numbers = numbersOf(database)
  let put = 0

  /** The oldest of a tail become segments; answers those that stay. */
  const flushOldest = (grp: number, docs: ReadonlyArray<Doc>): ReadonlyArray<Doc> => {
    let from = 0
    for (; docs.length - from >= flushed + kept; from += flushed) flush(segments, grp, docs.slice(from, from + flushed))
    housekeeping.note(grp)
    return docs.slice(from)
  }
  const save = (): void => tail.settle(flushed + kept, flushOldest)

  return {
    read,
    tail,
    segments,
    housekeeping,
    nextDoc: numbers.next,
    /** Puts an entry for groups, under its number and the key of its row. */
    put: (groups: ReadonlyArray<number>, number: number, row: number, { entry, facts }: Kept): void => {
      const terms = docTerms(entry, facts)
      const doc: Doc = { doc: number, row, kind: kindNumber(entry), at: entry.at, trust: entry.trust, terms }
      for (const group of groups) tail.add(group, doc)
      put++
    },
    /** Takes a number away from groups. */
    remove: (groups: ReadonlyArray<number>, doc: number): void => {
      for (const group of groups) {
        if (!tail.remove(group, doc) && segments.die(group, doc)) housekeeping.note(group)
      }
    },
    /** To be called at the end of a transaction that only takes away. */
    save,
    /** To be called at the end of a transaction that puts. */
    settle: (): void => {
      save()
      housekeeping.work(put * work)
      put = 0
    },
    /** A transaction came to nothing. */
    forget: (): void => {
      tail.forget()
      put = 0
      numbers.forget()
      segments.forget()
      housekeeping.forget()
    }
  }
}

export type Words = ReturnType<typeof wordsOf>
