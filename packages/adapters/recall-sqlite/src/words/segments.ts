// Segments: the rows of segments.
// Owns keeping, finding and dropping them, and what of them stays in memory. Leaves their bytes to segment.ts and leaf.ts.
// R1  A segment is in use from the transaction that files it on, whole; leaves without one are of a merge that was broken
//     off, and are dropped when the file is opened.
// R2  The entries of the segments of a group do not overlap: each segment has those told between its first and its last.
// R3  What stays in memory is bounded, however many assistants there are.

import type { DatabaseSync } from "node:sqlite"
import {
  type AttachedFact,
  classOf,
  conditionKeys,
  fieldsOf,
  type MemoryEntry,
  memoryKinds,
  termKey,
  termWeights
} from "@reverie/memory"
import { aligned, type DocColumns, headBytes, readHead, type SegmentHead, writeHead } from "./segment.ts"
import { change, changing, query } from "../connection.ts"

// ByteCache: what was read of the file and never changes, in memory.
// C1  What is kept has a bound in bytes, no matter who asks for how much; what was not asked for the longest goes first.

class ByteCache<A> {
  readonly #most: number
  readonly #bytesOf: (value: A) => number
  /** What was asked for last stands last. */
  readonly #kept = new Map<number, A>()
  #bytes = 0

  constructor(most: number, bytesOf: (value: A) => number) {
    this.#most = most
    this.#bytesOf = bytesOf
  }

  get(key: number, read: () => A): A {
    const known = this.#kept.get(key)
    const value = known ?? read()
    this.#kept.delete(key)
    this.#kept.set(key, value)
    if (known === undefined) this.#grow(value)
    return value
  }

  drop(key: number): void {
    const value = this.#kept.get(key)
    if (value === undefined) return
    this.#bytes -= this.#bytesOf(value)
    this.#kept.delete(key)
  }

  clear(): void {
    this.#kept.clear()
    this.#bytes = 0
  }

  #grow(value: A): void {
    this.#bytes += this.#bytesOf(value)
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#most) return
      this.drop(oldest)
    }
  }
}

/** Leaves of one segment have keys in a row; none has so many. */
const MOST_LEAVES = 1_048_576
/** Of heads, and of leaves, in memory: the words of an assistant that was told 100,000 messages. Small memories take little. */
const MAX_HEAD_BYTES = 16 * 1024 * 1024
const MAX_LEAF_BYTES = 64 * 1024 * 1024
/** Leaves that are dropped in one step. */
const DROPPED_LEAVES = 64
/** The key of none: their keys begin with 1. */
const NO_SEGMENT = 0

export interface SegmentRow {
  readonly key: number
  readonly grp: number
  readonly level: number
  readonly docs: number
  readonly dead: number
  readonly first: number
  readonly last: number
  readonly minAt: number
  readonly maxAt: number
  readonly minTrust: number
}

const columns = "key, grp, level, docs, dead, first, last, min_at AS minAt, max_at AS maxAt, min_trust AS minTrust"

export interface Bounds {
  readonly ats: Float64Array
  readonly trusts: Float64Array
}

