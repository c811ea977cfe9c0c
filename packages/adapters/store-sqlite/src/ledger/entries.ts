// Entries: the rows of the ledger, and what was committed, read back.
// E1  Every LANDMARK_EVERYth entry of an assistant is in an index, so that a walk to any entry is as long as what it
//     reads and less than LANDMARK_EVERY steps more; the other commits write no index.
// E2  `settled` is the number of envelopes settled up to and including the row, over the whole store.

import type { DatabaseSync } from "node:sqlite"
import {
  type Ledger,
  MAX_PAGE_CHARS,
  type OutboxRow,
  placeOfText,
  type Readable,
  unopenedReason,
  UnreadableRecord,
  unreadReason
} from "@reverie/ledger"
import { type Address, addressKey, isBefore, type MessagePlace, type PlacedMessage, readEntry } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { BEHIND, salvaging } from "../files/salvage.ts"
import { LANDMARK_EVERY } from "../formats.ts"
import { change, lengthOf, limited, pageOf, query, reading, readingLong, readingPage } from "../sql.ts"
import { addressOf, assistantQueries, ledgerUnavailable } from "./assistants.ts"
import { segmentsOf } from "./segments.ts"

interface EntryRow {
  readonly seq: number
  readonly no: number
  /** The `seq` of the assistant's entry before, 0 at its creation. */
  readonly previous: number
  readonly body: string
}

interface OutboxEntryRow extends EntryRow {
  readonly tenant: string
  readonly id: string
}

interface NewEntry {
  readonly assistant: number
  readonly no: number
  readonly previous: number
  readonly settled: number
  readonly body: string
}

export const entryQueries = (database: DatabaseSync) => {
  const append = change(
    database,
    `INSERT INTO ledger (assistant, no, previous, settled, body)
     VALUES (?, ?, ?, ? + coalesce((SELECT settled FROM ledger ORDER BY seq DESC LIMIT 1), 0), ?)`
  )
  const bySeq = query<EntryRow>(database, "SELECT seq, assistant, no, previous, body FROM ledger WHERE seq = ?")
  const step = query<Omit<EntryRow, "body">>(database, "SELECT seq, no, previous FROM ledger WHERE seq = ?")
  const landmark = query<{ readonly seq: number }>(
    database,
    `SELECT seq FROM ledger WHERE assistant = ? AND no >= ? AND no % ${LANDMARK_EVERY} = 0 ORDER BY no LIMIT 1`
  )
  // CROSS JOIN keeps the order of the tables: the ledger leads, each row looks up one assistant.
  const after = query<OutboxEntryRow>(
    database,
    `SELECT seq, assistant, no, previous, body, tenant, id
     FROM ledger CROSS JOIN assistants ON key = assistant WHERE ${BEHIND} ORDER BY seq LIMIT ?`
  )
  const newest = query<{ readonly seq: number; readonly settled: number }>(
    database,
    "SELECT seq, settled FROM ledger ORDER BY seq DESC LIMIT 1"
  )
  const segments = segmentsOf(database)
  const atHand = <Row extends EntryRow>(row: Row): Row => {
    const body = segments.text(row.body)
    return typeof body === "string" ? { ...row, body } : row
  }
  const asKept = function* (seq: number): Generator<EntryRow> {
    for (let row = bySeq.one(seq); row !== undefined; row = bySeq.one(row.previous)) yield row
  }
  const startOf = (assistant: number, last: number, to: number): number => {
    let at = step.one(landmark.one(assistant, to)?.seq ?? last)
    // What is only walked over may be long, and is not read.
    while (at !== undefined && at.no > to) at = step.one(at.previous)
    return at?.seq ?? 0
  }
  return {
    /** Answers the place in the outbox. */
    append: ({ assistant, no, previous, settled, body }: NewEntry): number =>
      append(assistant, no, previous, settled, body).lastSeq,
    /** From the given row on towards the creation, with what stands in the rows themselves. */
    backwards: asKept,
    /** Entries `to` down to `from` of one assistant, with what stands in the rows themselves. `last` is its newest row. */
    between: function* (assistant: number, last: number, from: number, to: number): Generator<EntryRow> {
      for (const row of asKept(startOf(assistant, last, to))) {
        if (row.no < from) return
        yield row
      }
    },
    /** The text of a row. */
    textOf: (body: string) => segments.textLater(body),
    newestSeq: (): number => newest.one()?.seq ?? 0,
    /** Behind a number; the last one may have its text apart, and is then as it stands in the row. */
    after: salvaging<OutboxEntryRow>(
      (seq, limit) =>
        pageOf(Iterator.from(after.each(seq, limit)).map(atHand), ({ body }) => placeOfText(body) !== undefined),
      () => newest.one()?.seq ?? 0
    ),
    settledTotal: (): number => newest.one()?.settled ?? 0
  }
}

