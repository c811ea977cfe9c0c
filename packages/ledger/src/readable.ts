// Readable: pages of rows of which some may be damaged, or written by a newer Reverie.
// Owns passing over what cannot be read, and saying so. Leaves fetching and decoding to the adapters.
// R1  A page is full unless nothing more follows, or its texts come to MAX_PAGE_CHARS: paging on by its last row misses nothing.
//     It is empty only when nothing more follows.
// R2  What is passed over is said once, with its name, in the life of a store.
// R3  The event loop turns between rows with long texts.

import { longWork } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { UnreadableRecord } from "./errors.ts"
import { MAX_PAGE_CHARS } from "./ledger.ts"

export interface ReadablePage<Row, A, E, R> {
  readonly limit: number
  /** Rows behind the given one, in order; the first ones when there is none. Fewer than asked for where they are long. */
  readonly fetch: (last: Row | undefined, limit: number) => Effect.Effect<ReadonlyArray<Row>, E, R>
  /** What is read of a row, in characters; none when rows are always short. */
  readonly lengthOf?: (row: Row) => number
  readonly decode: (row: Row) => Result.Result<A, UnreadableRecord>
}

export class Readable {
  readonly #said = new Set<string>()

  page<Row, A, E, R>(query: ReadablePage<Row, A, E, R>): Effect.Effect<ReadonlyArray<A>, E, R> {
    const { decode, fetch, lengthOf = () => 0, limit } = query
    const passOver = (unreadable: UnreadableRecord) => this.#passOver(unreadable)
    return Effect.gen(function* () {
      const found: Array<A> = []
      let last: Row | undefined
      for (let isMore = limit > 0; isMore;) {
        const wanted = limit - found.length
        const rows = yield* fetch(last, wanted)
        let characters = 0
        for (const row of rows) {
          const length = lengthOf(row)
          characters += length
          yield* longWork.begin(length)
          const decoded = decode(row)
          if (Result.isSuccess(decoded)) found.push(decoded.success)
          else yield* passOver(decoded.failure)
        }
        last = rows.at(-1)
        const isCutShort = characters >= MAX_PAGE_CHARS
        const isLongEnough = found.length >= limit || (isCutShort && found.length > 0)
        isMore = !isLongEnough && (isCutShort || rows.length === wanted)
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
