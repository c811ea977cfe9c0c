// Belongings: everything that hangs on the row of an entry: its words, its readers, its vectors.
// Owns giving them with the row, renewing them, taking them away. Leaves the row itself to entries.ts.
// B1  With a row go its words, its readers and its vectors.
// B2  An entry either has a vector of a model or wants one.

import type { DatabaseSync } from "node:sqlite"
import type { MemoryEntry, Readers } from "@reverie/memory"

import type { Groups } from "./groups.ts"
import type { Matrices } from "../search/matrices.ts"
import { change, query } from "../sql.ts"
import type { Words } from "../words/words.ts"
import type { EntryRow, Kept, Owner } from "./row.ts"

const readerStatements = (database: DatabaseSync) => ({
  share: change(database, "INSERT INTO shared (reader, entry) VALUES (?, ?)"),
  unshare: change(database, "DELETE FROM shared WHERE reader = ? AND entry = ?")
})

const vectorStatements = (database: DatabaseSync) => {
  const models = query<{ readonly key: number }>(database, "SELECT key FROM models")
  const insert = change(database, "INSERT OR REPLACE INTO wanting (model, entry) VALUES (?, ?)")
  const remove = change(database, "DELETE FROM vectors WHERE model = ? AND entry = ?")
  const wantNoMore = change(database, "DELETE FROM wanting WHERE model = ? AND entry = ?")
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

export const entryRowsOf = (database: DatabaseSync, groups: Groups, matrices: Matrices, words: Words) => {
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
  const groupsOf = (owner: Owner, readers: Readers): ReadonlyArray<number> => [
    owner.key,
    ...groups.readers(owner.address, readers)
  ]

  return {
    nextDoc: words.nextDoc,
    give: (key: number, doc: number, owner: Owner, kept: Kept): void => {
      const { readers: named } = kept.entry
      for (const reader of groups.readers(owner.address, named)) join(key, reader)
      words.put(groupsOf(owner, named), doc, key, kept)
      vectors.want(key)
    },
    /** `doc`: its words are kept under another number from now on. */
    renew: (row: EntryRow, doc: number, owner: Owner, before: MemoryEntry, kept: Kept, isVectorKept: boolean): void => {
      const { key } = row
      const { entry } = kept
      const earlier = groups.readers(owner.address, before.readers)
      const others = groups.readers(owner.address, entry.readers)
      const gone = earlier.filter((reader) => !others.includes(reader))
      const come = others.filter((reader) => !earlier.includes(reader))
      for (const reader of gone) leave(key, reader)
      for (const reader of come) join(key, reader)
      words.remove([owner.key, ...earlier], row.doc)
      words.put([owner.key, ...others], doc, key, kept)
      for (const group of [...gone, ...come]) matrices.forget(group)
      if (isVectorKept) return
      vectors.remove(key)
      vectors.want(key)
      for (const group of [owner.key, ...others]) matrices.forget(group)
    },
    take: ({ doc, key }: EntryRow, owner: Owner, { readers: named }: MemoryEntry): void => {
      const others = groups.readers(owner.address, named)
      for (const reader of others) leave(key, reader)
      words.remove([owner.key, ...others], doc)
      vectors.remove(key)
      for (const group of [owner.key, ...others]) matrices.forget(group)
    }
  }
}

export type EntryRows = ReturnType<typeof entryRowsOf>
