// Chronicle: what was committed, read back.
// Owns history, entries and the outbox as values. Leaves the rows to entries.ts.
// I1  Reading stops where the caller's bound is reached: a long life costs no more than a short one.

import type { DatabaseSync } from "node:sqlite"
import { type Ledger, LedgerUnavailable, type OutboxRow, type Readable, UnreadableRecord } from "@reverie/ledger"
import { type Address, addressKey, isBefore, type MessagePlace, type PlacedMessage, readEntry } from "@reverie/protocol"
import * as Result from "effect/Result"
import { addressOf, assistantQueries } from "./assistants.ts"
import { entryQueries, type EntryRow, type OutboxEntryRow } from "./entries.ts"
import { lengthOf, reading, readingLong, readingPage } from "../reading.ts"
import { limited } from "../sql.ts"
import type { SqliteFailure } from "../sqlite-failure.ts"

export const ledgerUnavailable =
  (operation: string) =>
  ({ cause, kind, message }: SqliteFailure): LedgerUnavailable =>
    new LedgerUnavailable({ operation, message, cause, isDamaged: kind === "damaged" })

const entryOf = (address: Address, { no, body }: EntryRow) =>
  Result.mapError(
    readEntry(body),
    (message) => new UnreadableRecord({ record: `entry ${no} of ${addressKey(address)}`, message })
  )

const toOutboxRow = (address: Address, row: EntryRow): Result.Result<OutboxRow, UnreadableRecord> =>
  Result.map(entryOf(address, row), (entry) => ({ seq: row.seq, address, entry }))

export type EntryHistory = Pick<Ledger["Service"], "recent" | "entries" | "outbox" | "outboxEnd">

export const sqliteEntryHistory = (database: DatabaseSync, readable: Readable): EntryHistory => {
  const assistants = assistantQueries(database)
  const rows = entryQueries(database)

  const recentOf = function* (address: Address, last: number, maxTokens: number, since: MessagePlace) {
    const found: Array<PlacedMessage> = []
    let tokens = 0
    let isTurnWhole = false
    for (const row of rows.backwards(last)) {
      const entry = entryOf(address, row)
      if (Result.isFailure(entry)) return Result.fail(entry.failure)
      if (row.no < since.no) break
      yield row.body.length
      for (const [index, message] of [...entry.success.messages.entries()].toReversed()) {
        const place = { no: row.no, index }
        if (isBefore(place, since)) break
        tokens += message.tokens
        if (tokens > maxTokens && isTurnWhole) return Result.succeed(found.toReversed())
        found.push({ place, message })
        isTurnWhole ||= message.role === "user"
      }
    }
    return Result.succeed(found.toReversed())
  }

  return {
    recent: (address, maxTokens, since = { no: 0, index: 0 }) =>
      readingLong(ledgerUnavailable("recent"), function* () {
        const row = assistants.find(address)
        return row === undefined ? Result.succeed([]) : yield* recentOf(addressOf(row), row.last, maxTokens, since)
      }),
    entries: (address, from, limit) =>
      readingLong(ledgerUnavailable("entries"), function* () {
        const row = assistants.find(address)
        if (row === undefined) return Result.succeed([])
        const first = Math.max(1, from)
        const found: Array<Result.Result<OutboxRow, UnreadableRecord>> = []
        for (const entry of rows.between(row.key, row.last, first, first + limited(limit) - 1)) {
          found.push(toOutboxRow(addressOf(row), entry))
          yield entry.body.length
        }
        return Result.all(found.toReversed())
      }),
    outboxEnd: reading(ledgerUnavailable("outboxEnd"), () => Result.succeed(rows.newestSeq())),
    outbox: (after, limit) =>
      readable.page({
        limit: limited(limit),
        fetch: (last: OutboxEntryRow | undefined, wanted) =>
          readingPage(ledgerUnavailable("outbox"), () => rows.after(last?.seq ?? after, wanted)),
        lengthOf,
        decode: (row) => toOutboxRow(addressOf(row), row)
      })
  }
}
