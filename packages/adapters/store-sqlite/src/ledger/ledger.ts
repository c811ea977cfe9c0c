// Ledger on SQLite: creations, commits and what they leave behind.
// Owns the writing of `ledger`, `records`, `sends` and `dead_letters`, and of an assistant's row all that a commit says.
// I1  The fence is judged inside the transaction and before its first write.
// I2  A commit that leaves the waking as it is does not touch its index.

import type { DatabaseSync } from "node:sqlite"
import {
  type AssistantRecord,
  CommitFenced,
  type DeadLetter,
  type Discarded,
  type Ledger,
  type OpenSend,
  Readable,
  type RecordFilter,
  unopenedReason,
  UnreadableRecord
} from "@reverie/ledger"
import {
  entryText,
  type Address,
  addressKey,
  type AssistantState,
  type Cause,
  type Cursors,
  type Entry,
  type EnvelopeId,
  parseJson,
  readEnvelope,
  stateText,
  type RecordKind,
  type RecordRow
} from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import {
  addressOf,
  assistantQueries,
  cursorsOf,
  envelopeQueries,
  ledgerUnavailable,
  type ListedRow,
  padded,
  receivesColumn,
  stateOf,
  type StateRow
} from "./assistants.ts"
import { entryQueries, sqliteEntryHistory } from "./entries.ts"
import { sqliteUsage, usageAdding } from "./usage.ts"
import { sqliteBlobs } from "./blobs.ts"
import { type KeptRow, recordRows } from "./record-rows.ts"
import { wakeOnCommit } from "../mailbox/mailbox.ts"
import { AT_REST } from "../formats.ts"
import { change, lengthOf, limited, pageOf, query, reading, readingPage } from "../sql.ts"
import { BEHIND, salvaging, undamaged } from "../files/salvage.ts"
import type { Writer } from "../writer.ts"

// Register: the assistants as they stand, the dead letters and the totals, for anyone who looks in from outside.

interface DeadLetterRow {
  readonly tenant: string
  readonly id: string
  readonly body: string
}

type Letter = Omit<DeadLetter, "address">

const toDeadLetter = (row: DeadLetterRow): DeadLetter => ({
  address: addressOf(row),
  ...Result.match(parseJson(row.body), {
    onSuccess: (letter) => letter as unknown as Letter,
    // That one waits for a person is known, also where what it says is lost.
    onFailure: (reason): Letter => ({
      envelope: "?" as EnvelopeId,
      reason: unopenedReason(row.body) ?? reason,
      at: 0
    })
  })
})

/** Of one tenant, or of all where it is null. */
const lettersIn = (order: "ASC" | "DESC"): string => `
  SELECT tenant, id, assistant, body FROM dead_letters INDEXED BY dead_letters_told CROSS JOIN assistants ON key = assistant
  WHERE discarded IS NULL AND tenant = coalesce(?, tenant) ORDER BY seq ${order} LIMIT ?`

/** What the body of a letter of this id begins with, and of no other. */
const beginningOf = (envelope: EnvelopeId): string => `${JSON.stringify({ envelope }).slice(0, -1)},`

/** How many letters were discarded: they are numbered in that order. */
export const discardedCounting = (database: DatabaseSync): (() => number) => {
  const sql = "SELECT max(discarded) AS count FROM dead_letters WHERE discarded IS NOT NULL"
  const last = query<{ readonly count: number | null }>(database, sql)
  return () => last.one()?.count ?? 0
}

type Register = Pick<Ledger["Service"], "addresses" | "inspect" | "list" | "deadLetters" | "totals">

