// Register: the assistants as they stand, the dead letters and the totals, for whoever looks in from outside.
// Owns these readings. Leaves the writing of what they show to ledger.ts and mailbox.ts.

import type { DatabaseSync } from "node:sqlite"
import { type AssistantRecord, type DeadLetter, type Ledger, UnreadableRecord } from "@reverie/ledger"
import { addressKey, type EnvelopeId, readState } from "@reverie/protocol"
import * as Result from "effect/Result"
import { addressOf, assistantQueries, cursorsOf, type StateRow } from "./assistants.ts"
import { ledgerUnavailable } from "./chronicle.ts"
import { entryQueries } from "./entries.ts"
import { envelopeQueries } from "./envelopes.ts"
import { reading } from "./reading.ts"
import { limited, query } from "./sql.ts"

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
  WHERE aside IS NULL AND tenant = coalesce(?, tenant) ORDER BY seq ${order} LIMIT ?`

/** What the body of a letter of this id begins with, and of no other. */
export const beginningOf = (envelope: EnvelopeId): string => `${JSON.stringify({ envelope }).slice(0, -1)},`

/** How many letters were laid aside. They are numbered in that order, so the next one has the number after it. */
export const asideCounting = (database: DatabaseSync): (() => number) => {
  const last = query<{ readonly count: number | null }>(
    database,
    "SELECT max(aside) AS count FROM dead_letters WHERE aside IS NOT NULL"
  )
  return () => last.one()?.count ?? 0
}

export type Register = Pick<Ledger["Service"], "inspect" | "list" | "deadLetters" | "tally">

export const sqliteRegister = (database: DatabaseSync): Register => {
  const assistants = assistantQueries(database)
  const envelopes = envelopeQueries(database)
  const entries = entryQueries(database)
  const oldest = query<DeadLetterRow>(database, lettersIn("ASC"))
  const newest = query<DeadLetterRow>(database, lettersIn("DESC"))
  const aside = asideCounting(database)
  const buried = query<{ readonly seq: number | null }>(database, "SELECT max(seq) AS seq FROM dead_letters")

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

  return {
    inspect: (address) =>
      reading(ledgerUnavailable("inspect"), (): Result.Result<AssistantRecord | undefined, UnreadableRecord> => {
        const row = assistants.findWithState(address)
        return row === undefined ? Result.succeed(undefined) : recordOf(row)
      }),
    list: (after, limit) =>
      reading(ledgerUnavailable("list"), () => Result.all(assistants.listAfter(after, limited(limit)).map(recordOf))),
    deadLetters: (limit, { newestFirst = false, tenant = null } = {}) =>
      reading(ledgerUnavailable("deadLetters"), () => {
        const letters = newestFirst ? newest : oldest
        return Result.succeed(letters.all(tenant, limited(limit)).map(toDeadLetter))
      }),
    tally: reading(ledgerUnavailable("tally"), () =>
      Result.succeed({
        accepted: envelopes.accepted(),
        settled: entries.settledTotal(),
        // No row is ever deleted, so the last number is their count.
        dead: buried.one()?.seq ?? 0,
        aside: aside()
      })
    )
  }
}
