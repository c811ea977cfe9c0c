// Shredder: makes sure that what was erased is not in the file any more.
// Owns the three places where it would linger: the words of the full-text index, which only marks them as gone; free pages;
// the log. Leaves erasing to recall.ts.
// S1  After `end` nothing of what was erased since `begin` can be read in the file or its log.

import type { DatabaseSync } from "node:sqlite"
import { change, query } from "./sql.ts"

/** Pages of the full-text index that are written in one step: some ten milliseconds. */
const STEP_PAGES = 200

export const shredderOf = (database: DatabaseSync) => {
  const changes = query<{ readonly count: number }>(database, "SELECT total_changes() AS count")
  const merge = change(database, "INSERT INTO words (words, rank) VALUES ('merge', ?)")
  let isFirst = true
  return {
    begin: (): void => {
      isFirst = true
      database.exec("PRAGMA secure_delete = ON")
    },
    /** Writes a part of the full-text index anew; true when there is more to do. */
    step: (): boolean => {
      const before = changes.one()?.count ?? 0
      // A negative number merges everything into one segment, a positive one goes on with it.
      merge(isFirst ? -STEP_PAGES : STEP_PAGES)
      isFirst = false
      return (changes.one()?.count ?? 0) - before >= 2
    },
    end: (): void => database.exec("PRAGMA secure_delete = FAST; PRAGMA wal_checkpoint(TRUNCATE)")
  }
}

export type Shredder = ReturnType<typeof shredderOf>
