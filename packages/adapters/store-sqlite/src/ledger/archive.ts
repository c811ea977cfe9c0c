// Archive on SQLite: which rows of a life move into segments, and which are emptied.
// Owns the order of it, a segment a transaction. Leaves the segments to segments.ts.
// A1  What is archived of a life is its beginning: rows after the last segment are as they were written.
// A2  Others have their turn between two segments.
// A3  What cannot be read is not deleted: its number and its place would go with its words.

import type { DatabaseSync } from "node:sqlite"
import {
  type Archive,
  type Archived,
  digestsOfRows,
  emptiedText,
  inParts,
  LEAST_ENTRIES,
  mailOf,
  type Moving,
  NOTHING_ARCHIVED,
  placeOfText,
  SEGMENT_CHARS,
  SEGMENT_ENTRIES
} from "@reverie/ledger"
import { type Address, readEntry, type RecordChange } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { query, reading } from "../sql.ts"
import type { Writer } from "../writer.ts"
import { assistantQueries, envelopeQueries, ledgerUnavailable } from "./assistants.ts"
import { entryQueries } from "./entries.ts"
import { leaveBlobs } from "./blobs.ts"
import { recordRows } from "./record-rows.ts"
import { placingIn, segmentWriter } from "./segment-writer.ts"
import { segmentsOf } from "./segments.ts"

/** What of a life is under hand: its entries from the oldest on, each with the mail that began it. */
interface Part {
  readonly upTo: number
  readonly entries: number
  readonly rows: ReadonlyArray<Moving>
  /** The segments in which some of these rows are. */
  readonly left: ReadonlySet<number>
}

const partsOf = (database: DatabaseSync) => {
  const assistants = assistantQueries(database)
  const envelopes = envelopeQueries(database)
  const entries = entryQueries(database)
  const segments = segmentsOf(database)
  const upToOf = query<{ readonly upTo: number }>(
    database,
    "SELECT up_to AS upTo FROM segments WHERE assistant = ? ORDER BY up_to DESC LIMIT 1"
  )
  const deletedTo = query<{ readonly upTo: number }>(
    database,
    "SELECT up_to AS upTo FROM segments WHERE assistant = ? AND deleted_at IS NOT NULL ORDER BY up_to DESC LIMIT 1"
  )

  const partFrom = (key: number, last: number, from: number, to: number): Part => {
    const rows: Array<Moving> = []
    const left = new Set<number>()
    let [upTo, taken, characters] = [from - 1, 0, 0]
    const take = (table: Moving["table"], { body, seq }: { readonly body: string; readonly seq: number }) => {
      const text = segments.readable(body)
      const segment = placeOfText(body)?.segment
      if (segment !== undefined) left.add(segment)
      rows.push({ table, seq, text })
      characters += text.length
      return text
    }
    const found = [...entries.between(key, last, from, Math.min(to, from + SEGMENT_ENTRIES - 1))].toReversed()
    for (const row of found) {
      if (characters >= SEGMENT_CHARS) break
      upTo = row.no
      taken++
      const entry = readEntry(take("ledger", row))
      const id = Result.isSuccess(entry) ? mailOf(entry.success) : undefined
      const mail = id === undefined ? undefined : envelopes.keptOf(key, id)
      if (mail !== undefined) take("envelopes", mail)
    }
    return { upTo, entries: taken, rows, left }
  }

  return {
    archivedTo: (key: number): number => upToOf.one(key)?.upTo ?? 0,
    removedTo: (key: number): number => deletedTo.one(key)?.upTo ?? 0,
    find: (address: Address) => assistants.find(address),
    partFrom
  }
}

const countOf = ({ entries, rows }: Part): Archived => ({
  entries,
  envelopes: rows.filter(({ table }) => table === "envelopes").length
})

const bytesIn = (database: DatabaseSync) => {
  const size = database.prepare("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size")
  return (): number => Number(size.get()?.["bytes"] ?? 0)
}

