// Entries: the rows of entries.
// Owns the statements. Leaves the form of a row to row.ts, and what an entry becomes by a change to recall.ts.

import type { DatabaseSync } from "node:sqlite"
import {
  type IndexPosition,
  meaningOf,
  type MemoryEntry,
  type Readers,
  type RecallScope,
  type VectorModel
} from "@reverie/memory"
import type { Address, AssistantId, TenantId } from "@reverie/protocol"
import { change, keyText, query } from "../connection.ts"
import { sealedIn } from "../sealed-index.ts"
import { type EntryRow, type FoundEntry, type Kept, type Owner, readEntry, readFound, writeRow } from "./row.ts"
import { entryQuery, entryWriter } from "./sheets.ts"
import type { Matrices } from "../search/matrices.ts"
import type { Words } from "../words/words.ts"

type FoundRow = EntryRow & { readonly owner: number }

/** What an entry is looked up by: its id, and in a sealed index what stands for it. */
export const entryNames = (database: DatabaseSync): ((owner: number, id: string) => string) => {
  const sealed = sealedIn(database)
  return (owner, id) => (sealed === undefined ? keyText(id) : sealed.nameOf(owner, id))
}

/** An entry as it is to be kept, and the number that its words get. */
export interface Numbered {
  readonly doc: number
  readonly kept: Kept
}

export const entryQueries = (database: DatabaseSync, entryRows: EntryRows) => {
  const byId = entryQuery<EntryRow>(database, ["doc"], "WHERE entries.owner = ? AND entries.id = ?")
  const byKey = entryQuery<FoundRow>(database, ["doc"], "WHERE entries.key = ?")
  const someOf = entryQuery<EntryRow>(database, ["doc"], "WHERE entries.owner = ? LIMIT ?")
  const writer = entryWriter(database)
  const nameOf = entryNames(database)
  return {
    find: ({ key }: Owner, id: string) => byId.one(key, nameOf(key, id)),
    /**
     * The entry of a row; undefined when it is no more. With a number, also when its words are kept under another one by
     * now. `ownerOf` says who has the key of a group.
     */
    get: (key: number, doc: number | undefined, ownerOf: (group: number) => Address | undefined) => {
      const row = byKey.one(key)
      if (row === undefined || (doc !== undefined && row.doc !== doc)) return undefined
      const owner = ownerOf(row.owner)
      return owner === undefined ? undefined : ({ key, owner, ...readFound(row) } satisfies FoundEntry)
    },
    someOf: ({ key }: Owner, most: number) => someOf.all(key, most),
    nextDoc: entryRows.nextDoc,
    /** Writes rows of entries; their words are for `give`, at the turn of each. */
    insert: (owner: Owner, fresh: ReadonlyArray<Numbered>): ReadonlyArray<number> =>
      writer.insert(
        owner.key,
        fresh.map(({ doc, kept }) => ({ name: nameOf(owner.key, kept.entry.id), doc, body: writeRow(kept) }))
      ),
    give: entryRows.give,
    /** `whole` gives what was said around an entry, where its words are to be kept anew. */
    update: (owner: Owner, row: EntryRow, to: Numbered, isVectorKept: boolean, whole: (kept: Kept) => Kept): void => {
      const { doc, kept } = to
      const body = writeRow(kept)
      if (row.body === body && isVectorKept) return
      writer.update(doc, body, row.key, owner.key, nameOf(owner.key, kept.entry.id))
      entryRows.renew(row, doc, owner, readEntry(row), whole(kept), isVectorKept)
    },
    remove: (owner: Owner, row: EntryRow): void => {
      entryRows.take(row, owner, readEntry(row))
      writer.remove(row.key)
    }
  }
}

export type Entries = ReturnType<typeof entryQueries>

// Belongings: everything that hangs on the row of an entry: its words, its readers, its vectors.
// B1  With a row go its words, its readers and its vectors.
// B2  An entry either has a vector of a model or wants one.

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

type EntryRows = ReturnType<typeof entryRowsOf>

// Groups: who may read entries, as keys.
// G1  A group has a key that no other group ever had.

export interface Group {
  readonly key: number
  readonly position: number
  readonly digest: string
  readonly entries: number
}

type Name = readonly [tenant: string, kind: "own" | "named" | "fleet", assistant: string]

/** The kind of an owner that is being erased. */
const GONE = "gone"

const ownName = ({ assistant, tenant }: Address): Name => [tenant, "own", assistant]
const fleetName = ({ tenant }: Address): Name => [tenant, "fleet", ""]

const readerNames = (owner: Address, readers: Readers): ReadonlyArray<Name> => {
  if (readers === "owner") return []
  if (readers === "fleet") return [fleetName(owner)]
  return [...new Set(readers)]
    .filter((assistant) => assistant !== owner.assistant)
    .map((assistant) => [owner.tenant, "named", assistant] as const)
}

const viewerNames = (viewer: Address, scope: RecallScope): ReadonlyArray<Name> => {
  const own = ownName(viewer)
  if (scope === "own") return [own]
  const named: Name = [viewer.tenant, "named", viewer.assistant]
  return scope === "shared" ? [own, named] : [own, named, fleetName(viewer)]
}

