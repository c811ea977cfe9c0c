// Pages: rows with long texts in them, read without holding up the process or filling its memory.
// Owns how much one query brings, and when the event loop turns while rows are read. Leaves the queries to those who ask.
// G1  A page ends with the row in which its texts come to MAX_PAGE_CHARS bytes; the first row is always in it.
// G2  Rows are read one after the other, and the event loop turns where they are long.

import { MAX_PAGE_CHARS } from "@reverie/ledger"
import { longWork } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"

interface Bodied {
  readonly body: string
}

/** The rows of an ordered query up to that bound, as they come: nothing here sorts them again. */
export const bounded = (rows: string): string => `
  SELECT * FROM (
    SELECT page.*, sum(text_bytes(body)) OVER (ROWS UNBOUNDED PRECEDING) - text_bytes(body) AS ahead
    FROM (${rows}) page
  ) sized WHERE ahead < ${MAX_PAGE_CHARS}`

/** In bytes, as a page is measured. */
export const lengthOf = ({ body }: Bodied): number => Buffer.byteLength(body)

/** True when a page ended for its length, and more may follow. */
export const isCutShort = (rows: ReadonlyArray<Bodied>): boolean =>
  rows.reduce((sum, row) => sum + lengthOf(row), 0) >= MAX_PAGE_CHARS

/** What each row is read as; the first one that can not be read fails all of them. */
export const readEach = <Row extends Bodied, A, E>(
  rows: ReadonlyArray<Row>,
  read: (row: Row) => Result.Result<A, E>
): Effect.Effect<ReadonlyArray<A>, E> =>
  Effect.gen(function* () {
    const found: Array<A> = []
    for (const row of rows) {
      yield* longWork.begin(row.body.length)
      found.push(yield* Effect.fromResult(read(row)))
    }
    return found
  })