/** Moves one segment more of a life; nothing where there is less than is asked for. */
const movingIn = (database: DatabaseSync) => {
  const parts = partsOf(database)
  const segments = segmentWriter(database)

  const leave = leaveBlobs(database)
  const records = recordRows(database)

  const partAfter = (address: Address, upTo: number, least: number, reached: (key: number) => number) => {
    const row = parts.find(address)
    if (row === undefined) return undefined
    const from = reached(row.key) + 1
    const to = Math.min(Math.trunc(upTo), row.version)
    return to - from + 1 < least ? undefined : { key: row.key, ...parts.partFrom(row.key, row.last, from, to) }
  }

  /** What leaves a page is overwritten there: what is deleted once is nowhere, also where it stood before it was archived. */
  const overwriting = (move: () => void): void => {
    database.exec("PRAGMA secure_delete = ON")
    try {
      move()
    } finally {
      database.exec("PRAGMA secure_delete = OFF")
    }
  }

  return {
    reached: (address: Address) => {
      const key = parts.find(address)?.key
      return key === undefined
        ? { archived: 0, removed: 0 }
        : { archived: parts.archivedTo(key), removed: parts.removedTo(key) }
    },
    archive: (address: Address, upTo: number, least: number): Archived => {
      const part = partAfter(address, upTo, least, parts.archivedTo)
      if (part === undefined) return NOTHING_ARCHIVED
      overwriting(() => {
        segments.put({ assistant: part.key, upTo: part.upTo }, part.rows)
        for (const segment of part.left) segments.renew(segment)
      })
      return countOf(part)
    },
    remove: (address: Address, upTo: number, at: number): Archived => {
      const part = partAfter(address, upTo, 1, parts.removedTo)
      if (part === undefined) return NOTHING_ARCHIVED
      overwriting(() => {
        const stands = ({ key, kind, value }: RecordChange): boolean =>
          value !== null && records.under(part.key, kind, key)[0]?.body === JSON.stringify(value)
        const emptied = part.rows.map((each) => ({ ...each, text: emptiedText(each, at, stands) }))
        segments.put({ assistant: part.key, upTo: part.upTo, deletedAt: at }, emptied)
        for (const segment of part.left) segments.renew(segment)
        leave(address.tenant, digestsOfRows(part.rows))
      })
      return countOf(part)
    }
  }
}

const onceAsked = <A>(make: () => A): (() => A) => {
  let made: A | undefined
  return () => (made ??= make())
}

export const sqliteArchive = (database: DatabaseSync, writer: Writer): Archive["Service"] => {
  // Most openings archive nothing.
  const moving = onceAsked(() => movingIn(database))
  const bytes = onceAsked(() => bytesIn(database))

  const placing = () => placingIn(database, writer)
  // What could not be taken out of the place now goes with the next sweep.
  const untilNone = (some: () => Archived) =>
    inParts(
      writer.write(ledgerUnavailable("archive"), () => Result.succeed(placing().moving(some)), SEGMENT_CHARS)
    ).pipe(Effect.tap(() => Effect.ignore(placing().sweep)))

  return {
    archive: (address, upTo, least = LEAST_ENTRIES) =>
      untilNone(() => moving().archive(address, upTo, Math.max(1, least))),
    remove: (address, upTo) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => untilNone(() => moving().remove(address, upTo, now))),
    reached: (address) => reading(ledgerUnavailable("reached"), () => Result.succeed(moving().reached(address))),
    compact: Effect.fnUntraced(function* (isTrial = false) {
      const size = reading(ledgerUnavailable("compact"), () => Result.succeed(bytes()()))
      const bytesBefore = yield* size
      if (!isTrial) yield* writer.purge(ledgerUnavailable("compact"))
      return { bytesBefore, bytesAfter: yield* size }
    }),
    apart: (isTrial = false) => placing().report(isTrial)
  }
}
