// Tail: the entries of each group that were told last and are in no segment yet.
// Owns their rows, of which each has some entries, and what of them a transaction has changed. Leaves what becomes a segment,
// and when, to words.ts.
// T1  Every entry of the tail was told after every entry of a segment of its group.
// T2  What a transaction changes is written when it settles, each row once: what is new is often reported anew at once.
// T3  A row that has SMALL entries gets no more: to report one anew costs little beside the whole tail.

import type { DatabaseSync } from "node:sqlite"
import { change, query } from "../connection.ts"
import { aligned } from "./segment.ts"
import type { Doc } from "./segments.ts"

const BYTES_EACH = 8 + 8 + 8 + 4 + 4 + 1

/** Entries of one row: columns of numbers, and then the terms of all. */
const packed = (docs: ReadonlyArray<Doc>): Uint8Array => {
  const count = docs.length
  const bytes = new Uint8Array(docs.reduce((sum, { terms }) => sum + terms.length, BYTES_EACH * count))
  const doubles = new Float64Array(bytes.buffer, 0, 3 * count)
  const words = new Uint32Array(bytes.buffer, 24 * count, 2 * count)
  let end = BYTES_EACH * count
  for (const [index, { at, doc, kind, row, terms, trust }] of docs.entries()) {
    doubles[index] = doc
    doubles[count + index] = at
    doubles[2 * count + index] = trust
    words[index] = row
    bytes.set(terms, end)
    end += terms.length
    words[count + index] = end
    bytes[32 * count + index] = kind
  }
  return bytes
}

const unpacked = (body: Uint8Array, count: number): ReadonlyArray<Doc> => {
  const bytes = aligned(body)
  const doubles = new Float64Array(bytes.buffer, bytes.byteOffset, 3 * count)
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + 24 * count, 2 * count)
  let from = BYTES_EACH * count
  return Array.from({ length: count }, (_, index): Doc => {
    const end = words[count + index] ?? from
    const terms = bytes.subarray(from, end)
    from = end
    return {
      doc: doubles[index] ?? 0,
      row: words[index] ?? 0,
      kind: bytes[32 * count + index] ?? 0,
      at: doubles[count + index] ?? 0,
      trust: doubles[2 * count + index] ?? 0,
      terms
    }
  })
}

/** A row is added to as long as it has fewer entries. */
const SMALL = 16

interface TailRow {
  readonly first: number
  readonly docs: number
  readonly body: Uint8Array
}

const columns = "grp, first, docs, body"

const rowsIn = (database: DatabaseSync) => ({
  all: query<TailRow>(database, `SELECT ${columns} FROM tail WHERE grp = ? ORDER BY first`),
  having: query<TailRow>(
    database,
    `SELECT ${columns} FROM tail WHERE grp = ? AND first <= ? ORDER BY first DESC LIMIT 1`
  ),
  newest: query<TailRow>(
    database,
    `SELECT ${columns} FROM tail WHERE grp = ? AND docs < ${SMALL} AND first = (SELECT max(first) FROM tail WHERE grp = ?)`
  ),
  count: query<{ readonly count: number }>(database, "SELECT total(docs) AS count FROM tail WHERE grp = ?"),
  write: change(database, "INSERT OR REPLACE INTO tail (grp, first, docs, body) VALUES (?, ?, ?, ?)"),
  drop: change(database, "DELETE FROM tail WHERE grp = ? AND first = ?"),
  dropAll: change(database, "DELETE FROM tail WHERE grp = ?")
})

/** What a transaction has changed of the tail of a group. */
interface Changed {
  /** The rows that lost entries, by the first entry that each began with. */
  readonly rows: Map<number, ReadonlyArray<Doc>>
  readonly added: Array<Doc>
}

export class Tail {
  readonly #rows: ReturnType<typeof rowsIn>
  readonly #changed = new Map<number, Changed>()

  constructor(database: DatabaseSync) {
    this.#rows = rowsIn(database)
  }

  add(grp: number, doc: Doc): void {
    this.#of(grp).added.push(doc)
  }

  /** False when it was not there. */
  remove(grp: number, doc: number): boolean {
    const { added, rows } = this.#of(grp)
    const place = added.findIndex((each) => each.doc === doc)
    if (place >= 0) {
      added.splice(place, 1)
      return true
    }
    const row = this.#rows.having.one(grp, doc)
    if (row === undefined) return false
    const docs = rows.get(row.first) ?? unpacked(row.body, row.docs)
    const left = docs.filter((each) => each.doc !== doc)
    if (left.length === docs.length) return false
    rows.set(row.first, left)
    return true
  }

  /** As they are written, the oldest first. */
  of(grp: number): ReadonlyArray<Doc> {
    return this.#rows.all.all(grp).flatMap(({ body, docs }) => unpacked(body, docs))
  }

  /** Writes what a transaction has changed. Of a tail that has so many entries, `take` says which stay. */
  settle(most: number, take: (grp: number, docs: ReadonlyArray<Doc>) => ReadonlyArray<Doc>): void {
    for (const [grp, { added, rows }] of this.#changed) {
      for (const [first, docs] of rows) {
        if (docs.length === 0) this.#rows.drop(grp, first)
        else this.#rows.write(grp, first, docs.length, packed(docs))
      }
      if (added.length === 0) continue
      const written = this.#rows.count.one(grp)?.count ?? 0
      if (written + added.length < most) this.#append(grp, added)
      else {
        const left = take(grp, [...this.of(grp), ...added])
        this.#rows.dropAll(grp)
        this.#write(grp, left)
      }
    }
    this.#changed.clear()
  }

  /** A transaction came to nothing. */
  forget(): void {
    this.#changed.clear()
  }

  #append(grp: number, added: ReadonlyArray<Doc>): void {
    const newest = this.#rows.newest.one(grp, grp)
    if (newest === undefined) return this.#write(grp, added)
    const docs = [...unpacked(newest.body, newest.docs), ...added]
    this.#rows.write(grp, newest.first, docs.length, packed(docs))
  }

  #write(grp: number, docs: ReadonlyArray<Doc>): void {
    const [first] = docs
    if (first !== undefined) this.#rows.write(grp, first.doc, docs.length, packed(docs))
  }

  #of(grp: number): Changed {
    const known = this.#changed.get(grp)
    if (known !== undefined) return known
    const changed: Changed = { rows: new Map(), added: [] }
    this.#changed.set(grp, changed)
    return changed
  }
}
