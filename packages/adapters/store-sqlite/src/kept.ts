// Kept: what assistants keep about themselves, read back.
// Owns the reading of the table `records`. Leaves its writing to ledger.ts, as part of a commit.

import type { DatabaseSync } from "node:sqlite"
import { type Ledger, type RecordFilter, UnreadableRecord } from "@reverie/ledger"
import { addressKey, parseJson, type RecordKind, type RecordRow } from "@reverie/protocol"
import * as Result from "effect/Result"
import { assistantQueries } from "./assistants.ts"
import { ledgerUnavailable } from "./entry-history.ts"
import { reading } from "./reading.ts"
import { limited, query } from "./sql.ts"

interface KeptRow {
  readonly kind: RecordKind
  readonly key: string
  readonly body: string
}

export const sqliteKept = (database: DatabaseSync): Pick<Ledger["Service"], "records"> => {
  const assistants = assistantQueries(database)
  const ofKind = query<KeptRow>(
    database,
    "SELECT kind, key, body FROM records WHERE assistant = ? AND kind = ? ORDER BY key LIMIT ?"
  )
  const underKey = query<KeptRow>(
    database,
    "SELECT kind, key, body FROM records WHERE assistant = ? AND kind = ? AND key = ?"
  )
  const isEntity = query<{ readonly there: number }>(
    database,
    "SELECT 1 AS there FROM records INDEXED BY records_entity WHERE assistant = ? AND kind = 'entity' AND key = ?"
  )
  /** Most names that a message could hold are of no entity, and are found missing without reading a row. */
  const mayBe = (assistant: number, kind: RecordKind, key: string): boolean =>
    kind !== "entity" || isEntity.one(assistant, key) !== undefined
  /** What the filter lets through of a kind. */
  const some = (assistant: number, kind: RecordKind, { keys, limit }: RecordFilter): ReadonlyArray<KeptRow> => {
    if (keys === undefined) return ofKind.all(assistant, kind, limit === undefined ? -1 : limited(limit))
    const found = [...new Set(keys)]
      .toSorted()
      .flatMap((key) => (mayBe(assistant, kind, key) ? underKey.all(assistant, kind, key) : []))
    return limit === undefined ? found : found.slice(0, limited(limit))
  }
  return {
    records: (address, kinds, filter = {}) =>
      reading(ledgerUnavailable("records"), () => {
        const row = assistants.find(address)
        if (row === undefined) return Result.succeed([])
        const toRecord = ({ body, key, kind }: KeptRow): Result.Result<RecordRow, UnreadableRecord> =>
          Result.mapBoth(parseJson(body), {
            onSuccess: (value) => ({ kind, key, value }),
            onFailure: (message) =>
              new UnreadableRecord({ record: `${kind} ${key} of ${addressKey(address)}`, message })
          })
        return Result.all([...new Set(kinds)].toSorted().flatMap((kind) => some(row.key, kind, filter).map(toRecord)))
      })
  }
}
