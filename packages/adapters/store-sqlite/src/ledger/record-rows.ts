// RecordRows: the rows of what assistants keep about themselves.
// Owns the table `records`. Leaves their meaning to the ledger.
// K1  In a sealed store a key is no name either: the column holds what stands for it, and the key lies in the body.
// K2  Records of a kind come in the order of their keys, sealed or not.

import type { DatabaseSync } from "node:sqlite"
import { parseJson, type RecordKind } from "@reverie/protocol"
import * as Result from "effect/Result"
import { change, limited, type Query, query, sealedIn } from "../sql.ts"

export interface KeptRow {
  readonly kind: RecordKind
  readonly key: string
  readonly body: string
}

interface Stored extends KeptRow {
  readonly assistant: number
}

/** What stands for a key in the column, and where the key itself is. */
interface Names {
  readonly nameOf: (assistant: number, kind: string, key: string) => string
  readonly bodyOf: (key: string, body: string) => string
  readonly read: (row: Stored) => KeptRow
}

const plain: Names = { nameOf: (_assistant, _kind, key) => key, bodyOf: (_key, body) => body, read: (row) => row }

const namesOf = (database: DatabaseSync): Names => {
  const sealed = sealedIn(database)
  if (sealed === undefined) return plain
  return {
    nameOf: (assistant, kind, key) => {
      const subject = sealed.assistant(assistant)
      return subject === undefined ? key : sealed.sealing.blind(subject, `${kind} ${key}`)
    },
    bodyOf: (key, body) => `${JSON.stringify(key)}\n${body}`,
    read: ({ assistant: _, ...row }) => {
      const end = row.body.indexOf("\n")
      const key = Result.getOrElse(parseJson(row.body.slice(0, Math.max(0, end))), () => undefined)
      return typeof key === "string" ? { ...row, key, body: row.body.slice(end + 1) } : row
    }
  }
}

const byKey = (one: KeptRow, other: KeptRow): number => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0)

const columns = "SELECT assistant, kind, key, body FROM records WHERE assistant = ?"

/** The records of a kind, or some of the first ones. */
const ofKindIn = (database: DatabaseSync, names: Names) => {
  const rows: Query<Stored> = query(database, `${columns} AND kind = ? ORDER BY key LIMIT ?`)
  return (assistant: number, kind: RecordKind, limit: number | undefined): ReadonlyArray<KeptRow> => {
    const most = limit === undefined ? -1 : limited(limit)
    if (names === plain) return rows.all(assistant, kind, most).map(names.read)
    const all = rows.all(assistant, kind, -1).map(names.read).toSorted(byKey)
    return most < 0 ? all : all.slice(0, most)
  }
}

export const recordRows = (database: DatabaseSync) => {
  const names = namesOf(database)
  const underKey = query<Stored>(database, `${columns} AND kind = ? AND key = ?`)
  const isEntity = query<{ readonly there: number }>(
    database,
    "SELECT 1 AS there FROM records INDEXED BY records_entity WHERE assistant = ? AND kind = 'entity' AND key = ?"
  )
  const all = query<Stored>(database, columns)
  const keep = change(database, "INSERT OR REPLACE INTO records (assistant, kind, key, body) VALUES (?, ?, ?, ?)")
  const drop = change(database, "DELETE FROM records WHERE assistant = ? AND kind = ? AND key = ?")
  const dropAll = change(database, "DELETE FROM records WHERE assistant = ?")
  return {
    ofKind: ofKindIn(database, names),
    /** Most names that a message could hold are of no entity, and are found missing without reading a row. */
    under: (assistant: number, kind: RecordKind, key: string): ReadonlyArray<KeptRow> => {
      const name = names.nameOf(assistant, kind, key)
      if (kind === "entity" && isEntity.one(assistant, name) === undefined) return []
      return underKey.all(assistant, kind, name).map(names.read)
    },
    all: (assistant: number): ReadonlyArray<KeptRow> => {
      const rows = all.all(assistant).map(names.read)
      return names === plain
        ? rows
        : rows.toSorted((one, other) => (one.kind === other.kind ? byKey(one, other) : one.kind < other.kind ? -1 : 1))
    },
    keep: (assistant: number, kind: string, key: string, body: string): void =>
      void keep(assistant, kind, names.nameOf(assistant, kind, key), names.bodyOf(key, body)),
    drop: (assistant: number, kind: string, key: string): void =>
      void drop(assistant, kind, names.nameOf(assistant, kind, key)),
    dropAll: (assistant: number): void => void dropAll(assistant)
  }
}
