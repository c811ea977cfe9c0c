// IndexParts: a page of entries in parts that are indexed in milliseconds.
// Owns reading a page around what cannot be read, and how long a part is. Leaves which pages, and applying parts, to indexer.ts.

import {
  type EntrySpan,
  isWithheld,
  Ledger,
  type LedgerUnavailable,
  type OutboxRow,
  type UnreadableRecord
} from "@reverie/ledger"
import type { Address, Entry } from "@reverie/protocol"
import * as Effect from "effect/Effect"

type Reading<A> = Effect.Effect<A, LedgerUnavailable | UnreadableRecord, Ledger>

/** Rows that can be read, and the numbers of those between and behind them that can not. */
interface Around {
  readonly rows: ReadonlyArray<OutboxRow>
  readonly lost: ReadonlyArray<LostSpan>
}

interface LostSpan extends EntrySpan {
  readonly unreadable: UnreadableRecord
}

const NOTHING: Around = { rows: [], lost: [] }

/** As many entries from a number on, in their rows, around those of a segment that cannot be read. */
const aroundLost = (address: Address, from: number, limit: number): Reading<Around> =>
  Effect.catchTag(
    Effect.map(
      Ledger.use((ledger) => ledger.entries(address, from, limit)),
      (rows): Around => ({ rows, lost: [] })
    ),
    "UnreadableRecord",
    (unreadable): Reading<Around> => {
      const { lost } = unreadable
      if (lost === undefined) return Effect.fail(unreadable)
      const before = lost.from > from ? aroundLost(address, from, lost.from - from) : Effect.succeed(NOTHING)
      return Effect.flatMap(before, (read) =>
        Effect.map(aroundLost(address, lost.to + 1, limit - read.rows.length), (more) => ({
          rows: [...read.rows, ...more.rows],
          lost: [...read.lost, { ...lost, unreadable }, ...more.lost]
        }))
      )
    }
  )

/** As many entries from a number on, in their rows, without those of a segment that cannot be read. */
export const readableRows = (address: Address, from: number, limit: number): Reading<ReadonlyArray<OutboxRow>> =>
  Effect.map(aroundLost(address, from, limit), ({ rows }) => rows)

/** The same without their rows. */
export const readableEntries = (address: Address, from: number, limit: number): Reading<ReadonlyArray<Entry>> =>
  Effect.map(readableRows(address, from, limit), (rows) => rows.map(({ entry }) => entry))

/** A page of entries, and what cannot be read between them and around them. */
export interface EntryPage {
  readonly entries: ReadonlyArray<Entry>
  readonly lost: ReadonlyArray<EntrySpan>
}

/** The same with what of them cannot be read. */
export const pageAt = (address: Address, from: number, limit: number): Reading<EntryPage> =>
  Effect.map(aroundLost(address, from, limit), ({ lost, rows }) => ({
    entries: rows.map(({ entry }) => entry),
    lost: lost.map((span) => ({ from: Math.max(span.from, from), to: span.to }))
  }))

/**
 * The same for one that never comes back to what it has passed by: fails where that may well be whole. What is lost of it is named for the
 * log.
 */
export const pageOnce = (
  address: Address,
  from: number,
  limit: number
): Reading<Pick<Around, "rows"> & { readonly lost: ReadonlyArray<EntrySpan & { readonly why: string }> }> =>
  Effect.flatMap(aroundLost(address, from, limit), ({ lost, rows }) => {
    const whole = lost.find(({ unreadable }) => isWithheld(unreadable.message))
    return whole === undefined
      ? Effect.succeed({
          rows,
          lost: lost.map((span) => ({ from: span.from, to: span.to, why: span.unreadable.message }))
        })
      : Effect.fail(whole.unreadable)
  })

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
