// Entries: the rows of entries.
// Owns writing and reading a row. Leaves what an entry becomes by a change to recall.ts, and what hangs on it to
// belongings.ts.
// E1  What was put comes back equal: it is kept as JSON.

import type { DatabaseSync } from "node:sqlite"
import type { AttachedFact, MemoryEntry } from "@reverie/memory"
import type { Address } from "@reverie/protocol"
import type { EntryRows } from "./entry-rows.ts"
import { change, keyText, query } from "../sql.ts"
import type { EntryRow, Kept, FoundEntry, Owner } from "./row.ts"

const factsIn = (facts: string | null): ReadonlyArray<AttachedFact> =>
  facts === null ? [] : (JSON.parse(facts) as ReadonlyArray<AttachedFact>)

export const readEntry = (entry: string): MemoryEntry => JSON.parse(entry) as MemoryEntry

export const readRow = ({ context, entry, facts }: EntryRow): Kept => {
  const bare = readEntry(entry)
  return { entry: context === null ? bare : { ...bare, context: JSON.parse(context) as string }, facts: factsIn(facts) }
}

const writeRow = ({ entry: { context, ...entry }, facts }: Kept): Omit<EntryRow, "key" | "doc"> => ({
  entry: JSON.stringify(entry),
  context: context === undefined ? null : keyText(context),
  facts: facts.length === 0 ? null : JSON.stringify(facts)
})

type FoundRow = Pick<EntryRow, "key" | "doc" | "entry" | "facts"> & { readonly owner: number }

export const entryQueries = (database: DatabaseSync, entryRows: EntryRows) => {
  const byId = query<EntryRow>(
    database,
    "SELECT key, doc, entry, context, facts FROM entries WHERE owner = ? AND id = ?"
  )
  const byKey = query<FoundRow>(database, "SELECT key, owner, doc, entry, facts FROM entries WHERE key = ?")
  const someOf = query<EntryRow>(
    database,
    "SELECT key, doc, entry, context, facts FROM entries WHERE owner = ? LIMIT ?"
  )
  const insert = change(
    database,
    "INSERT INTO entries (owner, id, doc, entry, context, facts) VALUES (?, ?, ?, ?, ?, ?)"
  )
  const update = change(database, "UPDATE entries SET doc = ?, entry = ?, context = ?, facts = ? WHERE key = ?")
  const remove = change(database, "DELETE FROM entries WHERE key = ?")
  return {
    find: ({ key }: Owner, id: string) => byId.one(key, keyText(id)),
    /**
     * The entry of a row; undefined when it is no more. With a number, also when its words are kept under another one by
     * now. `ownerOf` says who has the key of a group.
     */
    get: (key: number, doc: number | undefined, ownerOf: (group: number) => Address | undefined) => {
      const row = byKey.one(key)
      if (row === undefined || (doc !== undefined && row.doc !== doc)) return undefined
      const owner = ownerOf(row.owner)
      return owner === undefined
        ? undefined
        : ({ key, owner, entry: readEntry(row.entry), facts: factsIn(row.facts) } satisfies FoundEntry)
    },
    someOf: ({ key }: Owner, most: number) => someOf.all(key, most),
    insert: (owner: Owner, kept: Kept): void => {
      const { context, entry, facts } = writeRow(kept)
      const doc = entryRows.nextDoc()
      entryRows.give(insert(owner.key, keyText(kept.entry.id), doc, entry, context, facts), doc, owner, kept)
    },
    update: (owner: Owner, row: EntryRow, kept: Kept, isVectorKept: boolean): void => {
      const { context, entry, facts } = writeRow(kept)
      if (row.entry === entry && row.context === context && row.facts === facts && isVectorKept) return
      const doc = entryRows.nextDoc()
      update(doc, entry, context, facts, row.key)
      entryRows.renew(row, doc, owner, readEntry(row.entry), kept, isVectorKept)
    },
    remove: (owner: Owner, row: EntryRow): void => {
      entryRows.take(row, owner, readEntry(row.entry))
      remove(row.key)
    }
  }
}

export type Entries = ReturnType<typeof entryQueries>
