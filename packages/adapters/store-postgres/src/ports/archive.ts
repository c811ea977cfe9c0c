// Archive on PostgreSQL: which rows of a life move into segments, and which are emptied.
// Owns the order of it, a segment a transaction, and measuring. Leaves the segments to segments.ts.
// A1  What is archived of a life is its beginning: rows after the last segment are as they were written.
// A2  A life goes on while it is archived: commits and mail do not wait for it. Two who archive one life take turns, and who
//     rewrites it waits for the part that is under way, and is waited for.
// A3  Rows are written anew, as ever in PostgreSQL: what they said before stays in the files until VACUUM, and in its log until
//     that is recycled.
// A4  What cannot be read is not deleted: its number and its place would go with its words. A lost segment is passed over, and gone
//     over again each time, for one that was put back.

import {
  type Archive,
  type Archived,
  type ArchiveReach,
  digestsOfRows,
  emptiedText,
  type EntrySpan,
  inParts,
  LEAST_ENTRIES,
  type LostRow,
  mailOf,
  type Moving,
  NOTHING_ARCHIVED,
  type PlacedSegment,
  placeOfText,
  SEGMENT_CHARS,
  SEGMENT_ENTRIES
} from "@reverie/ledger"
import { type Address, type Entry, keyText, readEntry, type RecordChange } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Database, PgFailure, Query } from "../database.ts"
import { bounded } from "../pages.ts"
import { leaveBlobs } from "./blobs.ts"
import { ledgerUnavailable } from "./entry-history.ts"
import { type MailPlace, mailNumber, moveInto, renewSegment, takeDamaged } from "./segment-writer.ts"
import { readableRows, type Segments } from "./segments.ts"

/** A part is hundreds of rows; where it refers to bytes, all that its tenant says is looked through. */
const PART_MILLIS = 600_000
const TIMEOUTS = `
  SELECT set_config('statement_timeout', '${PART_MILLIS}', true),
    set_config('idle_in_transaction_session_timeout', '${PART_MILLIS}', true)`
const TURN =
  "SELECT pg_advisory_xact_lock(hashtextextended('reverie archive ' || current_schema() || ' ' || $1 || '/' || $2, 0))"
// Waits for who takes the whole row, as rewriting does, and for no one else.
const LIFE =
  "SELECT key::text AS key, version::float8 AS version FROM assistants WHERE tenant = $1 AND id = $2 FOR KEY SHARE"

const LAST = (which: string) => `
  coalesce((SELECT up_to FROM segments WHERE assistant = a.key ${which} ORDER BY up_to DESC LIMIT 1), 0)::float8`
const REACHED = `
  SELECT ${LAST("")} AS archived, ${LAST("AND deleted_at IS NOT NULL")} AS removed
  FROM assistants a WHERE tenant = $1 AND id = $2`

const ENTRIES = bounded(
  `SELECT no::float8 AS no, body FROM ledger
   WHERE assistant = $1::bigint AND no >= $2 AND no <= $3 ORDER BY ledger.no LIMIT ${SEGMENT_ENTRIES}`
)
const MAIL = `
  SELECT lane, seq::float8 AS seq, id, body FROM envelopes WHERE assistant = $1::bigint AND id = ANY ($2)`
const RECORDS = `
  SELECT r.kind, r.key, r.body FROM jsonb_to_recordset($2::jsonb) AS w (kind text, key text)
  JOIN records r ON r.assistant = $1::bigint AND r.kind = w.kind AND r.key = w.key`

const LEFT = `
  SELECT "from"::float8 AS "from", "to"::float8 AS "to", segment::float8 AS segment FROM (
    SELECT key AS segment, deleted_at, up_to AS "to",
      coalesce(lag(up_to) OVER (ORDER BY up_to, deleted_at IS NULL), 0) + 1 AS "from"
    FROM segments WHERE assistant = (SELECT key FROM assistants WHERE tenant = $1 AND id = $2)) AS s
  WHERE deleted_at IS NULL AND "from" <= "to" AND "to" < $3 ORDER BY "to"`

interface Reached extends Omit<ArchiveReach, "left"> {
  readonly left: ReadonlyArray<Span>
}

