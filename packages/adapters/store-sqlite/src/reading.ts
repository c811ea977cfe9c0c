// Reading: a synchronous look at the database as an effect.
// Owns the border between exceptions of SQLite and typed errors. Leaves the queries to those who ask.
// R1  Rows that may be long are read so that the event loop turns between them.

import { MAX_PAGE_CHARS } from "@reverie/ledger"
import { longWork, SHORT_TEXT } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type SqliteFailure, sqliteFailure } from "./sqlite-failure.ts"

/** What is wrong with the database, as an effect; a bug stays one. */
const failed = <U>(unavailable: (failure: SqliteFailure) => U, error: unknown): Effect.Effect<never, U> => {
  const failure = sqliteFailure(error)
  return failure === undefined ? Effect.die(error) : Effect.fail(unavailable(failure))
}

export const reading = <A, E, U>(
  unavailable: (failure: SqliteFailure) => U,
  look: () => Result.Result<A, E>
): Effect.Effect<A, E | U> =>
  Effect.suspend((): Effect.Effect<A, E | U> => {
    try {
      return Effect.fromResult(look())
    } catch (error) {
      return failed(unavailable, error)
    }
  })

/** A look that goes from row to row and yields the length of each. */
export type LongLook<A, E> = () => Generator<number, Result.Result<A, E>>

export const readingLong = <A, E, U>(
  unavailable: (failure: SqliteFailure) => U,
  look: LongLook<A, E>
): Effect.Effect<A, E | U> =>
  Effect.suspend((): Effect.Effect<A, E | U> => {
    const looking = look()
    const goOn = (): Effect.Effect<A, E | U> => {
      try {
        for (let step = looking.next(); ; step = looking.next()) {
          if (step.done === true) return Effect.fromResult(step.value)
          if (step.value <= SHORT_TEXT) continue
          longWork.note(step.value)
          return Effect.flatMap(longWork.room, goOn)
        }
      } catch (error) {
        return failed(unavailable, error)
      }
    }
    return longWork.hasRoom ? goOn() : Effect.flatMap(longWork.room, goOn)
  })

/** Rows until there are enough characters: of long ones a page has fewer. */
export const pageOf = <Row extends { readonly body: string }>(rows: Iterable<Row>): ReadonlyArray<Row> => {
  const page: Array<Row> = []
  let characters = 0
  for (const row of rows) {
    page.push(row)
    characters += row.body.length
    if (characters >= MAX_PAGE_CHARS) break
  }
  return page
}

/** A page of rows, in a turn of the event loop that has room for it. */
export const readingPage = <Row, U>(
  unavailable: (failure: SqliteFailure) => U,
  look: () => ReadonlyArray<Row>
): Effect.Effect<ReadonlyArray<Row>, U> =>
  Effect.andThen(
    longWork.room,
    reading(unavailable, () => Result.succeed(look()))
  )

/** What is read of a row, in characters. */
export const lengthOf = ({ body }: { readonly body: string }): number => body.length
