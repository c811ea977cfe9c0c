// Blocks on SQLite: the rows of memory blocks.
// Owns who is asked for and what is written of a block. Leaves transactions to writer.ts, and what a block is to `memory`.
// I1  A block, its version, its readers and the answer to its request are written in one transaction, or none is.
// I2  Whose blocks are asked for decides which rows are read: those of other owners cost nothing.
// I3  Who has none is asked about once between two writes.
// I4  A block whose keys are destroyed is none in a list: it hides no other one. Asked for by its id it fails.

import type { DatabaseSync } from "node:sqlite"
import { unopenedReason } from "@reverie/ledger"
import {
  type BlockLooks,
  type BlockRows,
  type BlockStore,
  BlockStoreUnavailable,
  type BlockWrites,
  EVERYBODY,
  keepBlocks
} from "@reverie/memory"
import { keyText, type TenantId } from "@reverie/protocol"
import { change, limited, query, reading, type SqliteFailure } from "./sql.ts"
import type { Writer } from "./writer.ts"

const unavailable =
  (operation: string) =>
  ({ cause, message }: SqliteFailure): BlockStoreUnavailable =>
    new BlockStoreUnavailable({ operation, message, cause })

interface BodyRow {
  readonly body: string
}

const columns = "SELECT tenant, owner, id, body"

const opened = (rows: ReadonlyArray<BodyRow>): ReadonlyArray<string> =>
  rows.flatMap(({ body }) => (unopenedReason(body) === undefined ? [body] : []))

const looksAt = (database: DatabaseSync, keyOf: (tenant: TenantId, id: string) => number | undefined): BlockLooks => {
  const block = query<BodyRow>(database, `${columns} FROM blocks WHERE tenant = ? AND id = ?`)
  const labelled = query<{ readonly key: number }>(
    database,
    "SELECT key FROM blocks WHERE tenant = ? AND owner = ? AND label = ?"
  )
  const ofTenant = query<BodyRow>(database, `${columns} FROM blocks WHERE tenant = ?`)
  const ofOwner = query<BodyRow>(database, `${columns} FROM blocks WHERE tenant = ? AND owner = ?`)
  // One block may have been given to someone by name and to everybody besides.
  const given = query<BodyRow>(
    database,
    `${columns} FROM blocks WHERE owner <> ? AND key IN
       (SELECT block FROM block_readers WHERE tenant = ? AND reader IN (?, '${EVERYBODY}'))`
  )
  const snapshot = query<{ readonly bytes: Uint8Array }>(
    database,
    "SELECT block, bytes FROM block_snapshots WHERE block = ?"
  )
  const patches = query<{ readonly patch: Uint8Array }>(
    database,
    "SELECT block, version, patch FROM block_versions WHERE block = ? AND version > ? ORDER BY version"
  )
  const versions = query<BodyRow>(
    database,
    "SELECT block, version, body FROM block_versions WHERE block = ? AND version < ? ORDER BY version DESC LIMIT ?"
  )
  const answer = query<{ readonly answer: string }>(
    database,
    "SELECT tenant, key, answer FROM block_answers WHERE tenant = ? AND key = ?"
  )
  return {
    answer: (tenant, key) => answer.one(tenant, keyText(key))?.answer,
    block: (tenant, id) => block.one(tenant, keyText(id))?.body,
    isTaken: (tenant, owner, label) => labelled.one(tenant, keyText(owner), keyText(label)) !== undefined,
    blocks: (tenant, by) => {
      if (by === undefined) return opened(ofTenant.all(tenant))
      const name = keyText(by)
      return opened([...ofOwner.all(tenant, name), ...given.all(name, tenant, name)])
    },
    snapshot: (tenant, id) => snapshot.one(keyOf(tenant, id) ?? 0)?.bytes,
    patches: (tenant, id, after) => patches.all(keyOf(tenant, id) ?? 0, limited(after)).map(({ patch }) => patch),
    versions: (tenant, id, before, limit) =>
      versions.all(keyOf(tenant, id) ?? 0, limited(before), limited(limit)).map(({ body }) => body)
  }
}

