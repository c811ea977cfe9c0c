// Register: the assistants as they stand, the dead letters and the totals, for whoever looks in from outside.
// Owns these readings. Leaves the writing of what they show to ledger.ts and mailbox.ts.

import type { DatabaseSync } from "node:sqlite"
import { type AssistantRecord, type DeadLetter, type Ledger, type Readable, UnreadableRecord } from "@reverie/ledger"
import { addressKey, type EnvelopeId, readState } from "@reverie/protocol"
import * as Result from "effect/Result"
import { addressOf, assistantQueries, cursorsOf, type ListedRow, type StateRow } from "./assistants.ts"
import { ledgerUnavailable } from "./entry-history.ts"
import { entryQueries } from "./entries.ts"
import { envelopeQueries } from "../mailbox/envelopes.ts"
import { reading } from "../reading.ts"
import { undamaged } from "../files/salvage.ts"
import { limited, query } from "../sql.ts"

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

/** Of one tenant, or of all where it is null. */
const lettersIn = (order: "ASC" | "DESC"): string => `
  SELECT tenant, id, body FROM dead_letters INDEXED BY dead_letters_told CROSS JOIN assistants ON key = assistant
  WHERE discarded IS NULL AND tenant = coalesce(?, tenant) ORDER BY seq ${order} LIMIT ?`

/** What the body of a letter of this id begins with, and of no other. */
export const beginningOf = (envelope: EnvelopeId): string => `${JSON.stringify({ envelope }).slice(0, -1)},`

/** How many letters were discarded. They are numbered in that order, so the next one has the number after it. */
export const discardedCounting = (database: DatabaseSync): (() => number) => {
  const last = query<{ readonly count: number | null }>(
    database,
    "SELECT max(discarded) AS count FROM dead_letters WHERE discarded IS NOT NULL"
  )
  return () => last.one()?.count ?? 0
}

export type Register = Pick<Ledger["Service"], "addresses" | "inspect" | "list" | "deadLetters" | "totals">

export const sqliteRegister = (database: DatabaseSync, readable: Readable): Register => {
  const assistants = assistantQueries(database)
  const envelopes = envelopeQueries(database)
  const entries = entryQueries(database)
  const oldest = query<DeadLetterRow>(database, lettersIn("ASC"))
  const newest = query<DeadLetterRow>(database, lettersIn("DESC"))
  const discarded = discardedCounting(database)
  const deadLettered = query<{ readonly seq: number | null }>(database, "SELECT max(seq) AS seq FROM dead_letters")

  const recordOf = (row: StateRow): Result.Result<AssistantRecord, UnreadableRecord> => {
    const address = addressOf(row)
    const state = readState(row.state)
    if (Result.isFailure(state)) {
      return Result.fail(new UnreadableRecord({ record: `state of ${addressKey(address)}`, message: state.failure }))
    }
    const { version, epoch, key } = row
    const cursors = cursorsOf(row)
    const waiting = envelopes.waitingCount(key, cursors)
    return Result.succeed({ address, state: state.success, version, epoch, cursors, waiting })
  }

  const DAMAGED = "a page of the database is damaged"
  const listed = (row: ListedRow): Result.Result<AssistantRecord, UnreadableRecord> => {
    const record = "isDamaged" in row ? undefined : undamaged(() => recordOf(row))?.value
    return record ?? Result.fail(new UnreadableRecord({ record: addressKey(addressOf(row)), message: DAMAGED }))
  }

  return {
    inspect: (address) =>
      reading(ledgerUnavailable("inspect"), (): Result.Result<AssistantRecord | undefined, UnreadableRecord> => {
        const row = assistants.findWithState(address)
        return row === undefined ? Result.succeed(undefined) : recordOf(row)
      }),
    list: (after, limit) =>
      readable.page({
        limit: limited(limit),
        fetch: (last: ListedRow | undefined, wanted) =>
          reading(ledgerUnavailable("list"), () =>
            Result.succeed(assistants.listAfter(last === undefined ? after : addressOf(last), wanted))
          ),
        decode: listed
      }),
    addresses: (after, limit) =>
      reading(ledgerUnavailable("addresses"), () =>
        Result.succeed(assistants.namesAfter(after, limited(limit)).map(addressOf))
      ),
    deadLetters: (limit, { newestFirst = false, tenant = null } = {}) =>
      reading(ledgerUnavailable("deadLetters"), () => {
        const letters = newestFirst ? newest : oldest
        return Result.succeed(letters.all(tenant, limited(limit)).map(toDeadLetter))
      }),
    totals: reading(ledgerUnavailable("totals"), () =>
      Result.succeed({
        accepted: envelopes.accepted(),
        settled: entries.settledTotal(),
        // No row is ever deleted, so the last number is their count.
        dead: deadLettered.one()?.seq ?? 0,
        discarded: discarded()
      })
    )
  }
}
