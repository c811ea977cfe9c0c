// Housekeeping: the work that keeps an index small and quick, a little at a time.
// Owns what is to be done next: leaves of segments out of use, segments to be merged. Leaves the work to merging.ts.
// H1  Segments come in levels: four of a level become one of the next, so that there are few of them however long an
//     assistant has lived, and each entry is written anew a few times in its life.
// H2  Each step is small; who tells the index something does as many as that makes necessary.
// H3  A merge is of this process: what it has made so far when the process ends is dropped, and it begins again.
// H4  What is out of use is dropped as fast as it comes to be: an index that was made anew at once leaves nothing behind
//     that later events pay for.

import type { DatabaseSync } from "node:sqlite"
import { type IsAlive, Merge } from "./merging.ts"
import { MAX_DOCS } from "./segment.ts"
import type { SegmentRow, Segments } from "./segments.ts"
import { query } from "../sql.ts"

const SEGMENTS_A_LEVEL = 4
/** A segment of which so much is dead is made anew. */
const DEAD_SHARE = 0.5

/**
 * To drop a leaf is as much work as so many entries of lists. Over its life an entry leaves less than half a leaf behind: what
 * is dropped for each that is told is more than that, so that nothing piles up, and never much at once.
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

export class Housekeeping {
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