const sqliteRegister = (database: DatabaseSync, readable: Readable): Register => {
  const assistants = assistantQueries(database)
  const envelopes = envelopeQueries(database)
  const entries = entryQueries(database)
  const oldest = query<DeadLetterRow>(database, lettersIn("ASC"))
  const newest = query<DeadLetterRow>(database, lettersIn("DESC"))
  const discarded = discardedCounting(database)
  const deadLettered = query<{ readonly seq: number | null }>(database, "SELECT max(seq) AS seq FROM dead_letters")

  const recordOf = (row: StateRow): Result.Result<AssistantRecord, UnreadableRecord> => {
    const address = addressOf(row)
    const state = stateOf(row)
    if (Result.isFailure(state)) {
      return Result.fail(new UnreadableRecord({ record: `state of ${addressKey(address)}`, message: state.failure }))
    }
    const { version, epoch } = row
    const cursors = cursorsOf(row)
    const waiting = envelopes.waitingCount(row.key, cursors)
    return Result.succeed({ address, state: state.success, version, epoch, cursors, waiting })
  }

  const DAMAGED = "a page of the database is damaged"
  const listed = (row: ListedRow): Result.Result<AssistantRecord, UnreadableRecord> => {
    const record = "isDamaged" in row ? undefined : undamaged(() => recordOf(row))?.value
    return record ?? Result.fail(new UnreadableRecord({ record: addressKey(addressOf(row)), message: DAMAGED }))
  }

  return {
    inspect: (address) =>
      reading(ledgerUnavailable("inspect"), (): Result.Result<AssistantRecord | undefined, UnreadableRecord> => {
        const row = assistants.findWithState(address)
        return row === undefined ? Result.succeed(undefined) : recordOf(row)
      }),
    list: (after, limit) =>
      readable.page({
        limit: limited(limit),
        fetch: (last: ListedRow | undefined, wanted) =>
          reading(ledgerUnavailable("list"), () =>
            Result.succeed(assistants.listAfter(last === undefined ? after : addressOf(last), wanted))
          ),
        decode: listed
      }),
    addresses: (after, limit) =>
      reading(ledgerUnavailable("addresses"), () =>
        Result.succeed(assistants.namesAfter(after, limited(limit)).map(addressOf))
      ),
    deadLetters: (limit, { newestFirst = false, tenant = null } = {}) =>
      reading(ledgerUnavailable("deadLetters"), () => {
        const letters = newestFirst ? newest : oldest
        return Result.succeed(letters.all(tenant, limited(limit)).map(toDeadLetter))
      }),
    totals: reading(ledgerUnavailable("totals"), () =>
      Result.succeed({
        accepted: envelopes.accepted(),
        settled: entries.settledTotal(),
        // No row is ever deleted, so the last number is their count.
        dead: deadLettered.one()?.seq ?? 0,
        discarded: discarded()
      })
    )
  }
}

// Kept: what assistants keep about themselves, read back.

const sqliteKept = (database: DatabaseSync): Pick<Ledger["Service"], "records"> => {
  const assistants = assistantQueries(database)
  const rows = recordRows(database)
  const some = (assistant: number, kind: RecordKind, { keys, limit }: RecordFilter): ReadonlyArray<KeptRow> => {
    if (keys === undefined) return rows.ofKind(assistant, kind, limit)
    const found = [...new Set(keys)].toSorted().flatMap((key) => rows.under(assistant, kind, key))
    return limit === undefined ? found : found.slice(0, limited(limit))
  }
  return {
    records: (address, kinds, filter = {}) =>
      reading(ledgerUnavailable("records"), () => {
        const row = assistants.find(address)
        if (row === undefined) return Result.succeed([])
        const toRecord = ({ body, key, kind }: KeptRow): Result.Result<RecordRow, UnreadableRecord> =>
          Result.mapBoth(parseJson(body), {
            onSuccess: (value) => ({ kind, key, value }),
            onFailure: (message) =>
              new UnreadableRecord({
                record: `${kind} ${key} of ${addressKey(address)}`,
                message: unopenedReason(body) ?? message
              })
          })
        return Result.all([...new Set(kinds)].toSorted().flatMap((kind) => some(row.key, kind, filter).map(toRecord)))
      })
  }
}

const moved = (cursors: Cursors, cause: Cause): Cursors =>
  cause.kind === "envelope" || cause.kind === "dead-letter"
    ? { ...cursors, [cause.lane]: Math.max(cursors[cause.lane], cause.seq) }
    : cursors

const flagsOf = ({ receives, status }: AssistantState) => [receivesColumn(receives), status === "retired" ? 1 : 0]

