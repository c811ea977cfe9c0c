// Vectors: the vectors of entries.
// Owns the rows of vectors. Leaves comparing them to matrices.ts.
// V1  A vector of an entry that is not there is nothing.

import type { DatabaseSync } from "node:sqlite"
import type { Address } from "@reverie/protocol"
import { change } from "../connection.ts"
import { type Matrices, packed } from "../search/matrices.ts"
import { entryNames, type Groups } from "./entries.ts"
import { type EntryRow, readEntry } from "./row.ts"
import { entryQuery } from "./sheets.ts"

interface PlacedVector {
  readonly address: Address
  readonly id: string
  readonly vector: ReadonlyArray<number>
}

export const vectorQueries = (database: DatabaseSync, groups: Groups, matrices: Matrices) => {
  const placed = entryQuery<Pick<EntryRow, "key" | "body">>(database, [], "WHERE entries.owner = ? AND entries.id = ?")
  const insert = change(database, "INSERT OR REPLACE INTO vectors (model, entry, owner, vector) VALUES (?, ?, ?, ?)")
  const nameOf = entryNames(database)
  const wantNoMore = change(database, "DELETE FROM wanting WHERE model = ? AND entry = ?")
  return {
    put: (model: number, vectors: ReadonlyArray<PlacedVector>): void => {
      for (const { address, id, vector } of vectors) {
        const owner = groups.own(address)?.key
        const row = owner === undefined ? undefined : placed.one(owner, nameOf(owner, id))
        if (owner === undefined || row === undefined) continue
        insert(model, row.key, owner, packed(vector))
        wantNoMore(model, row.key)
        const readers = groups.readers(address, readEntry(row).readers)
        for (const group of [owner, ...readers]) matrices.forget(group)
      }
    }
  }
}

export type Vectors = ReturnType<typeof vectorQueries>
