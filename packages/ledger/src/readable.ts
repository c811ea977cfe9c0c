// Readable: pages of rows of which some may be damaged, or written by a newer Reverie.
// Owns passing over what cannot be read, and saying so. Leaves fetching and decoding to the adapters.
// R1  A page is full unless nothing more follows: whoever pages on by its last row misses nobody.
// R2  What is passed over is said once, with its name, in the life of a store.

import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { UnreadableRecord } from "./errors.ts"

export interface ReadablePage<Row, A, E, R> {
  readonly limit: number
  /** Rows behind the given one, in order; the first ones when there is none. */
  readonly fetch: (last: Row | undefined, limit: number) => Effect.Effect<ReadonlyArray<Row>, E, R>
  readonly decode: (row: Row) => Result.Result<A, UnreadableRecord>
}

export class Readable {
  readonly #said = new Set<string>()

  page<Row, A, E, R>({ decode, fetch, limit }: ReadablePage<Row, A, E, R>): Effect.Effect<ReadonlyArray<A>, E, R> {
    const passOver = (unreadable: UnreadableRecord) => this.#passOver(unreadable)
    return Effect.gen(function* () {
      const found: Array<A> = []
      let last: Row | undefined
      while (found.length < limit) {
        const wanted = limit - found.length
        const rows = yield* fetch(last, wanted)
        for (const row of rows) {
          const decoded = decode(row)
          if (Result.isSuccess(decoded)) found.push(decoded.success)
          else yield* passOver(decoded.failure)
        }
        last = rows.at(-1)
        if (rows.length < wanted) break
      }
      return found
    })
  }

  #passOver({ message, record }: UnreadableRecord): Effect.Effect<void> {
    if (this.#said.has(record)) return Effect.void
    this.#said.add(record)
    return Effect.logWarning(
      `${record} cannot be read and is passed over: ${message}; reverie doctor --deep tells more`
    )
  }
}