/** Everything of an entry that becomes text, before the transaction waits for it. */
const encode = (entry: Entry) => {
  const settled = entry.settled ?? []
  const letters = settled.filter(({ outcome }) => outcome === "dead")
  return {
    entry,
    body: entryText(entry),
    sends: (entry.sends ?? []).map((envelope) => JSON.stringify(envelope)),
    deadLetters: letters.map(({ id, reason = "" }) =>
      JSON.stringify({ envelope: id, reason, at: entry.at } satisfies Omit<DeadLetter, "address">)
    ),
    records: (entry.records ?? []).map(({ kind, key, value }) => ({
      kind,
      key,
      value: value === null ? null : JSON.stringify(value)
    })),
    settled: settled.length - letters.length
  }
}

const appending = (database: DatabaseSync) => {
  const entries = entryQueries(database)
  const send = change(database, "INSERT INTO sends (body) VALUES (?)")
  const kept = recordRows(database)
  const deadLetter = change(database, "INSERT INTO dead_letters (assistant, body) VALUES (?, ?)")
  const use = usageAdding(database)
  /** Files an entry with its sends and dead letters; answers its place in the outbox. */
  return (
    assistant: number,
    tenant: Address["tenant"],
    previous: number,
    { entry, body, sends, deadLetters, records, settled }: ReturnType<typeof encode>
  ) => {
    use(assistant, tenant, entry)
    for (const { kind, key, value } of records) {
      if (value === null) kept.drop(assistant, kind, key)
      else kept.keep(assistant, kind, key, value)
    }
    for (const envelope of sends) send(envelope)
    for (const letter of deadLetters) deadLetter(assistant, letter)
    return entries.append({ assistant, no: entry.no, previous, settled, body })
  }
}

const INSERT = `
  INSERT INTO assistants (wake, epoch, attempts, version, control, reply, mail, last, receives, retired, tenant, id, state)
  VALUES (?, 0, 0, ?, 0, 0, 0, 0, ?, ?, ?, ?, ?)`

const UPDATE = `
  UPDATE assistants SET attempts = ?, note = NULL, version = ?, control = ?, reply = ?, mail = ?, last = ?, receives = ?,
    retired = ?, state = ? WHERE key = ?`

const writing = (database: DatabaseSync, writer: Writer): Pick<Ledger["Service"], "create" | "commit"> => {
  const assistants = assistantQueries(database)
  const envelopes = envelopeQueries(database)
  const append = appending(database)
  const insert = change(database, INSERT)
  const setLast = change(database, "UPDATE assistants SET last = ? WHERE key = ?")
  const setWake = change(database, "UPDATE assistants SET wake = ? WHERE key = ?")
  const update = change(database, UPDATE)

  const create: Ledger["Service"]["create"] = ({ address, state, entry }) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const encoded = encode(entry)
      const body = padded(stateText(state), 0)
      const { tenant, assistant } = address
      return writer.write(ledgerUnavailable("create"), () => {
        if (assistants.find(address) !== undefined) return Result.succeed("exists" as const)
        const wake = wakeOnCommit(AT_REST, state, now, () => undefined)
        const key = insert(wake, entry.no, ...flagsOf(state), tenant, assistant, body).lastSeq
        setLast(append(key, tenant, 0, encoded), key)
        return Result.succeed("created" as const)
      })
    })

  const commit: Ledger["Service"]["commit"] = (claim, { entry, state }) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const encoded = encode(entry)
      const json = stateText(state)
      const { address, epoch: heldEpoch } = claim
      return writer.write(
        ledgerUnavailable("commit"),
        () => {
          const row = assistants.find(address)
          const { epoch: currentEpoch, version: currentVersion } = row ?? { epoch: 0, version: 0 }
          if (row === undefined || heldEpoch !== currentEpoch || entry.no !== currentVersion + 1) {
            const expectedVersion = entry.no - 1
            return Result.fail(new CommitFenced({ address, heldEpoch, currentEpoch, expectedVersion, currentVersion }))
          }
          const { key } = row
          const seq = append(key, address.tenant, row.last, encoded)
          const cursors = moved(row, entry.cause)
          const { control, reply, mail } = cursors
          const attempts = state.jobs.length === 0 ? 0 : 1
          update(attempts, entry.no, control, reply, mail, seq, ...flagsOf(state), padded(json, row.stateBytes), key)
          const wake = wakeOnCommit(row.wake, state, now, (lane) => envelopes.firstAcceptedAt(key, lane, cursors[lane]))
          if (wake !== row.wake) setWake(wake, key)
          return Result.succeed(seq)
        },
        encoded.body.length + json.length
      )
    })

  return { create, commit }
}