const reachedBy = (query: Query, { assistant, tenant }: Address): Effect.Effect<Reached, PgFailure> =>
  Effect.gen(function* () {
    const [found] = yield* query<Omit<Reached, "left">>(REACHED, [tenant, assistant])
    if (found === undefined) return { archived: 0, removed: 0, left: [] }
    const left = found.removed === 0 ? [] : yield* query<Span>(LEFT, [tenant, assistant, found.removed])
    return { ...found, left }
  })

/** Entries to go over. */
interface Span extends EntrySpan {
  /** Only those of this segment. */
  readonly segment?: number
}

/** What of a life is under hand: its entries from the oldest on, each with the mail that began it. */
interface Part {
  /** The key of the assistant. */
  readonly assistant: string
  readonly upTo: number
  readonly count: Archived
  readonly entries: ReadonlyArray<Entry>
  readonly rows: ReadonlyArray<Moving>
  /** The segments in which some of these rows are. */
  readonly left: ReadonlySet<number>
}

const NO_PART = { count: NOTHING_ARCHIVED, entries: [], rows: [], left: new Set<number>() } as const

interface EntryRow {
  readonly no: number
  readonly body: string
}

type MailRow = MailPlace & { readonly id: string; readonly body: string }

const mailBy = (query: Query, assistant: string, entries: ReadonlyArray<Entry | undefined>) => {
  const ids = entries.flatMap((entry) => (entry === undefined ? [] : (mailOf(entry) ?? []))).map(keyText)
  return ids.length === 0 ? Effect.succeed([]) : query<MailRow>(MAIL, [assistant, ids])
}

/** Lost segments that were passed over, and why they are lost. */
type Passed = Map<number, LostRow["why"]>

/** The first entries of a span; where there is a place to note it, what is lost is passed over, and noted there. */
const partFrom = (query: Query, segments: Segments, assistant: string, span: Span, passed?: Passed) =>
  Effect.gen(function* () {
    const found = yield* query<EntryRow>(ENTRIES, [assistant, span.from, span.to])
    const { lost, texts } = yield* segments.textsOf(query, found)
    const textOf = ({ body }: { readonly body: string }): string => texts.get(body) ?? body
    const isAway = ({ body }: { readonly body: string }): boolean => passed !== undefined && lost.has(body)
    const isPassed = (row: EntryRow): boolean =>
      isAway(row) || (span.segment !== undefined && placeOfText(row.body)?.segment !== span.segment)
    for (const { body } of found) {
      const why = lost.get(body)?.row.why
      if (why !== undefined) passed?.set(placeOfText(body)?.segment ?? 0, why)
    }
    // A part has no gap: what is behind one is a part of its own.
    const first = found.findIndex((row) => !isPassed(row))
    if (first < 0) return { ...NO_PART, assistant, upTo: found.at(-1)?.no ?? span.to }
    const next = found.findIndex((row, index) => index > first && isPassed(row))
    const whole = found.slice(first, next < 0 ? undefined : next)
    const read = whole.map((row) => Result.getOrElse(readEntry(textOf(row)), () => undefined))
    const mail = yield* mailBy(query, assistant, read)
    const { lost: lostMail, texts: said } = yield* segments.textsOf(query, mail)
    const byId = new Map(mail.flatMap((row) => (passed !== undefined && lostMail.has(row.body) ? [] : [[row.id, row]])))
    const rows: Array<Moving> = []
    const left = new Set<number>()
    let [upTo, taken, characters] = [span.from - 1, 0, 0]
    const take = (table: Moving["table"], seq: number, body: string, text: string) => {
      const segment = placeOfText(body)?.segment
      if (segment !== undefined) left.add(segment)
      rows.push({ table, seq, text })
      characters += text.length
    }
    yield* readableRows(whole.map((row) => ({ body: textOf(row) })))
    yield* readableRows(
      byId
        .values()
        .map(({ body }) => ({ body: said.get(body) ?? body }))
        .toArray()
    )
    for (const [index, row] of whole.entries()) {
      if (characters >= SEGMENT_CHARS) break
      upTo = row.no
      taken++
      take("ledger", row.no, row.body, textOf(row))
      const entry = read[index]
      const id = entry === undefined ? undefined : mailOf(entry)
      const letter = id === undefined ? undefined : byId.get(keyText(id))
      if (letter !== undefined) take("envelopes", mailNumber(letter), letter.body, said.get(letter.body) ?? letter.body)
    }
    const entries = read.slice(0, taken).filter((entry) => entry !== undefined)
    return {
      assistant,
      upTo,
      count: { entries: taken, envelopes: rows.length - taken },
      entries,
      rows,
      left
    } satisfies Part
  })

