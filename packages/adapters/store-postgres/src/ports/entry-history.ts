// EntryHistory: what was committed, read back.
// Owns history, entries and the outbox as values.
// I1  Reading stops where the caller's bound is reached: a long life costs no more than a short one.
// I2  The outbox tells an entry only when no transaction that began before its own is still under way: anyone who reads on
//     from a position never finds an earlier one later. It waits a moment for such a transaction; one that stays open
//     for long, of any database of the server, holds back what is reported, and nothing is lost.
// I3  An entry that was the last one of a reading, and begins the next, is not sent again: its digest goes, and the database
//     says whether it is still that entry. Anyone who holds an index against the ledger reads it with every question.

import { createHash } from "node:crypto"
import {
  type Ledger,
  LedgerUnavailable,
  type OutboxRow,
  type Readable,
  UnreadableRecord,
  unreadReason
} from "@reverie/ledger"
import {
  type Address,
  addressKey,
  isBefore,
  longWork,
  type MessagePlace,
  type PlacedMessage,
  readEntry
} from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { addressOf, limited } from "./assistants.ts"
import { type Database, PgFailure } from "../database.ts"
import { bounded, isCutShort, lengthOf, readEach } from "../pages.ts"
import type { Segments } from "./segments.ts"

export const ledgerUnavailable =
  (operation: string) =>
  ({ cause, kind, message }: PgFailure): LedgerUnavailable =>
    new LedgerUnavailable({ operation, message, cause, isPassing: kind === "passing", isDamaged: kind === "damaged" })

interface EntryRow {
  readonly seq: number
  readonly no: number
  readonly tenant: string
  readonly id: string
  readonly body: string
}

const rowColumns = "l.position::float8 AS seq, no::float8 AS no, a.tenant, a.id, body"

const entryOf = (address: Address, { body, no }: Pick<EntryRow, "body" | "no">) =>
  Result.mapError(
    readEntry(body),
    (message) =>
      new UnreadableRecord({
        record: `entry ${no} of ${addressKey(address)}`,
        message: unreadReason(body) ?? message
      })
  )

const toOutboxRow = (row: EntryRow): Result.Result<OutboxRow, UnreadableRecord> => {
  const address = addressOf(row)
  return Result.map(entryOf(address, row), (entry) => ({ seq: row.seq, address, entry }))
}

/** Rows, and where their texts are. */
interface Source extends Pick<Database, "query"> {
  readonly segments: Segments
}

/** Entries are fetched in growing pages: most histories fit in the first. */
const FIRST_PAGE = 16
const LONGEST_PAGE = 256

const BACKWARDS = bounded(
  `SELECT no::float8 AS no, body FROM ledger
   WHERE assistant = (SELECT key FROM assistants WHERE tenant = $1 AND id = $2) AND no < $3 AND no >= $4
   ORDER BY ledger.no DESC LIMIT $5`
)

/** Stands for an entry whose segment is lost. */
const LOST = "lost"

const recentOf = ({ query, segments }: Source, address: Address, maxTokens: number, since: MessagePlace) =>
  Effect.gen(function* () {
    const found: Array<PlacedMessage> = []
    let tokens = 0
    let isTurnWhole = false
    let before = Number.MAX_SAFE_INTEGER
    for (let page = FIRST_PAGE; ; page = Math.min(page * 2, LONGEST_PAGE)) {
      const values = [address.tenant, address.assistant, before, since.no, page]
      const find = query<Pick<EntryRow, "body" | "no">>(BACKWARDS, values)
      const rows = yield* segments.whole(query, find, () => LOST)
      for (const row of rows) {
        // As where there is room for no more: a turn of which only the end is left begins no window.
        if (row.body === LOST) return found.toReversed()
        yield* longWork.begin(row.body.length)
        const entry = yield* Effect.fromResult(entryOf(address, row))
        for (const [index, message] of [...entry.messages.entries()].toReversed()) {
          const place = { no: row.no, index }
          if (isBefore(place, since)) return found.toReversed()
          tokens += message.tokens
          if (tokens > maxTokens && isTurnWhole) return found.toReversed()
          found.push({ place, message })
          isTurnWhole ||= message.role === "user"
        }
      }
      if (rows.length < page && !isCutShort(rows)) return found.toReversed()
      before = rows.at(-1)?.no ?? 0
    }
  })

