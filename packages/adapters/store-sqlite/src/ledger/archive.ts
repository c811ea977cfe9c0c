// Archive on SQLite: which rows of a life move into segments, and which are emptied.
// Owns the order of it, a segment a transaction. Leaves the segments to segments.ts.
// A1  What is archived of a life is its beginning: rows after the last segment are as they were written.
// A2  Others have their turn between two segments.
// A3  What cannot be read is not deleted: its number and its place would go with its words. A lost segment is passed over, and gone
//     over again each time, for one that was put back.

import type { DatabaseSync } from "node:sqlite"
import {
  type Archive,
  type Archived,
  type ArchiveReach,
  digestsOfRows,
  emptiedText,
  type EntrySpan,
  inParts,
  LEAST_ENTRIES,
  mailOf,
  type Moving,
  NOTHING_ARCHIVED,
  type PlacedSegment,
  placeOfText,
  SEGMENT_CHARS,
  SEGMENT_ENTRIES
} from "@reverie/ledger"
import { type Address, readEntry, type RecordChange } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { query, reading, Wanted } from "../sql.ts"
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

/** Entries to go over. */
interface Span extends EntrySpan {
  /** Only those of this segment. */
  readonly segment?: number | undefined
  /** What is lost is passed over, and noted here. */
  readonly lost?: Set<number>
}

/** How far a life, by its key, was archived and deleted. */
const reachOf = (database: DatabaseSync) => {
  const upToOf = query<{ readonly upTo: number }>(
    database,
    "SELECT up_to AS upTo FROM segments WHERE assistant = ? ORDER BY up_to DESC LIMIT 1"
  )
  const deletedTo = query<{ readonly upTo: number }>(
    database,
    "SELECT up_to AS upTo FROM segments WHERE assistant = ? AND deleted_at IS NOT NULL ORDER BY up_to DESC LIMIT 1"
  )
  const leftBefore = query<EntrySpan & { readonly segment: number }>(
    database,
    `SELECT "from", "to", segment FROM (
       SELECT key AS segment, deleted_at, up_to AS "to",
         coalesce(lag(up_to) OVER (ORDER BY up_to, deleted_at IS NULL), 0) + 1 AS "from"
       FROM segments WHERE assistant = ?)
     WHERE deleted_at IS NULL AND "from" <= "to" AND "to" < ? ORDER BY "to"`
  )
  const removedTo = (key: number): number => deletedTo.one(key)?.upTo ?? 0
  return {
    archivedTo: (key: number): number => upToOf.one(key)?.upTo ?? 0,
    removedTo,
    leftOf: (key: number) => leftBefore.all(key, removedTo(key))
  }
}

