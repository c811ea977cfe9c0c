// Matrices: the vectors of groups, in memory, to be compared with all at once.
// Owns how a vector is written, what is kept of them here, and bringing that up to the database.
// M1  What was written since is read with every question: by the id of the transaction that wrote it, so that one which was
//     begun before and ended after the last question is not missed.
// M2  After another start of the server, or another current model, nothing is known.
// M3  What stays in memory has a bound, for a group and for all. Of a group it is what was written last.
// M4  An entry that is gone may still be near: who asks for it in the database finds nothing.

import type { RecallUnavailable } from "@reverie/memory"
import * as Effect from "effect/Effect"
import { number, numbers, type Query } from "./statements.ts"

const LARGEST = 127
/** Vectors of one group. */
const MOST = 16_384
/** Of all; the group that was not asked for the longest goes first. */
const MAX_BYTES = 64 * 1024 * 1024

/** As bytes, each number at most half a hundredth of the largest off. */
export const packed = (vector: ReadonlyArray<number>): Uint8Array => {
  const most = vector.reduce((max, value) => Math.max(max, Math.abs(value)), 0)
  const numbers = Int8Array.from(vector, (value) => (most === 0 ? 0 : Math.round((value / most) * LARGEST)))
  return new Uint8Array(numbers.buffer)
}

/** The cosine of the angle between a vector and a packed one; 0 where one of them has no direction. */
export const nearnessOf = (vector: ReadonlyArray<number>, { buffer, byteOffset }: Uint8Array): number => {
  const row = new Int8Array(buffer, byteOffset, vector.length)
  let [dot, ofRow, ofVector] = [0, 0, 0]
  for (let at = 0; at < vector.length; at++) {
    const [here, there] = [vector[at] ?? 0, row[at] ?? 0]
    dot += here * there
    ofRow += there * there
    ofVector += here * here
  }
  return dot / (Math.sqrt(ofRow * ofVector) || 1)
}

interface Matrix {
  readonly vectors: Map<number, Uint8Array>
  /** Every transaction before this one is in it. */
  seen: number
}

export interface Near {
  /** The key of the current model. */
  readonly model: number
  readonly nearness: ReadonlyMap<number, number>
}

interface LoadedRow {
  readonly grp: number
  readonly entry: number
  readonly vector: Uint8Array | null
}

const LOAD = `SELECT grp, entry, vector
  FROM load_vectors($1::float8::integer, $2::float8::integer, $3::float8[]::bigint[], $4::float8[]::bigint[], ${MOST})`

const HEADERS = { model: -1, seen: -2, started: -3 } as const

export class Matrices {
  readonly #query: Query
  /** By group; the one that was asked for last stands last. */
  readonly #known = new Map<number, Matrix>()
  #model = 0
  #started = 0
  #bytes = 0

  constructor(query: Query) {
    this.#query = query
  }

  /** How near each entry of the groups is to a vector; undefined when no current model is of its length. */
  near(
    groups: ReadonlyArray<number>,
    vector: ReadonlyArray<number>
  ): Effect.Effect<Near | undefined, RecallUnavailable> {
    return Effect.flatMap(this.#load(groups, vector.length), (rows) => {
      const header = (name: keyof typeof HEADERS) => rows.find(({ grp }) => grp === HEADERS[name])?.entry ?? 0
      const model = header("model")
      if (model === 0) return Effect.undefined
      const isMissed = this.#known.size > 0 && model === this.#model && header("started") !== this.#started
      if (model !== this.#model || isMissed) this.forget()
      this.#model = model
      this.#started = header("started")
      // What came is only what was written since the server had started the time before.
      if (isMissed) return this.near(groups, vector)
      this.#keep(groups, rows, header("seen"))
      const nearness = new Map<number, number>()
      for (const group of groups) {
        for (const [entry, row] of this.#known.get(group)?.vectors ?? []) nearness.set(entry, nearnessOf(vector, row))
      }
      this.#evict()
      return Effect.succeed({ model, nearness })
    })
  }

  #load(groups: ReadonlyArray<number>, dimensions: number): Effect.Effect<ReadonlyArray<LoadedRow>, RecallUnavailable> {
    return Effect.suspend(() => {
      const since = groups.map((group) => this.#known.get(group)?.seen ?? 0)
      const values = [number(dimensions), number(this.#model), numbers(groups), numbers(since)]
      return this.#query<LoadedRow>("search", LOAD, values)
    })
  }

  #keep(groups: ReadonlyArray<number>, rows: ReadonlyArray<LoadedRow>, seen: number): void {
    for (const group of groups) {
      const matrix = this.#known.get(group) ?? { vectors: new Map<number, Uint8Array>(), seen: 0 }
      this.#known.delete(group)
      this.#known.set(group, matrix)
      matrix.seen = Math.max(matrix.seen, seen)
    }
    for (const { entry, grp, vector } of rows) {
      const matrix = this.#known.get(grp)
      if (matrix === undefined || vector === null) continue
      this.#bytes += vector.length - (matrix.vectors.get(entry)?.length ?? 0)
      matrix.vectors.set(entry, vector)
    }
  }

  /** Nothing is kept any more; the next question reads everything. */
  forget(): void {
    this.#known.clear()
    this.#bytes = 0
  }

  /** Also what has grown too large: the next question reads of it what was written last. */
  #evict(): void {
    for (const [group, { vectors }] of this.#known) {
      if (this.#bytes <= MAX_BYTES && vectors.size <= 2 * MOST) continue
      for (const { length } of vectors.values()) this.#bytes -= length
      this.#known.delete(group)
    }
  }
}