/** The first part of some spans of which there is something. */
const partIn = (query: Query, segments: Segments, assistant: string, spans: ReadonlyArray<Span>, passed?: Passed) =>
  Effect.gen(function* () {
    for (const span of spans) {
      let { from } = span
      while (from <= span.to) {
        const part: Part = yield* partFrom(query, segments, assistant, { ...span, from }, passed)
        if (part.count.entries > 0) return part
        from = part.upTo + 1
      }
    }
    return undefined
  })

/** Which records stand as an entry left them, asked once for all of a part. */
const standing = (query: Query, { assistant, entries }: Part) =>
  Effect.gen(function* () {
    const changes = entries.flatMap(({ records = [] }) => records)
    const wanted = [...new Set(changes.map(({ key, kind }) => JSON.stringify({ kind, key: keyText(key) })))]
    const found =
      wanted.length === 0
        ? []
        : yield* query<{ readonly kind: string; readonly key: string; readonly body: string }>(RECORDS, [
            assistant,
            `[${wanted.join()}]`
          ])
    const bodies = new Map(found.map(({ body, key, kind }) => [JSON.stringify([kind, key]), body]))
    return ({ key, kind, value }: RecordChange): boolean =>
      value !== null && bodies.get(JSON.stringify([kind, keyText(key)])) === JSON.stringify(value)
  })

/** Files the rows of a part as they are to be read from now on. */
const moved = (
  query: Query,
  segments: Segments,
  { tenant }: Address,
  part: Part,
  rows: ReadonlyArray<Moving>,
  deletedAt: number | null
) =>
  Effect.gen(function* () {
    const { assistant, left, upTo } = part
    yield* moveInto(query, segments, { assistant, tenant, upTo, deletedAt }, rows)
    for (const segment of left) yield* renewSegment(query, segments, { assistant, tenant }, segment)
    return part.count
  })

const TABLES = `
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND c.relkind = 'r'`
/** Of tables, of what is long in them, and of the indexes of both; not the maps that the server keeps beside them. */
const BYTES = `
  WITH tables (oid) AS (SELECT unnest(ARRAY[c.oid, c.reltoastrelid]) ${TABLES})
  SELECT coalesce(sum(pg_relation_size(t.oid)
    + (SELECT coalesce(sum(pg_relation_size(i.indexrelid)), 0) FROM pg_index i WHERE i.indrelid = t.oid)), 0)::float8 AS bytes
  FROM tables t WHERE t.oid <> 0`
const NAMES = `SELECT string_agg(quote_ident(c.relname), ', ' ORDER BY c.relname) AS names ${TABLES}`
/** It goes through every table once, however long they are. */
const VACUUM_MILLIS = 24 * 3_600_000

const compacting =
  ({ alone, query }: Database): Archive["Service"]["compact"] =>
  (isTrial = false) =>
    Effect.gen(function* () {
      const size = Effect.map(query<{ readonly bytes: number }>(BYTES), ([row]) => row?.bytes ?? 0)
      const bytesBefore = yield* size
      if (isTrial) return { bytesBefore, bytesAfter: bytesBefore }
      const [tables] = yield* query<{ readonly names: string }>(NAMES)
      yield* alone(VACUUM_MILLIS, `VACUUM ${tables?.names ?? ""}`)
      return { bytesBefore, bytesAfter: yield* size }
    }).pipe(Effect.mapError(ledgerUnavailable("compact")))

interface Removed extends Archived {
  readonly damaged: ReadonlyArray<PlacedSegment>
}

const NOTHING_REMOVED: Removed = { ...NOTHING_ARCHIVED, damaged: [] }

/** What is under hand while a life waits for its turn. */
interface Held {
  readonly query: Query
  /** The key of the assistant. */
  readonly assistant: string
  readonly reached: Reached
  /** The number of the last entry that is meant. */
  readonly to: number
}