const partsOf = (database: DatabaseSync) => {
  const assistants = assistantQueries(database)
  const envelopes = envelopeQueries(database)
  const entries = entryQueries(database)
  const segments = segmentsOf(database)
  /** Whether a row is to be passed over. */
  const isPassed = (body: string, { lost, segment }: Span): boolean => {
    const own = placeOfText(body)?.segment
    if (segment !== undefined && own !== segment) return true
    if (lost === undefined || own === undefined) return false
    const why = segments.whyLostIs(own)
    if (why instanceof Wanted) throw why
    if (why !== undefined) lost.add(own)
    return why !== undefined
  }

  const partFrom = (key: number, last: number, span: Span): Part => {
    const rows: Array<Moving> = []
    const left = new Set<number>()
    let [upTo, taken, characters] = [span.from - 1, 0, 0]
    const take = (table: Moving["table"], { body, seq }: { readonly body: string; readonly seq: number }) => {
      const text = segments.readable(body)
      const segment = placeOfText(body)?.segment
      if (segment !== undefined) left.add(segment)
      rows.push({ table, seq, text })
      characters += text.length
      return text
    }
    const to = Math.min(span.to, span.from + SEGMENT_ENTRIES - 1)
    for (const row of [...entries.between(key, last, span.from, to)].toReversed()) {
      if (characters >= SEGMENT_CHARS) break
      const isAway = isPassed(row.body, span)
      // A part has no gap: what is behind one is a part of its own.
      if (isAway && taken > 0) break
      upTo = row.no
      if (isAway) continue
      taken++
      const entry = readEntry(take("ledger", row))
      const id = Result.isSuccess(entry) ? mailOf(entry.success) : undefined
      const mail = id === undefined ? undefined : envelopes.keptOf(key, id)
      if (mail !== undefined && !isPassed(mail.body, { ...span, segment: undefined })) take("envelopes", mail)
    }
    return { upTo, entries: taken, rows, left }
  }

  return {
    ...reachOf(database),
    find: (address: Address) => assistants.find(address),
    /** The first part of some entries of which there is something. */
    partIn: (key: number, last: number, span: Span): Part | undefined => {
      let { from } = span
      while (from <= span.to) {
        const part = partFrom(key, last, { ...span, from })
        if (part.entries > 0) return part
        if (part.upTo < from) return undefined
        from = part.upTo + 1
      }
      return undefined
    }
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

interface Removed extends Archived {
  readonly damaged: ReadonlyArray<PlacedSegment>
}

/** Moves one segment more of a life; nothing where there is less than is asked for. */
const movingIn = (database: DatabaseSync) => {
  const parts = partsOf(database)
  const segments = segmentWriter(database)

  const leave = leaveBlobs(database)
  const records = recordRows(database)

  const lifeOf = (address: Address, upTo: number) => {
    const row = parts.find(address)
    return row === undefined ? undefined : { key: row.key, last: row.last, to: Math.min(Math.trunc(upTo), row.version) }
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
    reached: (address: Address): ArchiveReach => {
      const key = parts.find(address)?.key
      if (key === undefined) return { archived: 0, removed: 0, left: [] }
      const left = parts.leftOf(key).map(({ from, to }) => ({ from, to }))
      return { archived: parts.archivedTo(key), removed: parts.removedTo(key), left }
    },
    archive: (address: Address, upTo: number, least: number): Archived => {
      const life = lifeOf(address, upTo)
      if (life === undefined) return NOTHING_ARCHIVED
      const from = parts.archivedTo(life.key) + 1
      const part = life.to - from + 1 < least ? undefined : parts.partIn(life.key, life.last, { from, to: life.to })
      if (part === undefined) return NOTHING_ARCHIVED
      overwriting(() => {
        segments.put({ assistant: life.key, upTo: part.upTo }, part.rows)
        for (const segment of part.left) segments.renew(segment)
      })
      return countOf(part)
    },
    /** The last call of some, which deletes nothing, answers what damaged ones are to go out of their place. */
    remove: (address: Address, upTo: number, at: number): Removed => {
      const life = lifeOf(address, upTo)
      if (life === undefined) return { ...NOTHING_ARCHIVED, damaged: [] }
      const { key, last, to } = life
      const lost = new Set<number>()
      const spans: ReadonlyArray<Span> = [...parts.leftOf(key), { from: parts.removedTo(key) + 1, to }]
      const part = firstOf(spans, (span) => parts.partIn(key, last, { ...span, to: Math.min(span.to, to), lost }))
      if (part === undefined) return { ...NOTHING_ARCHIVED, damaged: segments.leaveDamaged(lost, to) }
      overwriting(() => {
        const stands = ({ kind, key: name, value }: RecordChange): boolean =>
          value !== null && records.under(key, kind, name)[0]?.body === JSON.stringify(value)
        const emptied = part.rows.map((each) => ({ ...each, text: emptiedText(each, at, stands) }))
        segments.put({ assistant: key, upTo: part.upTo, deletedAt: at }, emptied)
        for (const segment of part.left) segments.renew(segment)
        leave(address.tenant, digestsOfRows(part.rows))
      })
      return { ...countOf(part), damaged: [] }
    }
  }
}

/** What is found first. */
const firstOf = <A, B>(all: ReadonlyArray<A>, look: (each: A) => B | undefined): B | undefined => {
  for (const each of all) {
    const found = look(each)
    if (found !== undefined) return found
  }
  return undefined
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
    remove: Effect.fnUntraced(function* (address, upTo) {
      const now = yield* Clock.currentTimeMillis
      let damaged: Removed["damaged"] = []
      const done = yield* untilNone(() => {
        const removed = moving().remove(address, upTo, now)
        damaged = removed.damaged
        return removed
      })
      // What does not go now goes the next time: it is found damaged again.
      yield* Effect.ignore(placing().leave(damaged))
      return done
    }),
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
