// Blobs on PostgreSQL: bytes that messages refer to, in rows of their own.
// Owns the table `blobs`. Leaves what may be kept to the ledger's room.
// I1  A row is never changed: bytes that are here already are not written again.

import { Buffer } from "node:buffer"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import { type Blobs, digestOf, flawOfBlobs } from "@reverie/ledger"
import { isDigest, type TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type { Database, PgFailure, Query } from "../database.ts"
import { ledgerUnavailable } from "./entry-history.ts"

const KEEP = `
  INSERT INTO blobs (tenant, digest, bytes) SELECT $1, * FROM unnest($2::text[], $3::bytea[]) ON CONFLICT DO NOTHING`
const READ = "SELECT bytes FROM blobs WHERE tenant = $1 AND digest = $2"

/** Bytes of one statement, some more: it has to be done within its deadline. */
const STATEMENT_BYTES = 4 * 1024 * 1024

interface Row {
  readonly digest: string
  readonly bytes: Uint8Array
}

/** In the order of the digests, so that two who keep the same bytes do not wait for each other in a circle. */
const statements = (rows: ReadonlyArray<Row>): ReadonlyArray<ReadonlyArray<Row>> => {
  const found: Array<Array<Row>> = []
  let room = 0
  for (const row of rows.toSorted((a, b) => (a.digest < b.digest ? -1 : 1))) {
    if (room <= 0) {
      found.push([])
      room = STATEMENT_BYTES
    }
    found.at(-1)?.push(row)
    room -= row.bytes.length
  }
  return found
}

/** Writes them: a row is whole by itself, so that bytes of a list that broke off are harmless. */
export const putBlobs = (query: Query, tenant: TenantId, rows: ReadonlyArray<Row>): Effect.Effect<void, PgFailure> =>
  Effect.forEach(
    statements(rows),
    Effect.fnUntraced(function* (some) {
      const digests = some.map(({ digest }) => digest)
      const bytes = some.map((row) => new Uint8Array(row.bytes))
      const texts = yield* Effect.orDie(Effect.fromResult(PgTypes.array(digests, PgTypes.OID.text)))
      const packed = yield* Effect.orDie(Effect.fromResult(PgTypes.array(bytes, PgTypes.OID.bytea)))
      yield* query(KEEP, [tenant, texts, packed])
    }),
    { discard: true }
  )

export const blobIn = (
  query: Query,
  tenant: TenantId,
  digest: string
): Effect.Effect<Uint8Array | undefined, PgFailure> =>
  isDigest(digest)
    ? Effect.map(query<{ readonly bytes: Uint8Array }>(READ, [tenant, digest]), ([row]) =>
        row === undefined ? undefined : new Uint8Array(Buffer.from(row.bytes))
      )
    : Effect.succeed(undefined)

const REFERRED = (table: string) => `
  SELECT m[1] AS digest FROM ${table}, regexp_matches(body, '"digest":"([^"]+)"', 'g') m
  WHERE tenant = $1 AND strpos(body, '"digest":') > 0`

const LOCKED = (strength: string) => `
  SELECT digest FROM blobs WHERE tenant = $1 AND digest = ANY ($2::text[]) ORDER BY digest FOR ${strength}`
/** Before it is looked for what refers to them: who refers to some after that look waits, and finds that they are gone. */
const HOLD = LOCKED("UPDATE")
const HELD = LOCKED("KEY SHARE")

/** One pass over the texts that refer to bytes, which have an index, however many digests are asked for. */
const LEAVE = `
  WITH used AS (
    ${REFERRED("envelopes")} UNION ${REFERRED("ledger")}
    UNION SELECT unnest(string_to_array(digests, ' ')) FROM segments WHERE tenant = $1 AND digests <> ''
  )
  DELETE FROM blobs WHERE tenant = $1 AND digest = ANY ($2::text[]) AND digest NOT IN (SELECT digest FROM used)`

const arrayOf = (digests: ReadonlyArray<string>) =>
  Effect.orDie(Effect.fromResult(PgTypes.array([...digests], PgTypes.OID.text)))

/** Those of which no bytes are kept. The others are not deleted before the transaction ends. */
export const lackingIn = (
  query: Query,
  tenant: TenantId,
  digests: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<string>, PgFailure> =>
  Effect.gen(function* () {
    const known = digests.filter(isDigest)
    const rows = yield* query<{ readonly digest: string }>(HELD, [tenant, yield* arrayOf(known)])
    const kept = new Set(rows.map(({ digest }) => digest))
    return digests.filter((digest) => !kept.has(digest))
  })

/** Removes those of some bytes that no envelope, entry or segment of the tenant refers to; in the order of the digests, too. */
export const leaveBlobs = (
  query: Query,
  tenant: TenantId,
  digests: ReadonlyArray<string>
): Effect.Effect<void, PgFailure> =>
  digests.length === 0
    ? Effect.void
    : Effect.gen(function* () {
        const values = [tenant, yield* arrayOf(digests)]
        yield* query(HOLD, values)
        yield* query(LEAVE, values)
      })

/** A list of blobs is many megabytes. */
const KEEP_MILLIS = 60_000

export const postgresBlobs = ({ query, transaction }: Database): Blobs => ({
  keep: Effect.fnUntraced(function* (tenant, blobs) {
    const flaw = flawOfBlobs(blobs)
    if (flaw !== undefined) return yield* flaw
    const rows = blobs.map((bytes) => ({ bytes, digest: digestOf(bytes) }))
    const written = transaction(KEEP_MILLIS, (inside) => putBlobs(inside, tenant, rows))
    yield* Effect.mapError(written, ledgerUnavailable("keep"))
    return rows.map(({ digest }) => digest)
  }),
  read: (tenant, digest) => Effect.mapError(blobIn(query, tenant, digest), ledgerUnavailable("read")),
  lacking: (tenant, digests) =>
    digests.length === 0
      ? Effect.succeed([])
      : Effect.mapError(lackingIn(query, tenant, digests), ledgerUnavailable("read"))
})
