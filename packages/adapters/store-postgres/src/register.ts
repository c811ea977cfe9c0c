// Register: the assistants as they stand, the dead letters and the totals, for whoever looks in from outside.
// Owns these readings. Leaves the writing of what they show to ledger.ts and mailbox.ts.
// G1  Totals are sums over the assistants: no counter that all would have to write.

import {
  type AssistantRecord,
  type DeadLetter,
  type Ledger,
  type Readable,
  type Totals,
  UnreadableRecord
} from "@reverie/ledger"
import { addressKey, type EnvelopeId, readState } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { addressOf, assistantColumns, type AssistantRow, cursorsOf, limited } from "./assistants.ts"
import { ledgerUnavailable } from "./entry-history.ts"
import type { Database } from "./database.ts"

interface DeadLetterRow {
  readonly tenant: string
  readonly id: string
  readonly body: string
}

/** What a dead letter's row holds as JSON. */
export type DeadLetterBody = Omit<DeadLetter, "address">

const toDeadLetter = (row: DeadLetterRow): DeadLetter => ({
  address: addressOf(row),
  ...(JSON.parse(row.body) as { readonly envelope: EnvelopeId; readonly reason: string; readonly at: number })
})

const recordOf = (row: AssistantRow): Result.Result<AssistantRecord, UnreadableRecord> => {
  const address = addressOf(row)
  const { epoch, version, waiting } = row
  return Result.mapBoth(readState(row.state), {
    onSuccess: (state) => ({ address, state, version, epoch, cursors: cursorsOf(row), waiting }),
    onFailure: (message) => new UnreadableRecord({ record: `state of ${addressKey(address)}`, message })
  })
}

const WITH_STATE = `
  SELECT ${assistantColumns}, (SELECT body FROM states WHERE assistant = key) AS state FROM assistants`

const INSPECT = `${WITH_STATE} WHERE tenant = $1 AND id = $2`
const NAMES = "SELECT tenant, id FROM assistants WHERE (tenant, id) > ($1, $2) ORDER BY tenant, id LIMIT $3"
const LIST = `${WITH_STATE} WHERE (tenant, id) > ($1, $2) ORDER BY tenant, id LIMIT $3`

/** Of one tenant, or of all where it is null. */
const deadLettersIn = (order: "ASC" | "DESC"): string => `
  SELECT a.tenant, a.id, d.body FROM dead_letters d JOIN assistants a ON a.key = d.assistant
  WHERE NOT d.discarded AND d.tenant = coalesce($1::text, d.tenant) ORDER BY d.seq ${order} LIMIT $2`

const TOTALS = "SELECT accepted, settled, dead, discarded FROM totals()"

export const postgresRegister = (
  { query }: Database,
  readable: Readable
): Pick<Ledger["Service"], "addresses" | "inspect" | "list" | "deadLetters" | "totals"> => ({
  inspect: ({ assistant, tenant }) =>
    Effect.flatMap(
      Effect.mapError(query<AssistantRow>(INSPECT, [tenant, assistant]), ledgerUnavailable("inspect")),
      ([row]): Effect.Effect<AssistantRecord | undefined, UnreadableRecord> =>
        row === undefined ? Effect.succeed(undefined) : Effect.fromResult(recordOf(row))
    ),
  list: (after, limit) =>
    readable.page({
      limit: limited(limit),
      fetch: (last: AssistantRow | undefined, wanted) => {
        const from = last === undefined ? after : addressOf(last)
        const rows = query<AssistantRow>(LIST, [from?.tenant ?? "", from?.assistant ?? "", wanted])
        return Effect.mapError(rows, ledgerUnavailable("list"))
      },
      decode: recordOf
    }),
  addresses: (after, limit) =>
    Effect.mapBoth(
      query<Pick<AssistantRow, "tenant" | "id">>(NAMES, [after?.tenant ?? "", after?.assistant ?? "", limited(limit)]),
      { onSuccess: (rows) => rows.map(addressOf), onFailure: ledgerUnavailable("addresses") }
    ),
  deadLetters: (limit, { newestFirst = false, tenant = null } = {}) =>
    Effect.mapBoth(query<DeadLetterRow>(deadLettersIn(newestFirst ? "DESC" : "ASC"), [tenant, limited(limit)]), {
      onSuccess: (rows) => rows.map(toDeadLetter),
      onFailure: ledgerUnavailable("deadLetters")
    }),
  totals: Effect.mapBoth(query<Totals>(TOTALS), {
    onSuccess: ([totals]) => totals ?? { accepted: 0, settled: 0, dead: 0, discarded: 0 },
    onFailure: ledgerUnavailable("totals")
  })
})
