// Parts: what is prepared of an open file.
// Owns putting the modules of this room together, and where an owner stands. Leaves the verbs to recall.ts.

import type { DatabaseSync } from "node:sqlite"
import { INDEX_START, type IndexPosition } from "@reverie/memory"
import type { Address } from "@reverie/protocol"
import { entryRowsOf } from "./entries/entry-rows.ts"
import { entryQueries, readEntry } from "./entries/entries.ts"
import { groupQueries, type Groups } from "./entries/groups.ts"
import { Matrices, packed } from "./search/matrices.ts"
import { modelQueries } from "./models.ts"
import type { Sources } from "./search/searching.ts"
import { type Sizes, wordsOf } from "./words/words.ts"
import { change, keyText, query } from "./sql.ts"
import type { EntryRow } from "./entries/row.ts"

// Vectors: the vectors of entries.
// V1  A vector of an entry that is not there is nothing.

interface PlacedVector {
  readonly address: Address
  readonly id: string
  readonly vector: ReadonlyArray<number>
}

const vectorQueries = (database: DatabaseSync, groups: Groups, matrices: Matrices) => {
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

type Vectors = ReturnType<typeof vectorQueries>

// SecureDelete: makes sure that what was erased is not in the file any more.
// S1  After `end` nothing of what was erased since `begin` can be read in the file or its log.

const secureDeleteOf = (database: DatabaseSync) => ({
  begin: (): void => database.exec("PRAGMA secure_delete = ON"),
  end: (): void => database.exec("PRAGMA secure_delete = FAST; PRAGMA wal_checkpoint(TRUNCATE)")
})

type SecureDelete = ReturnType<typeof secureDeleteOf>

export interface Parts extends Sources {
  readonly secureDelete: SecureDelete
  readonly vectors: Vectors
  /** A transaction came to nothing: what stands in memory is as it was before. */
  readonly undo: () => void
}

export const partsOf = (database: DatabaseSync, sizes?: Sizes): Parts => {
  const groups = groupQueries(database)
  const matrices = new Matrices(database)
  const words = wordsOf(database, sizes)
  return {
    groups,
    entries: entryQueries(database, entryRowsOf(database, groups, matrices, words)),
    matrices,
    models: modelQueries(database),
    words,
    secureDelete: secureDeleteOf(database),
    vectors: vectorQueries(database, groups, matrices),
    undo: words.forget
  }
}

export const standing = (groups: Groups, address: Address): IndexPosition => {
  const own = groups.own(address)
  return own === undefined ? INDEX_START : { no: own.position, digest: own.digest }
}
