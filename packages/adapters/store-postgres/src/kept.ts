// Kept: what assistants keep about themselves, read back.
// Owns the reading of the table `records`. Leaves its writing to commits.

import { type Ledger, UnreadableRecord } from "@reverie/ledger"
import { addressKey, parseJson, readKeyText, type RecordKind, type RecordRow } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { ledgerUnavailable } from "./chronicle.ts"
import type { Database } from "./database.ts"

interface KeptRow {
  readonly kind: RecordKind
  readonly key: string
  readonly body: string
}

const RECORDS = `
  SELECT r.kind, r.key, r.body FROM records r JOIN assistants a ON a.key = r.assistant
  WHERE a.tenant = $1 AND a.id = $2 AND r.kind = ANY ($3)`

const byKindAndKey = (one: KeptRow, other: KeptRow): number =>
  one.kind === other.kind ? (one.key < other.key ? -1 : 1) : one.kind < other.kind ? -1 : 1

export const postgresKept = (database: Database): Pick<Ledger["Service"], "records"> => ({
  records: (address, kinds) => {
    if (kinds.length === 0) return Effect.succeed([])
    const toRecord = ({ body, key, kind }: KeptRow): Result.Result<RecordRow, UnreadableRecord> =>
      Result.mapBoth(parseJson(body), {
        onSuccess: (value) => ({ kind, key, value }),
        onFailure: (message) => new UnreadableRecord({ record: `${kind} ${key} of ${addressKey(address)}`, message })
      })
    return Effect.flatMap(
      Effect.mapError(
        database.query<KeptRow>(RECORDS, [address.tenant, address.assistant, kinds]),
        ledgerUnavailable("records")
      ),
      (rows) => {
        const named = rows.map((row) => ({ ...row, key: readKeyText(row.key) }))
        return Effect.fromResult(Result.all(named.toSorted(byKindAndKey).map(toRecord)))
      }
    )
  }
})
