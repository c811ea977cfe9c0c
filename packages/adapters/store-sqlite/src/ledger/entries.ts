// Entries: the rows of the ledger.
// Owns appending and the two ways to find a row: all of them by `seq`, those of one assistant backwards along `previous`.
// E1  Every LANDMARK_EVERYth entry of an assistant is in an index, so that a walk to any entry is as long as what it
//     reads and less than LANDMARK_EVERY steps more; the other commits write no index.
// E2  `settled` is the number of envelopes settled up to and including the row, over the whole store.

import type { DatabaseSync } from "node:sqlite"
import { LANDMARK_EVERY } from "../formats.ts"
import { pageOf } from "../reading.ts"
import { BEHIND, salvaging } from "../files/salvage.ts"
import { change, query } from "../sql.ts"

export interface EntryRow {
  readonly seq: number
  readonly no: number
  /** The `seq` of the assistant's entry before, 0 at its creation. */
  readonly previous: number
  readonly body: string
}

export interface OutboxEntryRow extends EntryRow {
  readonly tenant: string
  readonly id: string
}

export interface NewEntry {
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
  const bySeq = query<EntryRow>(database, "SELECT seq, no, previous, body FROM ledger WHERE seq = ?")
  const step = query<Omit<EntryRow, "body">>(database, "SELECT seq, no, previous FROM ledger WHERE seq = ?")
  const landmark = query<{ readonly seq: number }>(
    database,
    `SELECT seq FROM ledger WHERE assistant = ? AND no >= ? AND no % ${LANDMARK_EVERY} = 0 ORDER BY no LIMIT 1`
  )
  // CROSS JOIN keeps the order of the tables: the ledger leads, each row looks up one assistant.
  const after = query<OutboxEntryRow>(
    database,
    `SELECT seq, no, previous, body, tenant, id
     FROM ledger CROSS JOIN assistants ON key = assistant WHERE ${BEHIND} ORDER BY seq LIMIT ?`
  )
  const newest = query<{ readonly seq: number; readonly settled: number }>(
    database,
    "SELECT seq, settled FROM ledger ORDER BY seq DESC LIMIT 1"
  )
  const backwards = function* (seq: number): Generator<EntryRow> {
    for (let row = bySeq.one(seq); row !== undefined; row = bySeq.one(row.previous)) yield row
  }
  return {
    /** Answers the place in the outbox. */
    append: ({ assistant, no, previous, settled, body }: NewEntry): number =>
      append(assistant, no, previous, settled, body).lastSeq,
    /** From the given row on towards the creation. */
    backwards,
    /** Entries `to` down to `from` of one assistant. `last` is its newest row. */
    between: function* (assistant: number, last: number, from: number, to: number): Generator<EntryRow> {
      let at = step.one(landmark.one(assistant, to)?.seq ?? last)
      // What is only walked over may be long, and is not read.
      while (at !== undefined && at.no > to) at = step.one(at.previous)
      for (const row of backwards(at?.seq ?? 0)) {
        if (row.no < from) return
        yield row
      }
    },
    newestSeq: (): number => newest.one()?.seq ?? 0,
    after: salvaging<OutboxEntryRow>(
      (seq, limit) => pageOf(after.each(seq, limit)),
      () => newest.one()?.seq ?? 0
    ),
    settledTotal: (): number => newest.one()?.settled ?? 0
  }
}
