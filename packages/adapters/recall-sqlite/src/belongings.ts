// Belongings: everything that hangs on the row of an entry: its words, its readers, its vectors.
// Owns giving them with the row, renewing them, taking them away. Leaves the row itself to entries.ts.
// B1  With a row go its words, its readers and its vectors.
// B2  An entry either has a vector of a model or wants one.

import type { DatabaseSync } from "node:sqlite"
import { fieldsOf, type MemoryEntry, termWeights } from "@reverie/memory"
import type { Kept, Owner } from "./entries.ts"
import type { Groups } from "./groups.ts"
import type { Matrices } from "./matrices.ts"
import { postingText } from "./postings.ts"
import { change, query } from "./sql.ts"

const wordStatements = (database: DatabaseSync) => ({
  insert: change(database, "INSERT INTO words (rowid, terms) VALUES (?, ?)"),
  remove: change(database, "DELETE FROM words WHERE rowid = ?")
})

const readerStatements = (database: DatabaseSync) => ({
  share: change(database, "INSERT INTO shared (reader, entry) VALUES (?, ?)"),
  unshare: change(database, "DELETE FROM shared WHERE reader = ? AND entry = ?")
})

const vectorStatements = (database: DatabaseSync) => {
  const models = query<{ readonly key: number }>(database, "SELECT key FROM models")
  const insert = change(database, "INSERT OR REPLACE INTO wanting (model, entry) VALUES (?, ?)")
  const remove = change(database, "DELETE FROM vectors WHERE model = ? AND entry = ?")
  const wantNoMore = change(database, "DELETE FROM wanting WHERE model = ? AND entry = ?")
  // One statement over all models would be a savepoint for SQLite, at which the full-text index writes out what it has
  // gathered: twice as much work for every apply.
  return {
    want: (entry: number): void => {
      for (const { key } of models.all()) insert(key, entry)
    },
    remove: (entry: number): void => {
      for (const { key } of models.all()) {
        remove(key, entry)
        wantNoMore(key, entry)
      }
    }
  }
}

export const belongingsOf = (database: DatabaseSync, groups: Groups, matrices: Matrices) => {
  const words = wordStatements(database)
  const readers = readerStatements(database)
  const vectors = vectorStatements(database)

  const join = (key: number, reader: number): void => {
    readers.share(reader, key)
    groups.grow(reader, 1)
  }
  const leave = (key: number, reader: number): void => {
    readers.unshare(reader, key)
    groups.grow(reader, -1)
  }
  const tell = (key: number, all: ReadonlyArray<number>, { entry, facts }: Kept): void =>
    void words.insert(key, postingText(termWeights(fieldsOf(entry, facts)), all))

  return {
    give: (key: number, owner: Owner, kept: Kept): void => {
      const others = groups.readers(owner.address, kept.entry.readers)
      for (const reader of others) join(key, reader)
      tell(key, [owner.key, ...others], kept)
      vectors.want(key)
    },
    renew: (key: number, owner: Owner, before: MemoryEntry, kept: Kept, isVectorKept: boolean): void => {
      const earlier = groups.readers(owner.address, before.readers)
      const others = groups.readers(owner.address, kept.entry.readers)
      const gone = earlier.filter((reader) => !others.includes(reader))
      const come = others.filter((reader) => !earlier.includes(reader))
      for (const reader of gone) leave(key, reader)
      for (const reader of come) join(key, reader)
      words.remove(key)
      tell(key, [owner.key, ...others], kept)
      for (const group of [...gone, ...come]) matrices.forget(group)
      if (isVectorKept) return
      vectors.remove(key)
      vectors.want(key)
      for (const group of [owner.key, ...others]) matrices.forget(group)
    },
    take: (key: number, owner: Owner, { readers: named }: MemoryEntry): void => {
      const others = groups.readers(owner.address, named)
      for (const reader of others) leave(key, reader)
      words.remove(key)
      vectors.remove(key)
      for (const group of [owner.key, ...others]) matrices.forget(group)
    }
  }
}

export type Belongings = ReturnType<typeof belongingsOf>
