// Assistants: the rows of an assistant: its own, its envelopes, its ledger entries.
// Owns their columns and the look-ups on them. Leaves the rules of claim and commit to mailbox.ts and ledger.ts.

import type { DatabaseSync } from "node:sqlite"
import {
  type Address,
  addressKey,
  type AssistantId,
  type Cursors,
  type Envelope,
  type EnvelopeId,
  isBefore,
  keyText,
  type Lane,
  laneOf,
  LANES,
  type MessagePlace,
  type PlacedMessage,
  readEntry,
  type TenantId
} from "@reverie/protocol"
import { type Ledger, LedgerUnavailable, type OutboxRow, type Readable, UnreadableRecord } from "@reverie/ledger"
import * as Result from "effect/Result"
import { BEHIND, salvaging, undamaged } from "../files/salvage.ts"
import {
  change,
  lengthOf,
  limited,
  pageOf,
  query,
  reading,
  readingLong,
  readingPage,
  type SqliteFailure
} from "../sql.ts"
import { LANDMARK_EVERY } from "../formats.ts"

export interface AssistantRow extends Cursors {
  readonly key: number
  readonly wake: number
  readonly epoch: number
  readonly attempts: number
  readonly version: number
  /** The `seq` of the last ledger entry. */
  readonly last: number
  readonly receives: number
  readonly retired: number
  readonly tenant: string
  readonly id: string
}

export type DoorRow = Pick<AssistantRow, "key" | "wake" | "receives" | "retired">

export interface StateRow extends AssistantRow {
  readonly state: string
  readonly note: string | null
}

/** One whose row lies on a damaged page is known by name only. */
export type ListedRow = StateRow | (Pick<AssistantRow, "tenant" | "id"> & { readonly isDamaged: true })

/** Asked for by its address several times in each tick, and so without what the address and the door say. */
type FoundRow = Omit<AssistantRow, "receives" | "retired" | "tenant" | "id"> & { readonly stateBytes: number }
const found = "key, wake, epoch, attempts, version, control, reply, mail, last"
const columns = `${found}, receives, retired, tenant, id`

/** With the eighth bit set the column is one byte long, whatever is heard. */
const RECEIVES_BASE = 8

export const receivesColumn = (receives: ReadonlyArray<Lane>): number =>
  receives.reduce((mask, lane) => mask | (1 << LANES.indexOf(lane)), RECEIVES_BASE)

export const isHeard = (receives: number, lane: Lane): boolean => (receives & (1 << LANES.indexOf(lane))) !== 0

export const cursorsOf = ({ control, reply, mail }: Cursors): Cursors => ({ control, reply, mail })

// Only addresses that a Schema has let through are written.
export const addressOf = ({ tenant, id }: Pick<AssistantRow, "tenant" | "id">): Address => ({
  tenant: tenant as TenantId,
  assistant: id as AssistantId
})

export const assistantQueries = (database: DatabaseSync) => {
  const byAddress = query<FoundRow>(
    database,
    `SELECT ${found}, octet_length(state) AS stateBytes FROM assistants WHERE tenant = ? AND id = ?`
  )
  const door = query<DoorRow>(
    database,
    "SELECT key, wake, receives, retired FROM assistants WHERE tenant = ? AND id = ?"
  )
  const whole = `SELECT ${columns}, note, state FROM assistants WHERE`
  const withState = query<StateRow>(database, `${whole} tenant = ? AND id = ?`)
  const after = query<StateRow>(database, `${whole} (tenant, id) > (?, ?) ORDER BY tenant, id LIMIT ?`)
  // The index on addresses answers it alone, and its pages may be whole where a row's are not.
  const names = query<Pick<AssistantRow, "tenant" | "id">>(
    database,
    "SELECT tenant, id FROM assistants WHERE (tenant, id) > (?, ?) ORDER BY tenant, id LIMIT ?"
  )
  const listAfter = (tenant: string, id: string, limit: number): ReadonlyArray<ListedRow> =>
    undamaged(() => after.all(tenant, id, limit))?.value ??
    names
      .all(tenant, id, limit)
      .map((name) => undamaged(() => withState.one(name.tenant, name.id))?.value ?? { ...name, isDamaged: true })
  return {
    find: ({ tenant, assistant }: Address) => byAddress.one(tenant, assistant),
    findDoor: ({ tenant, assistant }: Address) => door.one(tenant, assistant),
    findWithState: ({ tenant, assistant }: Address) => withState.one(tenant, assistant),
    namesAfter: (address: Address | undefined, limit: number) =>
      names.all(address?.tenant ?? "", address?.assistant ?? "", limit),
    listAfter: (address: Address | undefined, limit: number) =>
      listAfter(address?.tenant ?? "", address?.assistant ?? "", limit)
  }
}