/** What moves and what deletes one part of a life, each in a transaction of its own. */
const partsOf = (database: Database, segments: Segments) => {
  /** Works at a life in one transaction; nothing comes of one that is not there. */
  const holding = <A extends Archived>(
    address: Address,
    upTo: number,
    none: A,
    work: (held: Held) => Effect.Effect<A, PgFailure>
  ): Effect.Effect<A, PgFailure> =>
    segments.inTurn(
      database.transaction(PART_MILLIS, (query) =>
        Effect.gen(function* () {
          const named = [address.tenant, address.assistant]
          yield* query(TIMEOUTS)
          yield* query(TURN, named)
          const [life] = yield* query<{ readonly key: string; readonly version: number }>(LIFE, named)
          if (life === undefined) return none
          const reached = yield* reachedBy(query, address)
          return yield* work({ query, assistant: life.key, reached, to: Math.min(Math.trunc(upTo), life.version) })
        })
      )
    )

  const archivePart = (address: Address, upTo: number, least: number) =>
    holding(address, upTo, NOTHING_ARCHIVED, ({ assistant, query, reached, to }) =>
      Effect.gen(function* () {
        const from = reached.archived + 1
        const isWorthIt = to - from + 1 >= least
        const part = isWorthIt ? yield* partIn(query, segments, assistant, [{ from, to }]) : undefined
        return part === undefined ? NOTHING_ARCHIVED : yield* moved(query, segments, address, part, part.rows, null)
      })
    )

  /** The last call of some, which deletes nothing, answers what damaged ones are to go out of their place. */
  const removePart = (address: Address, upTo: number, now: number) =>
    holding<Removed>(address, upTo, NOTHING_REMOVED, ({ assistant, query, reached, to }) =>
      Effect.gen(function* () {
        const lost: Passed = new Map()
        const spans = [...reached.left, { from: reached.removed + 1, to }]
        const within = spans.map((span) => ({ ...span, to: Math.min(span.to, to) }))
        const part = yield* partIn(query, segments, assistant, within, lost)
        if (part === undefined) {
          const damaged = [...lost].flatMap(([segment, why]) => (why === "damaged" ? [segment] : []))
          return { ...NOTHING_ARCHIVED, damaged: yield* takeDamaged(query, assistant, damaged, to) }
        }
        const stands = yield* standing(query, part)
        const emptied = part.rows.map((row) => ({ ...row, text: emptiedText(row, now, stands) }))
        const count = yield* moved(query, segments, address, part, emptied, now)
        yield* leaveBlobs(query, address.tenant, digestsOfRows(part.rows))
        return { ...count, damaged: [] }
      })
    )

  return { archivePart, removePart }
}

export const postgresArchive = (database: Database, segments: Segments): Archive["Service"] => {
  const { archivePart, removePart } = partsOf(database, segments)
  return {
    archive: (address, upTo, least = LEAST_ENTRIES) =>
      inParts(archivePart(address, upTo, Math.max(1, least))).pipe(
        Effect.tap(() => Effect.ignore(segments.sweep)),
        Effect.mapError(ledgerUnavailable("archive"))
      ),
    remove: Effect.fnUntraced(function* (address, upTo) {
      const now = yield* Clock.currentTimeMillis
      let damaged: Removed["damaged"] = []
      const part = Effect.tap(removePart(address, upTo, now), (done) => Effect.sync(() => (damaged = done.damaged)))
      const done = yield* Effect.mapError(inParts(part), ledgerUnavailable("remove"))
      // What could not be taken out of the place now goes with the next sweep, or is found damaged the next time.
      yield* Effect.ignore(segments.sweep)
      yield* Effect.ignore(segments.leave(damaged))
      return done
    }),
    reached: (address) =>
      reachedBy(database.query, address).pipe(
        Effect.map((found) => ({ ...found, left: found.left.map(({ from, to }) => ({ from, to })) })),
        Effect.mapError(ledgerUnavailable("reached"))
      ),
    compact: compacting(database),
    apart: (isTrial = false) => Effect.mapError(segments.report(database.query, isTrial), ledgerUnavailable("place"))
  }
}
