// Parts: what is prepared of an open file.
// Owns putting the modules of this room together, and where an owner stands. Leaves the verbs to recall.ts.

import type { DatabaseSync } from "node:sqlite"
import { INDEX_START, type IndexPosition } from "@reverie/memory"
import type { Address } from "@reverie/protocol"
import { entryRowsOf } from "./entry-rows.ts"
import { entryQueries } from "./entries.ts"
import { groupQueries, type Groups } from "./groups.ts"
import { Matrices } from "./matrices.ts"
import { modelQueries } from "./models.ts"
import type { Sources } from "./searching.ts"
import { type SecureDelete, secureDeleteOf } from "./secure-delete.ts"
import { vectorQueries, type Vectors } from "./vectors.ts"
import { type Sizes, wordsOf } from "./words.ts"

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
