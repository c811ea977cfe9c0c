// Merging: segments of a group made into one, step by step.
// Owns one merge from its first step to its last. Leaves which segments, and how much at a time, to words.ts.
// M1  Until the last step the old segments are in use as they are; with it the new one takes their place, at once.
// M2  What was dead when it began is in the new one no more; what dies meanwhile is dead in the new one too.
// M3  A step does about as much as it was told to, however large the segments are.
// M4  A merge whose segments someone else has merged comes to nothing.

import { eachEntry, type List } from "./posting-list.ts"
import { type DocColumns, isOfMany, listPlace, type SegmentHead, SegmentWriter } from "./segment.ts"
import type { Bounds, SegmentRow, Segments } from "./segments.ts"

/** In the place of an entry that is dead. */
const GONE = -1

interface Source {
  readonly row: SegmentRow
  readonly head: SegmentHead
  /** The number of each entry in the new segment. */
  readonly numbers: Int32Array
  /** The term that is merged next. */
  place: number
  /** The leaf that was read last. */
  leaf: { readonly number: number; readonly body: Uint8Array } | undefined
  /** As long as its entries are looked at. */
  bounds: Bounds | undefined
}

/** The entries that are looked up in one piece, and how much more work each is than one entry of a list. */
const DOCS_A_STEP = 256
const WORK_A_DOC = 16

/** Whether a row is there, and its words are still those that are kept under a number. */
export type IsAlive = (row: number, doc: number) => boolean

interface Kept {
  readonly docs: Array<number>
  readonly rows: Array<number>
  readonly kinds: Array<number>
  readonly ats: Array<number>
  readonly trusts: Array<number>
}

export class Merge {
  readonly grp: number
  readonly segment: number
  readonly #segments: Segments
  readonly #sources: ReadonlyArray<Source>
  readonly #writer: SegmentWriter
  readonly #isAlive: IsAlive
  readonly #kept: Kept = { docs: [], rows: [], kinds: [], ats: [], trusts: [] }
  /** The entry that is looked at next: of which source, and its number there. */
  #next = { source: 0, number: 0 }

  constructor(segments: Segments, rows: ReadonlyArray<SegmentRow>, isAlive: IsAlive) {
    this.#segments = segments
    this.grp = rows[0]?.grp ?? 0
    this.#isAlive = isAlive
    this.#sources = rows.map((row) => ({
      row,
      head: segments.head(row.key),
      numbers: new Int32Array(row.docs).fill(GONE),
      place: 0,
      leaf: undefined,
      bounds: undefined
    }))
    const { key, write } = segments.begun(this.grp)
    this.segment = key
    this.#writer = new SegmentWriter(write)
  }

  /** Does so much of it, in entries of lists; true when it is done. */
  step(work: number): boolean {
    if (!this.#sources.every(({ row }) => this.#segments.isInUse(row.key))) return true
    let left = work
    while (left > 0) {
      if (this.#next.source < this.#sources.length) left -= this.#number()
      else {
        const done = this.#mergeTerm()
        if (done === 0) {
          this.#finish()
          return true
        }
        left -= done
      }
    }
    return false
  }

  /** Gives some entries their numbers in the new segment. */
  #number(): number {
    const source = this.#sources[this.#next.source]
    if (source === undefined) return 1
    const { head, numbers, row } = source
    const begin = this.#next.number
    const end = Math.min(row.docs, begin + DOCS_A_STEP)
    source.bounds ??= this.#segments.bounds(row)
    const { ats, trusts } = source.bounds
    for (let number = begin; number < end; number++) {
      const doc = row.first + (head.docs[number] ?? 0)
      const entry = head.rows[number] ?? 0
      if (!this.#isAlive(entry, doc)) continue
      numbers[number] = this.#kept.docs.length
      this.#kept.docs.push(doc)
      this.#kept.rows.push(entry)
      this.#kept.kinds.push(head.kinds[number] ?? 0)
      this.#kept.ats.push(ats[number] ?? 0)
      this.#kept.trusts.push(trusts[number] ?? 0)
    }
    if (end < row.docs) this.#next.number = end
    else {
      source.bounds = undefined
      this.#next = { source: this.#next.source + 1, number: 0 }
    }
    return (end - begin) * WORK_A_DOC
  }

  #listOf(source: Source): List {
    const { end, from, leaf } = listPlace(source.head, source.place)
    if (source.leaf?.number !== leaf) {
      source.leaf = { number: leaf, body: this.#segments.leafOnce(source.row.key, leaf) }
    }
    return { bytes: source.leaf.body, from, end }
  }

  /** Merges the lists of the next term; answers how much work that was, 0 when there is no more term. */
  #mergeTerm(): number {
    let key = Infinity
    for (const { head, place } of this.#sources) key = Math.min(key, head.keys[place] ?? Infinity)
    if (key === Infinity) return 0
    const byClass: Array<Array<number>> = []
    let count = 0
    let work = 1
    for (const source of this.#sources) {
      const { head, numbers, place } = source
      if (head.keys[place] !== key) continue
      eachEntry(this.#listOf(source), isOfMany(head, place), (number, weightClass) => {
        const renumbered = numbers[number] ?? GONE
        if (renumbered === GONE) return
        count++
        const same = byClass[weightClass]
        if (same === undefined) byClass[weightClass] = [renumbered]
        else same.push(renumbered)
      })
      work += head.counts[place] ?? 0
      source.place++
    }
    if (count > 0) this.#writer.add(key, count, byClass, this.#kept.docs.length)
    return work
  }

  #finish(): void {
    const { ats, docs, kinds, rows, trusts } = this.#kept
    const columns: DocColumns = {
      docs: Float64Array.from(docs),
      rows: Uint32Array.from(rows),
      kinds: Uint8Array.from(kinds),
      ats: Float64Array.from(ats),
      trusts: Float64Array.from(trusts)
    }
    const present = new Map(this.#segments.ofGroup(this.grp).map((row) => [row.key, row]))
    const died = this.#sources.reduce((sum, { row }) => sum + (present.get(row.key)?.dead ?? row.dead) - row.dead, 0)
    const level = Math.max(...this.#sources.map(({ row }) => row.level)) + (this.#sources.length > 1 ? 1 : 0)
    const head = this.#writer.head(columns)
    const isFiled =
      docs.length === 0 || this.#segments.file(this.segment, { grp: this.grp, level, dead: died }, head, columns)
    if (isFiled) for (const { row } of this.#sources) this.#segments.retire(row.key)
  }
}
