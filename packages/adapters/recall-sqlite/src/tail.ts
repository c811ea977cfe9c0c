// Tail: the entries of each group that were told last and are in no segment yet.
// Owns their rows. Leaves making segments of them to flushing.ts.
// T1  Every entry of the tail was told after every entry of a segment of its group.

import type { DatabaseSync } from "node:sqlite"
import type { Doc } from "./doc-terms.ts"
import { change, changing, query } from "./sql.ts"

export const tailQueries = (database: DatabaseSync) => {
  const insert = change(
    database,
    "INSERT INTO tail (grp, doc, row, kind, at, trust, terms) VALUES (?, ?, ?, ?, ?, ?, ?)"
  )
  const remove = changing(database, "DELETE FROM tail WHERE grp = ? AND doc = ?")
  const rows = query<Doc>(
    database,
    "SELECT doc, row, kind, at, trust, terms FROM tail WHERE grp = ? ORDER BY doc LIMIT ?"
  )
  const count = query<{ readonly count: number }>(database, "SELECT count(*) AS count FROM tail WHERE grp = ?")
  const dropUpTo = change(database, "DELETE FROM tail WHERE grp = ? AND doc <= ?")
  return {
    add: (grp: number, { at, doc, kind, row, terms, trust }: Doc): void =>
      void insert(grp, doc, row, kind, at, trust, terms),
    /** False when it was not there. */
    remove: (grp: number, doc: number): boolean => remove(grp, doc) > 0,
    /** The oldest first. */
    of: (grp: number, most: number = -1): ReadonlyArray<Doc> => rows.all(grp, most),
    count: (grp: number): number => count.one(grp)?.count ?? 0,
    dropUpTo: (grp: number, doc: number): void => void dropUpTo(grp, doc)
  }
}