const ENTRIES = bounded(
  `SELECT seq, no, same, CASE WHEN same THEN '' ELSE body END AS body FROM (
     SELECT l.position::float8 AS seq, no::float8 AS no, body,
       no = $3 AND encode(sha256(convert_to(body, 'UTF8')), 'hex') = $5 AS same
     FROM ledger l
     WHERE assistant = (SELECT key FROM assistants WHERE tenant = $1 AND id = $2) AND no >= $3 ORDER BY l.no LIMIT $4
   ) each`
)

interface ReadRow extends Omit<EntryRow, "tenant" | "id"> {
  /** It is the entry whose digest was given: its text is not sent. */
  readonly same: boolean
}

interface KnownRow {
  readonly digest: string
  readonly row: OutboxRow
}

/** Assistants of whom the last entry that was read is kept. */
const MOST_KNOWN = 64
/** One that is longer is sent again, in UTF-16 units: those that are kept take some megabytes at the most. */
const MOST_KNOWN_CHARS = 65_536

/** The last entry of each reading, by assistant; the one that was kept longest ago gives way. */
class LastRead {
  readonly #known = new Map<string, KnownRow>()

  at(address: Address, no: number): KnownRow | undefined {
    const known = this.#known.get(addressKey(address))
    return known?.row.entry.no === no ? known : undefined
  }

  keep(address: Address, row: OutboxRow, body: string): void {
    const key = addressKey(address)
    this.#known.delete(key)
    if (body.length > MOST_KNOWN_CHARS) return
    this.#known.set(key, { digest: createHash("sha256").update(body).digest("hex"), row })
    const [oldest] = this.#known.keys()
    if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest)
  }
}

const SPAN = `
  SELECT min(up_to)::float8 AS "to",
    coalesce((SELECT max(up_to) FROM segments s WHERE s.assistant = a.key AND s.up_to < $3), 0)::float8 AS before
  FROM assistants a JOIN segments ON segments.assistant = a.key AND up_to >= $3
  WHERE a.tenant = $1 AND a.id = $2 GROUP BY a.key`

/** The same failure, with the numbers of all entries of the segment in which the first unreadable one of a page is. */
const withSpan = (
  query: Source["query"],
  { assistant, tenant }: Address,
  rows: ReadonlyArray<Pick<EntryRow, "body" | "no">>,
  { message, record }: UnreadableRecord
): Effect.Effect<never, PgFailure | UnreadableRecord> =>
  Effect.gen(function* () {
    const no = rows.find(({ body }) => unreadReason(body) !== undefined)?.no
    if (no === undefined) return yield* new UnreadableRecord({ message, record })
    const [span] = yield* query<{ readonly before: number; readonly to: number }>(SPAN, [tenant, assistant, no])
    const { before, to } = span ?? { before: no - 1, to: no }
    return yield* new UnreadableRecord({ message, record, lost: { from: before + 1, to } })
  })

const entriesOf = (address: Address, { query, segments }: Source, last: LastRead, from: number, limit: number) =>
  Effect.gen(function* () {
    const { assistant: id, tenant } = address
    const found: Array<OutboxRow> = []
    for (let next = from; found.length < limit;) {
      const known = last.at(address, next)
      const values = [tenant, id, next, limit - found.length, known?.digest ?? ""]
      const rows = yield* segments.whole(query, query<ReadRow>(ENTRIES, values))
      const page = yield* readEach(rows, (row) =>
        row.same && known !== undefined
          ? Result.succeed({ ...known.row, seq: row.seq })
          : toOutboxRow({ ...row, tenant, id })
      ).pipe(Effect.catchTag("UnreadableRecord", (unreadable) => withSpan(query, address, rows, unreadable)))
      for (const row of page) found.push(row)
      const [end, read] = [rows.at(-1), page.at(-1)]
      if (end !== undefined && read !== undefined && !end.same) last.keep(address, read, end.body)
      if (!isCutShort(rows)) break
      next = (end?.no ?? 0) + 1
    }
    return found
  })

