// Vectors: the vectors of entries.
// Owns writing them beside the entries they belong to. Leaves which models there are to models.ts.
// V1  A vector of an entry that is not there is nothing.

import type { DatabaseSync } from "node:sqlite"
import type { Address } from "@reverie/protocol"
import { type EntryRow, readEntry } from "./entries.ts"
import type { Groups } from "./groups.ts"
import { type Matrices, packed } from "./matrices.ts"
import { change, keyText, query } from "./sql.ts"

export interface PlacedVector {
  readonly address: Address
  readonly id: string
  readonly vector: ReadonlyArray<number>
}

export const vectorQueries = (database: DatabaseSync, groups: Groups, matrices: Matrices) => {
  const placed = query<Pick<EntryRow, "key" | "entry"> & { readonly owner: number }>(
    database,
    `SELECT entries.key, owner, entry FROM groups JOIN entries ON entries.owner = groups.key AND entries.id = ?
     WHERE tenant = ? AND kind = 'own' AND assistant = ?`
  )
  const insert = change(database, "INSERT OR REPLACE INTO vectors (model, entry, vector) VALUES (?, ?, ?)")
  const wantNoMore = change(database, "DELETE FROM wanting WHERE model = ? AND entry = ?")
  return {
    put: (model: number, vectors: ReadonlyArray<PlacedVector>): void => {
      for (const { address, id, vector } of vectors) {
        const row = placed.one(keyText(id), address.tenant, address.assistant)
        if (row === undefined) continue
        insert(model, row.key, packed(vector))
        wantNoMore(model, row.key)
        const readers = groups.readers(address, readEntry(row.entry).readers)
        for (const group of [row.owner, ...readers]) matrices.forget(group)
      }
    }
  }
}

export type Vectors = ReturnType<typeof vectorQueries>