// Records: the length of a row that is written over again and again.

const STEP_BYTES = 128
/** A row keeps up to this much padding before it is made shorter. */
const MOST_PADDING_BYTES = 4_096

/**
 * JSON text that is as many bytes long as the text it replaces, when it fits: a row that keeps its length is written over
 * in place, and JSON does not mind the spaces behind it.
 */
export const padded = (json: string, presentBytes: number): string => {
  const bytes = Buffer.byteLength(json)
  const spare = presentBytes - bytes
  const padding = spare >= 0 && spare <= MOST_PADDING_BYTES ? spare : Math.ceil(bytes / STEP_BYTES) * STEP_BYTES - bytes
  return json + " ".repeat(padding)
}

// Leases: who holds which assistant until when.
// I1  Leases live in memory: only the owner of the directory grants them, and with it they end.

interface Lease {
  readonly worker: string
  /** Milliseconds since the epoch. */
  readonly until: number
}

const SWEEP_FROM = 1_024

export class Leases {
  readonly #byKey = new Map<number, Lease>()
  #sweepAt = SWEEP_FROM

  live(key: number, now: number): Lease | undefined {
    const lease = this.#byKey.get(key)
    return lease !== undefined && lease.until > now ? lease : undefined
  }

  /** Grants a lease; the answer takes it back. */
  grant(key: number, lease: Lease, now: number): () => void {
    const before = this.#byKey.get(key)
    if (this.#byKey.size >= this.#sweepAt) this.#sweep(now)
    this.#byKey.set(key, lease)
    return () => {
      if (before === undefined) this.#byKey.delete(key)
      else this.#byKey.set(key, before)
    }
  }

  end(key: number): void {
    this.#byKey.delete(key)
  }

  /** How many assistants may be held: never fewer than are. */
  get count(): number {
    return this.#byKey.size
  }

  #sweep(now: number): void {
    for (const [key, { until }] of this.#byKey) if (until <= now) this.#byKey.delete(key)
    this.#sweepAt = Math.max(SWEEP_FROM, this.#byKey.size * 2)
  }
}

// Envelopes: the rows of everything that was ever accepted.

export interface EnvelopeRow {
  readonly seq: number
  readonly id: string
  readonly acceptedAt: number
  readonly body: string
}

const columnOf = (lane: Lane): number => LANES.indexOf(lane)

export const envelopeQueries = (database: DatabaseSync) => {
  const insert = change(
    database,
    "INSERT OR IGNORE INTO envelopes (assistant, lane, id, accepted_at, body) VALUES (?, ?, ?, ?, ?)"
  )
  const beyond = "FROM envelopes WHERE assistant = ? AND lane = ? AND seq > ?"
  const first = query<{ readonly acceptedAt: number }>(
    database,
    `SELECT accepted_at AS acceptedAt ${beyond} ORDER BY seq LIMIT 1`
  )
  // One row for the heads of all lanes, and one for what is next: a list costs several times as much, also an empty one.
  // No numbered parameters: Node 22.13 counts the arguments and not the parameters, and refuses the second use of `?1`.
  const headOf = (lane: Lane): string =>
    `(SELECT seq FROM envelopes WHERE assistant = ? AND lane = ${columnOf(lane)} AND seq > ? ORDER BY seq LIMIT 1) AS ${lane}`
  const heads = query<Readonly<Record<Lane, number | null>>>(database, `SELECT ${LANES.map(headOf).join(", ")}`)
  const next = query<{ readonly seq: number }>(database, `SELECT seq ${beyond} ORDER BY seq LIMIT 1`)
  const further = query<{ readonly seq: number }>(database, `SELECT seq ${beyond} ORDER BY seq LIMIT ?`)
  const seqsFrom = (assistant: number, lane: Lane, head: number, limit: number): ReadonlyArray<number> => {
    const second = limit > 1 ? next.one(assistant, columnOf(lane), head)?.seq : undefined
    if (second === undefined) return [head]
    const more = limit > 2 ? further.all(assistant, columnOf(lane), second, limit - 2) : []
    return [head, second, ...more.map(({ seq }) => seq)]
  }
  const bySeq = query<EnvelopeRow>(
    database,
    "SELECT seq, id, accepted_at AS acceptedAt, body FROM envelopes WHERE seq = ?"
  )
  const named = query<EnvelopeRow & { readonly lane: number }>(
    database,
    "SELECT seq, id, lane, accepted_at AS acceptedAt, body FROM envelopes WHERE assistant = ? AND id = ?"
  )
  const count = query<{ readonly waiting: number }>(database, `SELECT count(*) AS waiting ${beyond}`)
  const newest = query<{ readonly seq: number }>(database, "SELECT max(seq) AS seq FROM envelopes")
  return {
    /** False when the envelope was there before. */
    insert: (assistant: number, envelope: Envelope, body: string, now: number): boolean =>
      insert(assistant, columnOf(laneOf(envelope.event)), keyText(envelope.id), now, body).rows === 1,
    firstAcceptedAt: (assistant: number, lane: Lane, cursor: number): number | undefined =>
      first.one(assistant, columnOf(lane), cursor)?.acceptedAt,
    /** Where at most `limit` envelopes of each of these lanes wait, lane by lane, the oldest first. */
    waiting: (assistant: number, cursors: Cursors, lanes: ReadonlyArray<Lane>, limit: number) => {
      const found = heads.one(...LANES.flatMap((lane) => [assistant, cursors[lane]]))
      return LANES.flatMap((lane) => {
        const head = found?.[lane] ?? null
        if (head === null || limit < 1 || !lanes.includes(lane)) return []
        return seqsFrom(assistant, lane, head, limit).map((seq) => ({ lane, seq }))
      })
    },
    rowAt: (seq: number): EnvelopeRow | undefined => bySeq.one(seq),
    rowOf: (assistant: number, id: EnvelopeId): { readonly row: EnvelopeRow; readonly lane: Lane } | undefined => {
      const found = named.one(assistant, keyText(id))
      const lane = found === undefined ? undefined : LANES[found.lane]
      return found === undefined || lane === undefined ? undefined : { row: found, lane }
    },
    waitingCount: (assistant: number, cursors: Cursors): number =>
      LANES.reduce((sum, lane) => sum + (count.one(assistant, columnOf(lane), cursors[lane])?.waiting ?? 0), 0),
    /** No row is ever deleted, so the last number is their count. */
    accepted: (): number => newest.one()?.seq ?? 0
  }
}

// Entries: the rows of the ledger.
// E1  Every LANDMARK_EVERYth entry of an assistant is in an index, so that a walk to any entry is as long as what it
//     reads and less than LANDMARK_EVERY steps more; the other commits write no index.
// E2  `settled` is the number of envelopes settled up to and including the row, over the whole store.

interface EntryRow {
  readonly seq: number
  readonly no: number
  /** The `seq` of the assistant's entry before, 0 at its creation. */
  readonly previous: number
  readonly body: string
}

interface OutboxEntryRow extends EntryRow {
  readonly tenant: string
  readonly id: string
}

interface NewEntry {
  readonly assistant: number
  readonly no: number
  readonly previous: number
  readonly settled: number
  readonly body: string
}

export const entryQueries = (database: DatabaseSync) => {
  const append = change(
    database,
    `INSERT INTO ledger (assistant, no, previous, settled, body)
     VALUES (?, ?, ?, ? + coalesce((SELECT settled FROM ledger ORDER BY seq DESC LIMIT 1), 0), ?)`
  )
  const bySeq = query<EntryRow>(database, "SELECT seq, no, previous, body FROM ledger WHERE seq = ?")
  const step = query<Omit<EntryRow, "body">>(database, "SELECT seq, no, previous FROM ledger WHERE seq = ?")
  const landmark = query<{ readonly seq: number }>(
    database,
    `SELECT seq FROM ledger WHERE assistant = ? AND no >= ? AND no % ${LANDMARK_EVERY} = 0 ORDER BY no LIMIT 1`
  )
  // CROSS JOIN keeps the order of the tables: the ledger leads, each row looks up one assistant.
  const after = query<OutboxEntryRow>(
    database,
    `SELECT seq, no, previous, body, tenant, id
     FROM ledger CROSS JOIN assistants ON key = assistant WHERE ${BEHIND} ORDER BY seq LIMIT ?`
  )
  const newest = query<{ readonly seq: number; readonly settled: number }>(
    database,
    "SELECT seq, settled FROM ledger ORDER BY seq DESC LIMIT 1"
  )
  const backwards = function* (seq: number): Generator<EntryRow> {
    for (let row = bySeq.one(seq); row !== undefined; row = bySeq.one(row.previous)) yield row
  }
  return {
    /** Answers the place in the outbox. */
    append: ({ assistant, no, previous, settled, body }: NewEntry): number =>
      append(assistant, no, previous, settled, body).lastSeq,
    /** From the given row on towards the creation. */
    backwards,
    /** Entries `to` down to `from` of one assistant. `last` is its newest row. */
    between: function* (assistant: number, last: number, from: number, to: number): Generator<EntryRow> {
      let at = step.one(landmark.one(assistant, to)?.seq ?? last)
      // What is only walked over may be long, and is not read.
      while (at !== undefined && at.no > to) at = step.one(at.previous)
      for (const row of backwards(at?.seq ?? 0)) {
        if (row.no < from) return
        yield row
      }
    },
    newestSeq: (): number => newest.one()?.seq ?? 0,
    after: salvaging<OutboxEntryRow>(
      (seq, limit) => pageOf(after.each(seq, limit)),
      () => newest.one()?.seq ?? 0
    ),
    settledTotal: (): number => newest.one()?.settled ?? 0
  }
}

// Chronicle: what was committed, read back.
// I1  Reading stops where the caller's bound is reached: a long life costs no more than a short one.

export const ledgerUnavailable =
  (operation: string) =>
  ({ cause, kind, message }: SqliteFailure): LedgerUnavailable =>
    new LedgerUnavailable({ operation, message, cause, isDamaged: kind === "damaged" })

const entryOf = (address: Address, { no, body }: EntryRow) =>
  Result.mapError(
    readEntry(body),
    (message) => new UnreadableRecord({ record: `entry ${no} of ${addressKey(address)}`, message })
  )

const toOutboxRow = (address: Address, row: EntryRow): Result.Result<OutboxRow, UnreadableRecord> =>
  Result.map(entryOf(address, row), (entry) => ({ seq: row.seq, address, entry }))

type EntryHistory = Pick<Ledger["Service"], "recent" | "entries" | "outbox" | "outboxEnd">

export const sqliteEntryHistory = (database: DatabaseSync, readable: Readable): EntryHistory => {
  const assistants = assistantQueries(database)
  const rows = entryQueries(database)

  const recentOf = function* (address: Address, last: number, maxTokens: number, since: MessagePlace) {
    const found: Array<PlacedMessage> = []
    let tokens = 0
    let isTurnWhole = false
    for (const row of rows.backwards(last)) {
      const entry = entryOf(address, row)
      if (Result.isFailure(entry)) return Result.fail(entry.failure)
      if (row.no < since.no) break
      yield row.body.length
      for (const [index, message] of [...entry.success.messages.entries()].toReversed()) {
        const place = { no: row.no, index }
        if (isBefore(place, since)) break
        tokens += message.tokens
        if (tokens > maxTokens && isTurnWhole) return Result.succeed(found.toReversed())
        found.push({ place, message })
        isTurnWhole ||= message.role === "user"
      }
    }
    return Result.succeed(found.toReversed())
  }

  return {
    recent: (address, maxTokens, since = { no: 0, index: 0 }) =>
      readingLong(ledgerUnavailable("recent"), function* () {
        const row = assistants.find(address)
        return row === undefined ? Result.succeed([]) : yield* recentOf(address, row.last, maxTokens, since)
      }),
    entries: (address, from, limit) =>
      readingLong(ledgerUnavailable("entries"), function* () {
        const row = assistants.find(address)
        if (row === undefined) return Result.succeed([])
        const first = Math.max(1, from)
        const found: Array<Result.Result<OutboxRow, UnreadableRecord>> = []
        for (const entry of rows.between(row.key, row.last, first, first + limited(limit) - 1)) {
          found.push(toOutboxRow(address, entry))
          yield entry.body.length
        }
        return Result.all(found.toReversed())
      }),
    outboxEnd: reading(ledgerUnavailable("outboxEnd"), () => Result.succeed(rows.newestSeq())),
    outbox: (after, limit) =>
      readable.page({
        limit: limited(limit),
        fetch: (last: OutboxEntryRow | undefined, wanted) =>
          readingPage(ledgerUnavailable("outbox"), () => rows.after(last?.seq ?? after, wanted)),
        lengthOf,
        decode: (row) => toOutboxRow(addressOf(row), row)
      })
  }
}