const HORIZON = "SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + raised) * 4096 AS horizon FROM store"

// Behind the page stands one row that tells whether entries are held back.
const OUTBOX = `
  WITH sure AS (${HORIZON}), page AS (${bounded(
    `SELECT ${rowColumns} FROM sure, ledger l JOIN assistants a ON key = assistant
   WHERE l.position > $1 AND l.position < sure.horizon ORDER BY l.position LIMIT $2`
  )})
  SELECT seq, no, tenant, id, body FROM page
  UNION ALL
  SELECT -1, 0, '', '', '' FROM sure WHERE EXISTS (SELECT 1 FROM ledger WHERE position >= sure.horizon)`

const HELD_BACK = -1

const sure = (rows: ReadonlyArray<EntryRow>): ReadonlyArray<EntryRow> =>
  rows.filter(({ seq }) => seq !== HELD_BACK).toSorted((a, b) => a.seq - b.seq)

/** Together about a quarter of a second. */
const PAUSES_MILLIS = [1, 2, 4, 8, 16, 32, 64, 128]

const pause = (millis: number): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const timer = setTimeout(() => resume(Effect.void), millis)
    return Effect.sync(() => clearTimeout(timer))
  })

const outboxPage = ({ query, segments }: Source, after: number, limit: number) =>
  Effect.gen(function* () {
    const asked = segments.whole(query, query<EntryRow>(OUTBOX, [after, limit]))
    for (const millis of PAUSES_MILLIS) {
      const rows = yield* asked
      const page = sure(rows)
      if (page.length === rows.length || page.length >= limit || isCutShort(page)) return page
      yield* pause(millis)
    }
    return sure(yield* asked)
  })

// The last position that is reported. A reader who begins there misses nothing that is reported later.
const END = `
  WITH sure AS (${HORIZON})
  SELECT coalesce((SELECT position FROM ledger WHERE position < (SELECT horizon FROM sure)
    ORDER BY position DESC LIMIT 1), 0)::float8 AS seq,
    EXISTS (SELECT 1 FROM ledger WHERE position >= (SELECT horizon FROM sure)) AS more`

interface EndRow {
  readonly seq: number
  readonly more: boolean
}

const endOf = (database: Database) =>
  Effect.gen(function* () {
    for (const millis of [...PAUSES_MILLIS, undefined]) {
      const [row] = yield* database.query<EndRow>(END)
      if (row?.more !== true || millis === undefined) return row?.seq ?? 0
      yield* pause(millis)
    }
    return 0
  })

export type EntryHistory = Pick<Ledger["Service"], "recent" | "entries" | "outbox" | "outboxEnd">

export const postgresEntryHistory = (database: Database, readable: Readable, segments: Segments): EntryHistory => {
  const source = { query: database.query, segments }
  const last = new LastRead()
  const unavailable =
    (operation: string) =>
    <A>(read: Effect.Effect<A, PgFailure | UnreadableRecord>) =>
      Effect.catchIf(
        read,
        (failure) => failure instanceof PgFailure,
        (failure) => Effect.fail(ledgerUnavailable(operation)(failure))
      )
  return {
    recent: (address, maxTokens, since = { no: 0, index: 0 }) =>
      unavailable("recent")(recentOf(source, address, maxTokens, since)),
    entries: (address, from, limit) =>
      unavailable("entries")(entriesOf(address, source, last, Math.max(1, Math.ceil(from)), limited(limit))),
    outboxEnd: Effect.mapError(endOf(database), ledgerUnavailable("outboxEnd")),
    outbox: (after, limit) =>
      readable.page({
        limit: limited(limit),
        fetch: (last: EntryRow | undefined, wanted) =>
          Effect.mapError(outboxPage(source, last?.seq ?? after, wanted), ledgerUnavailable("outbox")),
        lengthOf,
        decode: toOutboxRow
      })
  }
}