// EntryHistory: what was committed, read back.
// I1  Reading stops where the caller's bound is reached: a long life costs no more than a short one.

const entryOf = (address: Address, { no, body }: EntryRow) =>
  Result.mapError(
    readEntry(body),
    (message) =>
      new UnreadableRecord({
        record: `entry ${no} of ${addressKey(address)}`,
        message: unreadReason(body) ?? unopenedReason(body) ?? message
      })
  )

/** Entries, or why there are none, with the numbers of all that are in the segment of the one that is lost. */
const withSpan = <A>(
  database: DatabaseSync,
  assistant: number,
  lost: number | undefined,
  read: Result.Result<A, UnreadableRecord>
): Result.Result<A, UnreadableRecord> => {
  if (lost === undefined || Result.isSuccess(read)) return read
  const span = query<{ readonly before: number; readonly to: number }>(
    database,
    `SELECT min(up_to) AS "to", coalesce((SELECT max(up_to) FROM segments WHERE assistant = ? AND up_to < ?), 0) AS before
     FROM segments WHERE assistant = ? AND up_to >= ?`
  )
  const { before, to } = span.one(assistant, lost, assistant, lost) ?? { before: lost - 1, to: lost }
  const { message, record } = read.failure
  return Result.fail(new UnreadableRecord({ message, record, lost: { from: before + 1, to } }))
}

const toOutboxRow = (address: Address, row: EntryRow): Result.Result<OutboxRow, UnreadableRecord> =>
  Result.map(entryOf(address, row), (entry) => ({ seq: row.seq, address, entry }))

/** Pages of the outbox. One whose rows are in many segments has them one after the other. */
const outboxPages = (database: DatabaseSync) => {
  const rows = entryQueries(database)
  const segments = segmentsOf(database)
  const unavailable = ledgerUnavailable("outbox")
  return (after: number, limit: number) =>
    Effect.gen(function* () {
      const page: Array<OutboxEntryRow> = []
      let characters = 0
      while (true) {
        const behind = page.at(-1)?.seq ?? after
        const found = yield* readingPage(unavailable, () => rows.after(behind, limit - page.length))
        const end = found.at(-1)
        const isApart = end !== undefined && placeOfText(end.body) !== undefined
        const body = isApart ? yield* reading(unavailable, () => Result.succeed(segments.whole(end.body))) : ""
        const read = isApart ? [...found.slice(0, -1), { ...end, body }] : found
        page.push(...read)
        characters += read.reduce((sum, row) => sum + row.body.length, 0)
        if (!isApart || page.length >= limit || characters >= MAX_PAGE_CHARS) return page
      }
    })
}

type EntryHistory = Pick<Ledger["Service"], "recent" | "entries" | "outbox" | "outboxEnd">

export const sqliteEntryHistory = (database: DatabaseSync, readable: Readable): EntryHistory => {
  const assistants = assistantQueries(database)
  const rows = entryQueries(database)
  const segments = segmentsOf(database)
  const outboxPage = outboxPages(database)

  const recentOf = function* (address: Address, last: number, maxTokens: number, since: MessagePlace) {
    const found: Array<PlacedMessage> = []
    let tokens = 0
    let isTurnWhole = false
    for (const kept of rows.backwards(last)) {
      if (kept.no < since.no) break
      const row = { ...kept, body: yield* rows.textOf(kept.body) }
      // As where there is room for no more: a turn of which only the end is left begins no window.
      if (segments.whyLost(kept.body) !== undefined) break
      const entry = entryOf(address, row)
      if (Result.isFailure(entry)) return Result.fail(entry.failure)
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
        return row === undefined ? Result.succeed([]) : yield* recentOf(address, row.last, maxTokens, since)
      }),
    entries: (address, from, limit) =>
      readingLong(ledgerUnavailable("entries"), function* () {
        const row = assistants.find(address)
        if (row === undefined) return Result.succeed([])
        const first = Math.max(1, from)
        const found: Array<Result.Result<OutboxRow, UnreadableRecord>> = []
        let lost: number | undefined
        for (const kept of rows.between(row.key, row.last, first, first + limited(limit) - 1)) {
          const body = yield* rows.textOf(kept.body)
          found.push(toOutboxRow(address, { ...kept, body }))
          if (unreadReason(body) !== undefined) lost = kept.no
          yield body.length
        }
        return withSpan(database, row.key, lost, Result.all(found.toReversed()))
      }),
    outboxEnd: reading(ledgerUnavailable("outboxEnd"), () => Result.succeed(rows.newestSeq())),
    outbox: (after, limit) =>
      readable.page({
        limit: limited(limit),
        fetch: (last: OutboxEntryRow | undefined, wanted) => outboxPage(last?.seq ?? after, wanted),
        lengthOf,
        decode: (row) => toOutboxRow(addressOf(row), row)
      })
  }
}
