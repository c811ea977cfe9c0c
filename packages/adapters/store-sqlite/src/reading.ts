// Reading: a synchronous look at the database as an effect.
// Owns the border between exceptions of SQLite and typed errors. Leaves the queries to those who ask.

import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import { type SqliteFailure, sqliteFailure } from "./sqlite-failure.ts"

export const reading = <A, E, U>(
  unavailable: (failure: SqliteFailure) => U,
  look: () => Result.Result<A, E>
): Effect.Effect<A, E | U> =>
  Effect.suspend((): Effect.Effect<A, E | U> => {
    try {
      return Effect.fromResult(look())
    } catch (error) {
      const failure = sqliteFailure(error)
      return failure === undefined ? Effect.die(error) : Effect.fail(unavailable(failure))
    }
  })