export const groupQueries = (database: DatabaseSync) => {
  const byName = query<Group>(
    database,
    "SELECT key, position, digest, entries FROM groups WHERE tenant = ? AND kind = ? AND assistant = ?"
  )
  const insert = change(database, "INSERT INTO groups (tenant, kind, assistant) VALUES (?, ?, ?)")
  const made = (name: Name): Group =>
    byName.one(...name) ?? { key: insert(...name), position: 0, digest: "", entries: 0 }
  const move = change(database, "UPDATE groups SET position = ?, digest = ?, entries = entries + ? WHERE key = ?")
  const grow = change(database, "UPDATE groups SET entries = entries + ? WHERE key = ?")
  const owner = query<{ readonly tenant: TenantId; readonly assistant: AssistantId }>(
    database,
    "SELECT tenant, assistant FROM groups WHERE key = ? AND kind = 'own'"
  )
  const remove = change(database, "DELETE FROM groups WHERE key = ?")
  const retire = change(
    database,
    `UPDATE groups SET kind = '${GONE}', assistant = assistant || ' ' || key WHERE key = ?`
  )
  const gone = query<{ readonly key: number; readonly tenant: TenantId; readonly assistant: string }>(
    database,
    `SELECT key, tenant, assistant FROM groups WHERE kind = '${GONE}'`
  )
  return {
    own: (address: Address) => byName.one(...ownName(address)),
    ownMade: (address: Address) => made(ownName(address)),
    /** Whose entries are under the key of a group; undefined when they are being erased. */
    owner: (key: number): Address | undefined => owner.one(key),
    /** Who may read besides the owner. */
    readers: (owner: Address, readers: Readers) => readerNames(owner, readers).map((name) => made(name).key),
    /** What a viewer may read in a scope. */
    readableBy: (viewer: Address, scope: RecallScope): ReadonlyArray<Group> =>
      viewerNames(viewer, scope).flatMap((name) => byName.one(...name) ?? []),
    /** Where an owner stands now, and by how many more entries it has. */
    move: (key: number, { digest, no }: IndexPosition, more: number) => void move(no, digest, more, key),
    grow: (key: number, by: number) => void grow(by, key),
    /** From now on nothing of an owner is found; its entries are still to be removed. */
    retire: (key: number) => void retire(key),
    /** Owners that are being erased. Their names end before the blank. */
    gone: (): ReadonlyArray<Owner> =>
      gone.all().map(({ assistant, key, tenant }) => ({
        key,
        address: { tenant, assistant: assistant.slice(0, assistant.indexOf(" ")) as AssistantId }
      })),
    remove: (key: number) => void remove(key)
  }
}

export type Groups = ReturnType<typeof groupQueries>

// Models: the vector models, and which entries still want a vector of one.
// M1  Vectors of a model that is neither current nor next are not in the file.

interface ModelRow extends VectorModel {
  readonly key: number
  readonly state: "current" | "next"
}

interface WantingRow {
  readonly body: string
  readonly tenant: TenantId
  readonly assistant: AssistantId
}

export const modelQueries = (database: DatabaseSync) => {
  const all = query<ModelRow>(database, "SELECT key, id, dimensions, state FROM models")
  const insert = change(database, "INSERT INTO models (id, dimensions, state) VALUES (?, ?, ?)")
  const bundles = ["models WHERE key", "vectors WHERE model", "wanting WHERE model"].map((rows) =>
    change(database, `DELETE FROM ${rows} = ?`)
  )
  const wantAll = change(database, "INSERT INTO wanting (model, entry) SELECT ?, key FROM entries")
  const promote = change(database, "UPDATE models SET state = 'current' WHERE key = ?")
  const wanting = entryQuery<WantingRow>(
    database,
    ["tenant", "assistant"],
    `JOIN wanting ON wanting.entry = entries.key
     JOIN groups ON groups.key = entries.owner AND groups.kind = 'own' WHERE model = ? LIMIT ?`
  )

  const named = (id: string): ModelRow | undefined => all.all().find((model) => model.id === id)
  const inState = (state: ModelRow["state"]): ModelRow | undefined => all.all().find((model) => model.state === state)
  const drop = (model: ModelRow | undefined): void => {
    if (model !== undefined) for (const remove of bundles) remove(model.key)
  }

  return {
    named,
    current: () => inState("current"),
    both: (): { readonly current?: VectorModel; readonly next?: VectorModel } =>
      Object.fromEntries(all.all().map(({ dimensions, id, state }) => [state, { id, dimensions }] as const)),
    prepare: ({ dimensions, id }: VectorModel): void => {
      if (all.all().some((model) => model.id === id && model.dimensions === dimensions)) return
      drop(inState("next"))
      wantAll(insert(id, dimensions, inState("current") === undefined ? "current" : "next"))
    },
    missing: (id: string, limit: number) => {
      const model = named(id)
      if (model === undefined) return []
      return wanting.all(model.key, Math.max(0, Math.trunc(limit))).map(({ assistant, body, tenant }) => {
        const kept = readEntry({ body })
        return { address: { tenant, assistant }, id: kept.id, text: meaningOf(kept) }
      })
    },
    /** The model that was next becomes current; the one that was current goes. */
    promote: (next: ModelRow): void => {
      drop(inState("current"))
      promote(next.key)
    }
  }
}

export type Models = ReturnType<typeof modelQueries>
