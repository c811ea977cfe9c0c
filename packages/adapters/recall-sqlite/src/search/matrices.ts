// Matrices: the vectors of groups, in memory, to be compared with all at once.
// Owns how a vector is written, the memory they may take, and when they are out of date.
// M1  A matrix is used as long as the vectors in it have not changed: neither here nor, as SQLite says, by someone else.
// M2  A vector is kept as bytes, each number at most half a hundredth of the largest off.

import type { DatabaseSync } from "node:sqlite"
import { type Query, query } from "../connection.ts"

const LARGEST = 127
/** Of vectors in memory; the group that was not asked for the longest goes first. */
const MAX_BYTES = 64 * 1024 * 1024

export const packed = (vector: ReadonlyArray<number>): Uint8Array => {
  const most = vector.reduce((max, value) => Math.max(max, Math.abs(value)), 0)
  return new Uint8Array(
    Int8Array.from(vector, (value) => (most === 0 ? 0 : Math.round((value / most) * LARGEST))).buffer
  )
}

type VectorRow = readonly [entry: number, vector: Uint8Array, ...of: ReadonlyArray<unknown>]

interface Matrix {
  readonly model: number
  readonly entries: ReadonlyArray<number>
  readonly rows: Int8Array
  readonly lengths: Float64Array
}

const matrixOf = (model: number, rows: ReadonlyArray<VectorRow>, dimensions: number): Matrix => {
  const matrix = new Int8Array(rows.length * dimensions)
  const lengths = new Float64Array(rows.length)
  for (const [index, [, vector]] of rows.entries()) {
    const row = new Int8Array(vector.buffer, vector.byteOffset, dimensions)
    matrix.set(row, index * dimensions)
    lengths[index] = Math.hypot(...row)
  }
  return { model, entries: rows.map(([entry]) => entry), rows: matrix, lengths }
}

/** The cosine of the angle between a vector and each row; 0 where one of them has no direction. */
const cosines = ({ lengths, rows }: Matrix, vector: Float64Array): Float64Array => {
  const length = Math.hypot(...vector)
  return lengths.map((rowLength, index) => {
    const from = index * vector.length
    let dot = 0
    for (let at = 0; at < vector.length; at++) dot += (vector[at] ?? 0) * (rows[from + at] ?? 0)
    return dot / (rowLength * length || 1)
  })
}

export class Matrices {
  readonly #version: Query<{ readonly data_version: number }>
  readonly #own: Query<VectorRow>
  readonly #shared: Query<VectorRow>
  /** By group; the one that was asked for last stands last. */
  readonly #known = new Map<number, Matrix>()
  #bytes = 0
  #seen = -1

  constructor(database: DatabaseSync) {
    this.#version = query(database, "PRAGMA data_version")
    this.#own = query(
      database,
      `SELECT vectors.entry, vectors.vector, vectors.model, vectors.owner FROM entries
       JOIN vectors ON vectors.model = ? AND vectors.entry = entries.key WHERE entries.owner = ?`,
      { asArrays: true }
    )
    this.#shared = query(
      database,
      `SELECT vectors.entry, vectors.vector, vectors.model, vectors.owner FROM shared
       JOIN vectors ON vectors.model = ? AND vectors.entry = shared.entry WHERE shared.reader = ?`,
      { asArrays: true }
    )
  }

  /** To be called when the vectors that a group may read have changed. */
  forget(group: number): void {
    this.#bytes -= this.#known.get(group)?.rows.length ?? 0
    this.#known.delete(group)
  }

  forgetAll(): void {
    this.#known.clear()
    this.#bytes = 0
  }

  /** How near each entry of the groups is to a vector, -1 to 1. */
  nearness(model: number, groups: ReadonlyArray<number>, vector: ReadonlyArray<number>): ReadonlyMap<number, number> {
    const version = this.#version.one()?.data_version ?? -1
    if (version !== this.#seen) this.forgetAll()
    this.#seen = version
    const direction = Float64Array.from(vector)
    const found = new Map<number, number>()
    for (const group of groups) {
      const matrix = this.#load(model, group, vector.length)
      for (const [index, nearness] of cosines(matrix, direction).entries()) {
        found.set(matrix.entries[index] ?? -1, nearness)
      }
    }
    return found
  }

  #load(model: number, group: number, dimensions: number): Matrix {
    const present = this.#known.get(group)
    this.forget(group)
    const rows = () => [...this.#own.all(model, group), ...this.#shared.all(model, group)]
    const matrix = present?.model === model ? present : matrixOf(model, rows(), dimensions)
    this.#known.set(group, matrix)
    this.#bytes += matrix.rows.length
    for (const other of this.#known.keys()) {
      if (this.#bytes <= MAX_BYTES) break
      this.forget(other)
    }
    return matrix
  }
}