const writesTo = (database: DatabaseSync, keyOf: (tenant: TenantId, id: string) => number | undefined): BlockWrites => {
  const putBlock = change(
    database,
    `INSERT INTO blocks (tenant, id, owner, label, body) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (tenant, id) DO UPDATE SET body = excluded.body`
  )
  const forget = change(database, "DELETE FROM block_readers WHERE block = ?")
  const giveTo = change(database, "INSERT INTO block_readers (tenant, reader, block) VALUES (?, ?, ?)")
  const readers = query<{ readonly reader: string }>(
    database,
    "SELECT reader FROM block_readers WHERE block = ? ORDER BY reader"
  )
  const putVersion = change(database, "INSERT INTO block_versions (block, version, body, patch) VALUES (?, ?, ?, ?)")
  const putSnapshot = change(
    database,
    "INSERT INTO block_snapshots (block, bytes) VALUES (?, ?) ON CONFLICT (block) DO UPDATE SET bytes = excluded.bytes"
  )
  const putAnswer = change(database, "INSERT INTO block_answers (tenant, key, answer) VALUES (?, ?, ?)")
  const remove = ["block_versions", "block_snapshots", "block_readers"].map((table) =>
    change(database, `DELETE FROM ${table} WHERE block = ?`)
  )
  const removeBlock = change(database, "DELETE FROM blocks WHERE key = ?")
  return {
    putAnswer: (tenant, key, answer) => {
      putAnswer(tenant, keyText(key), answer)
    },
    putBlock: (tenant, { body, id, label, owner, readers: wanted }) => {
      putBlock(tenant, keyText(id), keyText(owner), keyText(label), body)
      const key = keyOf(tenant, id) ?? 0
      const names = wanted.map((reader) => (reader === EVERYBODY ? EVERYBODY : keyText(reader))).toSorted()
      // Hardly ever do they change.
      if (
        readers
          .all(key)
          .map(({ reader }) => reader)
          .join() === names.join()
      )
        return
      forget(key)
      for (const name of names) giveTo(tenant, name, key)
    },
    putVersion: (tenant, id, version, body, patch) => {
      putVersion(keyOf(tenant, id) ?? 0, version, body, patch)
    },
    putSnapshot: (tenant, id, bytes) => {
      putSnapshot(keyOf(tenant, id) ?? 0, bytes)
    },
    remove: (tenant, id) => {
      const key = keyOf(tenant, id) ?? 0
      for (const from of [...remove, removeBlock]) from(key)
    }
  }
}

/** Viewers without a block that are remembered. */
const MOST_WITHOUT = 16_384

const withoutBlocks = new WeakMap<DatabaseSync, Set<string>>()

/** Who was seen to have no block, until one is written: each prompt looks at the blocks of its assistant, and most have none. */
export const viewersWithoutBlocks = (database: DatabaseSync): Set<string> => {
  const known = withoutBlocks.get(database) ?? new Set()
  withoutBlocks.set(database, known)
  return known
}

const askingOnce = (database: DatabaseSync, looks: BlockLooks): BlockLooks => {
  const without = viewersWithoutBlocks(database)
  return {
    ...looks,
    blocks: (tenant, by) => {
      const viewer = `${tenant}/${by ?? ""}`
      if (without.has(viewer)) return []
      const found = looks.blocks(tenant, by)
      if (found.length === 0 && without.size < MOST_WITHOUT) without.add(viewer)
      return found
    }
  }
}

export const sqliteBlocks = (database: DatabaseSync, writer: Writer): BlockStore["Service"] => {
  const byId = query<{ readonly key: number }>(database, "SELECT key FROM blocks WHERE tenant = ? AND id = ?")
  const keyOf = (tenant: TenantId, id: string): number | undefined => byId.one(tenant, keyText(id))?.key
  const looks = looksAt(database, keyOf)
  const rows: BlockRows = { ...looks, ...writesTo(database, keyOf) }
  const shown = askingOnce(database, looks)
  const without = viewersWithoutBlocks(database)
  return keepBlocks({
    look: (operation, run) => reading(unavailable(operation), () => run(shown)),
    write: (operation, run) =>
      writer.write(unavailable(operation), (onUndo) => {
        without.clear()
        return run(rows, onUndo)
      })
  })
}
