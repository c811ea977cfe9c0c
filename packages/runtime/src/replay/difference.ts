// Difference: where two snapshots are not the same.
// Owns finding the places, and which commit wrote there last. Leaves the state to state.ts.
// D1  Every place that is named differs, and nothing outside the named places does, as far as there is room to name them.

import { isJsonObject, type Json, defined } from "@reverie/protocol"

/** Most places that are named. */
export const MAX_DIFFERENCES = 20

const MAX_VALUE_CHARS = 200

export type Path = ReadonlyArray<string | number>

/** One place at which two values differ. */
export interface Difference {
  /** The keys that lead to it. */
  readonly path: Path
  /** As JSON, cut where it is long; undefined where nothing stands. */
  readonly replayed?: string
  /** As JSON, cut where it is long; undefined where nothing is stored. */
  readonly stored?: string
  /** The last commit that wrote here in the replay; absent where the replay wrote nothing. */
  readonly writtenBy?: number
}

const shown = (value: Json | undefined): string | undefined => {
  const text = value === undefined ? undefined : JSON.stringify(value)
  return text === undefined || text.length <= MAX_VALUE_CHARS
    ? text
    : `${text.slice(0, MAX_VALUE_CHARS - 1).toWellFormed()}…`
}

const membersOf = (value: Json): ReadonlyMap<string | number, Json> | undefined => {
  if (Array.isArray(value)) return new Map((value as ReadonlyArray<Json>).entries())
  return isJsonObject(value) ? new Map(Object.entries(value)) : undefined
}

const pathsIn = (one: Json | undefined, other: Json | undefined, path: Path, found: Array<Path>): void => {
  if (found.length >= MAX_DIFFERENCES || JSON.stringify(one) === JSON.stringify(other)) return
  const here = one === undefined || Array.isArray(one) !== Array.isArray(other) ? undefined : membersOf(one)
  const there = other === undefined ? undefined : membersOf(other)
  const before = found.length
  if (here !== undefined && there !== undefined) {
    for (const key of new Set([...here.keys(), ...there.keys()])) {
      pathsIn(here.get(key), there.get(key), [...path, key], found)
    }
  }
  // Also when only the order of the members differs.
  if (found.length === before) found.push(path)
}

/** The places at which two values differ, the innermost ones. */
export const differingPaths = (one: Json, other: Json): ReadonlyArray<Path> => {
  const found: Array<Path> = []
  pathsIn(one, other, [], found)
  return found
}

const valueAt = (value: Json, path: Path): Json | undefined =>
  path.reduce<Json | undefined>((at, key) => (at === undefined ? undefined : membersOf(at)?.get(key)), value)

export const differenceAt = (path: Path, replayed: Json, stored: Json, writtenBy: number | undefined): Difference => {
  const [one, other] = [shown(valueAt(replayed, path)), shown(valueAt(stored, path))]
  return {
    path,
    ...defined({ replayed: one, stored: other, writtenBy })
  }
}

/** Notes which commit wrote last at some places of a snapshot. */
export class Watch {
  readonly #paths: ReadonlyArray<Path>
  readonly #values: Array<string | undefined>
  readonly #writtenBy: Array<number | undefined>

  constructor(paths: ReadonlyArray<Path>) {
    this.#paths = paths
    this.#values = paths.map(() => undefined)
    this.#writtenBy = paths.map(() => undefined)
  }

  see(no: number, snapshot: Json): void {
    for (const [index, path] of this.#paths.entries()) {
      const value = JSON.stringify(valueAt(snapshot, path))
      if (value === this.#values[index]) continue
      this.#values[index] = value
      this.#writtenBy[index] = no
    }
  }

  writtenBy(index: number): number | undefined {
    return this.#writtenBy[index]
  }
}
