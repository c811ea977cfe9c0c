// Blobs on SQLite: bytes that messages refer to, in rows of their own.
// Owns the table `blobs`. Leaves what may be kept to the ledger's room.
// I1  A row is never changed: bytes that are here already are not written again.

import type { DatabaseSync } from "node:sqlite"
import { type Blobs, digestOf, flawOfBlobs, unopenedReason } from "@reverie/ledger"
import { isDigest, type TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { change, query, reading, sealedIn } from "../sql.ts"
import type { Writer } from "../writer.ts"
import { ledgerUnavailable } from "./assistants.ts"

export const readBlob = (database: DatabaseSync) => {
  const bytes = query<{ readonly bytes: Uint8Array }>(
    database,
    "SELECT tenant, digest, bytes FROM blobs WHERE tenant = ? AND digest = ?"
  )
  return (tenant: TenantId, digest: string): Uint8Array | undefined => {
    const found = isDigest(digest) ? bytes.one(tenant, digest)?.bytes : undefined
    // What does not open is not there; nothing that was kept has no bytes.
    return found?.length === 0 ? undefined : found
  }
}

export const keepBlob = (database: DatabaseSync) =>
  change(database, "INSERT INTO blobs (tenant, digest, bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")

/** Whether a text stands in rows of a tenant: in the clear the database looks, in what is sealed only who has its key. */
const standsIn = (database: DatabaseSync, table: string, column: string, name: string) => {
  const whose = `FROM ${table} JOIN assistants ON assistants.key = assistant WHERE tenant = ?`
  if (column === "body" && sealedIn(database) !== undefined) {
    const rows = query<{ readonly body: string }>(database, `SELECT assistant, ${table}.${name}, body ${whose}`)
    // What does not open may refer to anything.
    return (tenant: TenantId, text: string): boolean =>
      rows.all(tenant).some(({ body }) => body.includes(text) || unopenedReason(body) !== undefined)
  }
  const row = query<{ readonly one: number }>(
    database,
    `SELECT 1 AS one ${whose} AND instr(${table}.${column}, ?) > 0 LIMIT 1`
  )
  return (tenant: TenantId, text: string): boolean => row.one(tenant, text) !== undefined
}

/** Removes those of some bytes that no envelope, entry or segment of the tenant refers to. */
export const leaveBlobs = (database: DatabaseSync) => {
  const used = [
    standsIn(database, "envelopes", "body", "id"),
    standsIn(database, "ledger", "body", "no"),
    standsIn(database, "segments", "digests", "key")
  ]
  const remove = change(database, "DELETE FROM blobs WHERE tenant = ? AND digest = ?")
  return (tenant: TenantId, digests: ReadonlyArray<string>): void => {
    for (const digest of digests) if (used.every((stands) => !stands(tenant, digest))) remove(tenant, digest)
  }
}

export const sqliteBlobs = (database: DatabaseSync, writer: Writer): Blobs => {
  const read = readBlob(database)
  const insert = keepBlob(database)
  const isKept = query<{ readonly one: number }>(database, "SELECT 1 AS one FROM blobs WHERE tenant = ? AND digest = ?")
  return {
    keep: Effect.fnUntraced(function* (tenant, blobs) {
      const flaw = flawOfBlobs(blobs)
      if (flaw !== undefined) return yield* flaw
      const rows = blobs.map((bytes) => ({ bytes, digest: digestOf(bytes) }))
      const write = () => {
        for (const { bytes, digest } of rows) insert(tenant, digest, bytes)
        return Result.succeed(rows.map(({ digest }) => digest))
      }
      const length = blobs.reduce((sum, bytes) => sum + bytes.length, 0)
      return yield* writer.write(ledgerUnavailable("keep"), write, length)
    }),
    read: (tenant, digest) => reading(ledgerUnavailable("read"), () => Result.succeed(read(tenant, digest))),
    // A deletion is one transaction of the one writer: it is over, or has not begun.
    lacking: (tenant, digests) =>
      reading(ledgerUnavailable("read"), () =>
        Result.succeed(digests.filter((digest) => !isDigest(digest) || isKept.one(tenant, digest) === undefined))
      )
  }
}