interface SendRow {
  readonly seq: number
  readonly body: string
}

type Sending = Pick<Ledger["Service"], "openSends" | "settleSends">

const sending = (database: DatabaseSync, writer: Writer, readable: Readable): Sending => {
  const rows = query<SendRow>(database, `SELECT seq, body FROM sends WHERE ${BEHIND} ORDER BY seq LIMIT ?`)
  const newest = query<{ readonly seq: number | null }>(database, "SELECT max(seq) AS seq FROM sends")
  const open = salvaging(
    (seq, most) => pageOf(rows.each(seq, most)),
    () => newest.one()?.seq ?? 0
  )
  const settle = change(database, "DELETE FROM sends WHERE seq = ?")
  const toSend = ({ body, seq }: SendRow): Result.Result<OpenSend, UnreadableRecord> =>
    Result.mapBoth(readEnvelope(body), {
      onSuccess: (envelope) => ({ seq, envelope }),
      onFailure: (message) => new UnreadableRecord({ record: `send ${seq}`, message: unopenedReason(body) ?? message })
    })
  return {
    openSends: (limit) =>
      readable.page({
        limit: limited(limit),
        fetch: (last: SendRow | undefined, wanted) =>
          readingPage(ledgerUnavailable("openSends"), () => open(last?.seq ?? 0, wanted)),
        lengthOf,
        decode: toSend
      }),
    settleSends: (seqs) =>
      seqs.length === 0
        ? Effect.void
        : writer.write(ledgerUnavailable("settleSends"), () => {
            for (const seq of seqs) settle(seq)
            return Result.void
          })
  }
}

interface DeadLetteredRow {
  readonly seq: number
  readonly discarded: number | null
  readonly body: string
}

const discarding = (database: DatabaseSync, writer: Writer): Pick<Ledger["Service"], "discard"> => {
  const assistants = assistantQueries(database)
  const deadLettered = query<DeadLetteredRow>(
    database,
    "SELECT seq, assistant, discarded, body FROM dead_letters WHERE assistant = ?"
  )
  const countDiscarded = discardedCounting(database)
  const lay = change(database, "UPDATE dead_letters SET discarded = ? WHERE seq = ?")
  return {
    discard: (address, envelope) =>
      writer.write(ledgerUnavailable("discard"), (): Result.Result<Discarded> => {
        const who = assistants.find(address)
        const beginning = beginningOf(envelope)
        const letters = who === undefined ? [] : deadLettered.all(who.key)
        const row = letters.find(({ body }) => body.startsWith(beginning))
        if (row === undefined) return Result.succeed("unknown")
        if (row.discarded !== null) return Result.succeed("already")
        lay(countDiscarded() + 1, row.seq)
        return Result.succeed("discarded")
      })
  }
}

/** As long as what an assistant hears and says in a tick may well be: a store with less room than that is full. */
const PROBE = "probe ".repeat(11_000)

const probing = (database: DatabaseSync, writer: Writer): Pick<Ledger["Service"], "probe"> => {
  const put = change(database, "INSERT INTO sends (body) VALUES (?)")
  const take = change(database, "DELETE FROM sends WHERE seq = ?")
  return {
    probe: writer.write(ledgerUnavailable("probe"), () => {
      take(put(PROBE).lastSeq)
      return Result.void
    })
  }
}

export const sqliteLedger = (database: DatabaseSync, writer: Writer, readable = new Readable()): Ledger["Service"] => ({
  ...writing(database, writer),
  ...sending(database, writer, readable),
  ...discarding(database, writer),
  ...probing(database, writer),
  ...sqliteEntryHistory(database, readable),
  ...sqliteRegister(database, readable),
  ...sqliteKept(database),
  ...sqliteUsage(database),
  blobs: sqliteBlobs(database, writer)
})
