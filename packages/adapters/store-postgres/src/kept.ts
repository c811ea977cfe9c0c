// Kept: what assistants keep about themselves, read back.
// Owns the reading of the table `records`. Leaves its writing to commits.

import { type Ledger, type RecordFilter, UnreadableRecord } from "@reverie/ledger"
import {
  type Address,
  addressKey,
  keyText,
  parseJson,
  readKeyText,
  type RecordKind,
  type RecordRow
} from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { limited } from "./assistants.ts"
import { ledgerUnavailable } from "./entry-history.ts"
import type { Database } from "./database.ts"

interface KeptRow {
  readonly kind: RecordKind
  readonly key: string
  readonly body: string
}

const RECORDS = `
  SELECT r.kind, r.key, r.body FROM records r JOIN assistants a ON a.key = r.assistant
  WHERE a.tenant = $1 AND a.id = $2 AND r.kind = ANY ($3)`

// Of each kind as many rows as are wanted are read, whatever else is kept.
const SOME_RECORDS = (keys: string): string => `
  SELECT r.kind, r.key, r.body
  FROM assistants a CROSS JOIN (SELECT DISTINCT unnest($3::text[]) AS kind) k
  CROSS JOIN LATERAL (
    SELECT kind, key, body FROM records WHERE assistant = a.key AND kind = k.kind ${keys} LIMIT $4
  ) r
  WHERE a.tenant = $1 AND a.id = $2`

const FIRST_RECORDS = SOME_RECORDS("")
const NAMED_RECORDS = SOME_RECORDS("AND key = ANY ($5)")

/** As many as there are. */
const NO_LIMIT = null

const byKindAndKey = (one: KeptRow, other: KeptRow): number =>
  one.kind === other.kind ? (one.key < other.key ? -1 : 1) : one.kind < other.kind ? -1 : 1

const read = (
  database: Database,
  { assistant, tenant }: Address,
  kinds: ReadonlyArray<RecordKind>,
  { keys, limit }: RecordFilter
) => {
  const most = limit === undefined ? NO_LIMIT : limited(limit)
  if (keys !== undefined) {
    return database.query<KeptRow>(NAMED_RECORDS, [tenant, assistant, kinds, most, keys.map(keyText)])
  }
  return limit === undefined
    ? database.query<KeptRow>(RECORDS, [tenant, assistant, kinds])
    : database.query<KeptRow>(FIRST_RECORDS, [tenant, assistant, kinds, most])
}

export const postgresKept = (database: Database): Pick<Ledger["Service"], "records"> => ({
  records: (address, kinds, filter = {}) => {
    if (kinds.length === 0 || filter.keys?.length === 0) return Effect.succeed([])
    const toRecord = ({ body, key, kind }: KeptRow): Result.Result<RecordRow, UnreadableRecord> =>
      Result.mapBoth(parseJson(body), {
        onSuccess: (value) => ({ kind, key, value }),
        onFailure: (message) => new UnreadableRecord({ record: `${kind} ${key} of ${addressKey(address)}`, message })
      })
    return Effect.flatMap(
      Effect.mapError(read(database, address, kinds, filter), ledgerUnavailable("records")),
      (rows) => {
        const named = rows.map((row) => ({ ...row, key: readKeyText(row.key) }))
        return Effect.fromResult(Result.all(named.toSorted(byKindAndKey).map(toRecord)))
      }
    )
  }
})