const bytesOf = ({ buffer, byteLength, byteOffset }: Float64Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

const least = (values: Float64Array): number => values.reduce((min, value) => Math.min(min, value), Infinity)

const reading = (database: DatabaseSync) => {
  const ofGroup = query<SegmentRow>(database, `SELECT ${columns} FROM segments WHERE grp = ? ORDER BY first`)
  const head = query<{ readonly head: Uint8Array }>(database, "SELECT key, grp, head FROM segments WHERE key = ?")
  const bounds = query<{ readonly body: Uint8Array }>(database, "SELECT body FROM bounds WHERE segment = ?")
  const leaf = query<{ readonly body: Uint8Array }>(database, "SELECT key, grp, body FROM leaves WHERE key = ?")
  const readLeaf = (key: number, number: number): Uint8Array => {
    const row = leaf.one(key * MOST_LEAVES + number)
    if (row === undefined) throw new Error(`segment ${key} has no leaf ${number}`)
    return row.body
  }
  const heads = new ByteCache(MAX_HEAD_BYTES, headBytes)
  const leaves = new ByteCache(MAX_LEAF_BYTES, ({ length }: Uint8Array) => length)
  return {
    /** What was read in a transaction that came to nothing may never come to be. */
    forget: (): void => {
      heads.clear()
      leaves.clear()
    },
    /** In the order in which their entries were told. */
    ofGroup: (grp: number): ReadonlyArray<SegmentRow> => ofGroup.all(grp),
    head: (key: number): SegmentHead =>
      heads.get(key, () => {
        const row = head.one(key)
        if (row === undefined) throw new Error(`there is no segment ${key}`)
        return readHead(row.head)
      }),
    bounds: ({ docs, key }: Pick<SegmentRow, "docs" | "key">): Bounds => {
      const row = bounds.one(key)
      if (row === undefined) throw new Error(`segment ${key} has no bounds`)
      const { buffer, byteOffset } = aligned(row.body)
      return {
        ats: new Float64Array(buffer, byteOffset, docs),
        trusts: new Float64Array(buffer, byteOffset + 8 * docs, docs)
      }
    },
    leaf: (key: number, number: number): Uint8Array =>
      leaves.get(key * MOST_LEAVES + number, () => readLeaf(key, number)),
    /** Without keeping it in memory: for who reads a segment through once. */
    leafOnce: readLeaf
  }
}

/** Segments that are out of use or were never finished, and their leaves. */
const dropping = (database: DatabaseSync) => {
  const finish = changing(database, "DELETE FROM unfinished WHERE segment = ?")
  const unfinished = query<{ readonly segment: number }>(
    database,
    "SELECT segment FROM unfinished WHERE segment <> ? LIMIT 1"
  )
  const dropLeaves = changing(
    database,
    "DELETE FROM leaves WHERE key IN (SELECT key FROM leaves WHERE key >= ? AND key < ? LIMIT ?)"
  )
  return {
    finish,
    /**
     * Drops at most so many leaves of a segment that is out of use or was never finished. Answers how much work that was,
     * in leaves, and 0 when there is nothing left. `but` is being made.
     */
    dropUnused: (but: number = NO_SEGMENT, most: number = DROPPED_LEAVES): number => {
      const unused = unfinished.one(but)
      if (unused === undefined) return 0
      const { segment } = unused
      const dropped = dropLeaves(segment * MOST_LEAVES, (segment + 1) * MOST_LEAVES, most)
      if (dropped < most) finish(segment)
      return Math.max(1, dropped)
    }
  }
}

export const segmentQueries = (database: DatabaseSync) => {
  const read = reading(database)
  const nextKey = query<{ readonly segment: number }>(
    database,
    "UPDATE counters SET segment = segment + 1 RETURNING segment"
  )
  const insertLeaf = change(database, "INSERT INTO leaves (key, grp, body) VALUES (?, ?, ?)")
  const insert = change(
    database,
    `INSERT INTO segments (key, grp, level, docs, dead, first, last, min_at, max_at, min_trust, head)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
  )
  const insertBounds = change(database, "INSERT INTO bounds (segment, body) VALUES (?, ?)")
  const die = changing(database, "UPDATE segments SET dead = dead + 1 WHERE grp = ? AND first <= ? AND last >= ?")
  const begin = change(database, "INSERT INTO unfinished (segment) VALUES (?)")
  const { dropUnused, finish } = dropping(database)
  const inUse = query<{ readonly key: number }>(database, "SELECT key FROM segments WHERE key = ?")
  const drop = change(database, "DELETE FROM segments WHERE key = ?")
  const dropBounds = change(database, "DELETE FROM bounds WHERE segment = ?")

  return {
    ...read,
    /** The key of a segment that is being made for a group, and how its leaves are kept. */
    begun: (grp: number) => {
      const key = nextKey.one()?.segment ?? 0
      begin(key)
      return {
        key,
        write: (number: number, body: Uint8Array) => void insertLeaf(key * MOST_LEAVES + number, grp, body)
      }
    },
    isInUse: (key: number): boolean => inUse.one(key) !== undefined,
    /** Takes a segment into use; false when its leaves have been dropped by someone else. */
    file: (key: number, { dead, grp, level }: Filed, head: SegmentHead, { ats, docs, trusts }: DocColumns): boolean => {
      if (finish(key) === 0) return false
      const [first = 0, last = 0] = [docs[0], docs.at(-1)]
      const maxAt = -least(ats.map((at) => -at))
      insert(key, grp, level, docs.length, dead, first, last, least(ats), maxAt, least(trusts), writeHead(head))
      const body = new Uint8Array(16 * docs.length)
      body.set(bytesOf(ats))
      body.set(bytesOf(trusts), 8 * docs.length)
      insertBounds(key, body)
      return true
    },
    /** An entry is no more; false when no segment of the group has it. */
    die: (grp: number, doc: number): boolean => die(grp, doc, doc) > 0,
    /** Takes a segment out of use. Its leaves are dropped by `drop`, step by step. */
    retire: (key: number): void => {
      drop(key)
      dropBounds(key)
      begin(key)
    },
    dropUnused
  }
}

export interface Filed {
  readonly grp: number
  readonly level: number
  readonly dead: number
}

export type Segments = ReturnType<typeof segmentQueries>

// DocTerms: what is searched of an entry, as the index keeps it of the newest ones.
// D1  The keys of the terms, and of what a question can demand besides, each once; then the class of each, in their order.

const KEY_BYTES = 8
const BYTES = KEY_BYTES + 1

/** An entry under its number in the index, with what can be asked of it without reading it. */
export interface Doc {
  readonly doc: number
  /** The key of its row. */
  readonly row: number
  /** Its place among the kinds of memories. */
  readonly kind: number
  readonly at: number
  readonly trust: number
  readonly terms: Uint8Array
}

export const kindNumber = ({ kind }: Pick<MemoryEntry, "kind">): number => memoryKinds.indexOf(kind)

export const docTerms = (entry: MemoryEntry, facts: ReadonlyArray<AttachedFact>): Uint8Array => {
  const weights = termWeights(fieldsOf(entry, facts))
  const conditions = new Set(conditionKeys(entry))
  const count = weights.size + conditions.size
  const terms = new Uint8Array(count * BYTES)
  const keys = new DataView(terms.buffer)
  let at = 0
  const add = (key: number, weightClass: number): void => {
    keys.setFloat64(at * KEY_BYTES, key, true)
    terms[count * KEY_BYTES + at++] = weightClass
  }
  for (const [term, weight] of weights) add(termKey(term), classOf(weight))
  for (const key of conditions) add(key, 0)
  return terms
}

/** Calls for each term of an entry, with its class. */
export const eachTerm = (terms: Uint8Array, use: (key: number, weightClass: number) => void): void => {
  const count = terms.length / BYTES
  const keys = new DataView(terms.buffer, terms.byteOffset, terms.byteLength)
  for (let at = 0; at < count; at++) use(keys.getFloat64(at * KEY_BYTES, true), terms[count * KEY_BYTES + at] ?? 0)
}
