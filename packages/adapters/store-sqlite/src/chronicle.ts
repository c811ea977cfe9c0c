// Chronicle: what was committed, read back.
// Owns history, entries and the outbox as values. Leaves the rows to entries.ts.
// I1  Reading stops where the caller's bound is reached: a long life costs no more than a short one.

import type { DatabaseSync } from "node:sqlite"
import { type Ledger, LedgerUnavailable, type OutboxRow, UnreadableRecord } from "@reverie/ledger"
import { type Address, addressKey, isBefore, type MessagePlace, type PlacedMessage, readEntry } from "@reverie/protocol"
import * as Result from "effect/Result"
import { addressOf, assistantQueries } from "./assistants.ts"
import { entryQueries, type EntryRow } from "./entries.ts"
import { reading } from "./reading.ts"
import { limited } from "./sql.ts"
import type { SqliteFailure } from "./sqlite-failure.ts"

export const ledgerUnavailable =
  (operation: string) =>
  ({ message, cause }: SqliteFailure): LedgerUnavailable =>
    new LedgerUnavailable({ operation, message, cause })

const entryOf = (address: Address, { no, body }: EntryRow) =>
  Result.mapError(
    readEntry(body),
    (message) => new UnreadableRecord({ record: `entry ${no} of ${addressKey(address)}`, message })
  )

const toOutboxRow = (address: Address, row: EntryRow): Result.Result<OutboxRow, UnreadableRecord> =>
  Result.map(entryOf(address, row), (entry) => ({ seq: row.seq, address, entry }))

export type Chronicle = Pick<Ledger["Service"], "recent" | "entries" | "outbox" | "outboxEnd">

export const sqliteChronicle = (database: DatabaseSync): Chronicle => {
  const assistants = assistantQueries(database)
  const rows = entryQueries(database)

  const recentOf = (address: Address, last: number, maxTokens: number, since: MessagePlace) => {
    const found: Array<PlacedMessage> = []
    let tokens = 0
    let isTurnWhole = false
    for (const row of rows.backwards(last)) {
      const entry = entryOf(address, row)
      if (Result.isFailure(entry)) return Result.fail(entry.failure)
      if (row.no < since.no) break
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
      reading(ledgerUnavailable("recent"), () => {
        const row = assistants.find(address)
        return row === undefined ? Result.succeed([]) : recentOf(addressOf(row), row.last, maxTokens, since)
      }),
    entries: (address, from, limit) =>
      reading(ledgerUnavailable("entries"), () => {
        const row = assistants.find(address)
        if (row === undefined) return Result.succeed([])
        const first = Math.max(1, from)
        const found = rows.between(row.key, row.last, first, first + limited(limit) - 1)
        return Result.all(found.map((entry) => toOutboxRow(addressOf(row), entry)))
      }),
    outboxEnd: reading(ledgerUnavailable("outboxEnd"), () => Result.succeed(rows.newestSeq())),
    outbox: (after, limit) =>
      reading(ledgerUnavailable("outbox"), () =>
        Result.all(rows.after(after, limited(limit)).map((row) => toOutboxRow(addressOf(row), row)))
      )
  }
}
