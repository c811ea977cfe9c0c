// IndexParts: a page of entries in parts that are indexed in milliseconds.
// Owns reading a page around what cannot be read, and how long a part is. Leaves which pages, and applying parts, to indexer.ts.

import { Ledger, type LedgerUnavailable, type OutboxRow, type UnreadableRecord } from "@reverie/ledger"
import type { Address, Entry } from "@reverie/protocol"
import * as Effect from "effect/Effect"

type Reading<A> = Effect.Effect<ReadonlyArray<A>, LedgerUnavailable | UnreadableRecord, Ledger>

/** As many entries from a number on, in their rows; those of a segment that cannot be read are passed over. */
export const readableRows = (address: Address, from: number, limit: number): Reading<OutboxRow> =>
  Effect.catchTag(
    Ledger.use((ledger) => ledger.entries(address, from, limit)),
    "UnreadableRecord",
    (unreadable): Reading<OutboxRow> => {
      const { lost } = unreadable
      if (lost === undefined) return Effect.fail(unreadable)
      const before = lost.from > from ? readableRows(address, from, lost.from - from) : Effect.succeed([])
      return Effect.flatMap(before, (read) =>
        Effect.map(readableRows(address, lost.to + 1, limit - read.length), (more) => [...read, ...more])
      )
    }
  )

/** The same without their rows. */
export const readableEntries = (address: Address, from: number, limit: number): Reading<Entry> =>
  Effect.map(readableRows(address, from, limit), (rows) => rows.map(({ entry }) => entry))

/** Of all texts that are indexed at once, as much of each as an index takes of it. */
const MAX_PART_CHARS = 8_000
const MAX_ENTRY_CHARS = 8_000
export const charsOf = (entries: ReadonlyArray<Entry>): number =>
  entries.reduce(
    (sum, { messages }) =>
      sum + messages.reduce((own, { content }) => own + Math.min(content.length, MAX_ENTRY_CHARS), 0),
    0
  )

/** A page in parts that are indexed in milliseconds: one for most pages, more where texts are long. */
export const partsOf = (page: ReadonlyArray<Entry>): ReadonlyArray<ReadonlyArray<Entry>> => {
  const parts: Array<Array<Entry>> = []
  let chars = MAX_PART_CHARS
  for (const entry of page) {
    if (chars >= MAX_PART_CHARS) {
      parts.push([])
      chars = 0
    }
    parts.at(-1)?.push(entry)
    chars += charsOf([entry])
  }
  return parts
}
