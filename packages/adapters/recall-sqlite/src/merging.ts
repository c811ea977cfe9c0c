// Merging: segments of a group made into one, step by step.
// Owns one merge from its first step to its last. Leaves which segments, and how much at a time, to housekeeping.ts.
// M1  Until the last step the old segments are in use as they are; with it the new one takes their place, at once.
// M2  What was dead when it began is in the new one no more; what dies meanwhile is dead in the new one too.
// M3  A step does about as much as it was told to, however large the segments are.
// M4  A merge whose segments somebody else has merged comes to nothing.

import { ByteReader, ByteWriter, writeRun } from "./posting-list.ts"
import { type DocColumns, SegmentWriter } from "./segment-writer.ts"
import { listPlace, type SegmentHead } from "./segment.ts"
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
  readonly #list = new ByteWriter()
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
    const { key, write } = segments.begun()
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

  #listOf(source: Source): ByteReader {
    const { end, from, leaf } = listPlace(source.head, source.place)
    if (source.leaf?.number !== leaf) {
      source.leaf = { number: leaf, body: this.#segments.leaf(source.row.key, leaf) }
    }
    return new ByteReader(source.leaf.body, from, end)
  }

  /** Merges the lists of the next term; answers how many entries they had, 0 when there is no more term. */
  #mergeTerm(): number {
    let key = Infinity
    for (const { head, place } of this.#sources) key = Math.min(key, head.keys[place] ?? Infinity)
    if (key === Infinity) return 0
    const having = this.#sources.filter(({ head, place }) => head.keys[place] === key)
    const lists = having.map((source) => new RunReader(this.#listOf(source), source.numbers))
    this.#list.clear()
    let count = 0
    while (true) {
      const weightClass = Math.max(...lists.map((list) => list.weightClass))
      if (weightClass < 0) break
      const numbers = lists.flatMap((list) => (list.weightClass === weightClass ? list.run() : []))
      if (numbers.length > 0) writeRun(this.#list, weightClass, numbers)
      count += numbers.length
    }
    if (count > 0) this.#writer.add(key, count, this.#list)
    let work = 1
    for (const source of having) work += source.head.counts[source.place++] ?? 0
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

/** The runs of a list, one after the other, with the numbers that entries have in the new segment. */
class RunReader {
  readonly #list: ByteReader
  readonly #numbers: Int32Array
  /** Of the run that is read next; -1 when there is none. */
  weightClass = -1

  constructor(list: ByteReader, numbers: Int32Array) {
    this.#list = list
    this.#numbers = numbers
    this.#open()
  }

  run(): Array<number> {
    const kept: Array<number> = []
    let number = 0
    for (let left = this.#list.number(); left > 0; left--) {
      number += this.#list.number()
      const renumbered = this.#numbers[number] ?? GONE
      if (renumbered !== GONE) kept.push(renumbered)
    }
    this.#open()
    return kept
  }

  #open(): void {
    this.weightClass = this.#list.isOver ? -1 : this.#list.byte()
  }
}
