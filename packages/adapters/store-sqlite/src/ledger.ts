// Ledger on SQLite: births, commits and what they leave behind.
// Owns the writing of `ledger`, `records`, `sends` and `dead_letters`, and of an assistant's row all that a commit says.
// Leaves acceptance and claims to mailbox.ts, reading back to chronicle.ts, register.ts and kept.ts.
// I1  The fence is judged inside the transaction and before its first write.
// I2  A commit that leaves the waking as it is does not touch its index.

import type { DatabaseSync } from "node:sqlite"
import { CommitFenced, type LaidAside, type Ledger, LedgerUnavailable, type OpenSend } from "@reverie/ledger"
import { type AssistantState, type Cause, type Cursors, type Entry, readEnvelope } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { assistantQueries, hearsColumn } from "./assistants.ts"
import { ledgerUnavailable, sqliteChronicle } from "./chronicle.ts"
import { entryQueries } from "./entries.ts"
import { envelopeQueries } from "./envelopes.ts"
import { AT_REST } from "./formats.ts"
import { sqliteKept } from "./kept.ts"
import { reading } from "./reading.ts"
import { padded } from "./records.ts"
import { asideCounting, beginningOf, type DeadLetterBody, sqliteRegister } from "./register.ts"
import { change, limited, query } from "./sql.ts"
import { wakeOnCommit } from "./wake.ts"
import type { Writer } from "./writer.ts"

const moved = (cursors: Cursors, cause: Cause): Cursors =>
  cause.kind === "envelope" || cause.kind === "burial"
    ? { ...cursors, [cause.lane]: Math.max(cursors[cause.lane], cause.seq) }
    : cursors

const retiredColumn = ({ status }: AssistantState): number => (status === "retired" ? 1 : 0)

/** Everything of an entry that becomes text, before the transaction waits for it. */
const encode = (entry: Entry) => {
  const settled = entry.settled ?? []
  const letters = settled.filter(({ outcome }) => outcome === "dead")
  return {
    no: entry.no,
    body: JSON.stringify(entry),
    sends: (entry.sends ?? []).map((envelope) => JSON.stringify(envelope)),
    deadLetters: letters.map(({ id, reason = "" }) =>
      JSON.stringify({ envelope: id, reason, at: entry.at } satisfies DeadLetterBody)
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
  const keep = change(database, "INSERT OR REPLACE INTO records (assistant, kind, key, body) VALUES (?, ?, ?, ?)")
  const drop = change(database, "DELETE FROM records WHERE assistant = ? AND kind = ? AND key = ?")
  const bury = change(database, "INSERT INTO dead_letters (assistant, body) VALUES (?, ?)")
  /** Files an entry with its sends and dead letters; answers its place in the outbox. */
  return (
    assistant: number,
    previous: number,
    { no, body, sends, deadLetters, records, settled }: ReturnType<typeof encode>
  ) => {
    for (const { kind, key, value } of records) {
      if (value === null) drop(assistant, kind, key)
      else keep(assistant, kind, key, value)
    }
    for (const envelope of sends) send(envelope)
    for (const letter of deadLetters) bury(assistant, letter)
    return entries.append({ assistant, no, previous, settled, body })
  }
}

const writing = (database: DatabaseSync, writer: Writer): Pick<Ledger["Service"], "birth" | "commit"> => {
  const assistants = assistantQueries(database)
  const envelopes = envelopeQueries(database)
  const append = appending(database)
  const insert = change(
    database,
    `INSERT INTO assistants
       (wake, epoch, attempts, version, control, reply, mail, last, hears, retired, tenant, id, state)
     VALUES (?, 0, 0, ?, 0, 0, 0, 0, ?, ?, ?, ?, ?)`
  )
  const setLast = change(database, "UPDATE assistants SET last = ? WHERE key = ?")
  const setWake = change(database, "UPDATE assistants SET wake = ? WHERE key = ?")
  const update = change(
    database,
    `UPDATE assistants SET attempts = 0, version = ?, control = ?, reply = ?, mail = ?, last = ?, hears = ?, retired = ?,
       state = ? WHERE key = ?`
  )

  const birth: Ledger["Service"]["birth"] = ({ address, state, entry }) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const encoded = encode(entry)
      const body = padded(JSON.stringify(state), 0)
      const { tenant, assistant } = address
      return writer.write(ledgerUnavailable("birth"), () => {
        if (assistants.find(address) !== undefined) return Result.succeed("exists" as const)
        const wake = wakeOnCommit(AT_REST, state, now, () => undefined)
        const flags = [hearsColumn(state.hears), retiredColumn(state)]
        const key = insert(wake, encoded.no, ...flags, tenant, assistant, body).lastSeq
        setLast(append(key, 0, encoded), key)
        return Result.succeed("born" as const)
      })
    })

  const commit: Ledger["Service"]["commit"] = (claim, { entry, state }) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const encoded = encode(entry)
      const json = JSON.stringify(state)
      const { address, epoch: heldEpoch } = claim
      return writer.write(ledgerUnavailable("commit"), () => {
        const row = assistants.find(address)
        const { epoch: currentEpoch, version: currentVersion } = row ?? { epoch: 0, version: 0 }
        if (row === undefined || heldEpoch !== currentEpoch || encoded.no !== currentVersion + 1) {
          const expectedVersion = encoded.no - 1
          return Result.fail(new CommitFenced({ address, heldEpoch, currentEpoch, expectedVersion, currentVersion }))
        }
        const { key } = row
        const seq = append(key, row.last, encoded)
        const { control, reply, mail } = moved(row, entry.cause)
        const flags = [hearsColumn(state.hears), retiredColumn(state)]
        update(encoded.no, control, reply, mail, seq, ...flags, padded(json, row.stateBytes), key)
        const cursors = { control, reply, mail }
        const wake = wakeOnCommit(row.wake, state, now, (lane) => envelopes.firstAcceptedAt(key, lane, cursors[lane]))
        if (wake !== row.wake) setWake(wake, key)
        return Result.succeed(seq)
      })
    })

  return { birth, commit }
}

const sending = (database: DatabaseSync, writer: Writer): Pick<Ledger["Service"], "openSends" | "settleSends"> => {
  const open = query<{ readonly seq: number; readonly body: string }>(
    database,
    "SELECT seq, body FROM sends ORDER BY seq LIMIT ?"
  )
  const settle = change(database, "DELETE FROM sends WHERE seq = ?")
  const toSend = ({ seq, body }: { readonly seq: number; readonly body: string }) =>
    Result.mapBoth(readEnvelope(body), {
      onSuccess: (envelope): OpenSend => ({ seq, envelope }),
      onFailure: (message) =>
        new LedgerUnavailable({ operation: "openSends", message: `send ${seq} can not be read: ${message}` })
    })
  return {
    openSends: (limit) =>
      reading(ledgerUnavailable("openSends"), () => Result.all(open.all(limited(limit)).map(toSend))),
    settleSends: (seqs) =>
      seqs.length === 0
        ? Effect.void
        : writer.write(ledgerUnavailable("settleSends"), () => {
            for (const seq of seqs) settle(seq)
            return Result.void
          })
  }
}

interface BuriedRow {
  readonly seq: number
  readonly aside: number | null
}

const layingAside = (database: DatabaseSync, writer: Writer): Pick<Ledger["Service"], "layAside"> => {
  const assistants = assistantQueries(database)
  const buried = query<BuriedRow>(
    database,
    "SELECT seq, aside FROM dead_letters WHERE assistant = ? AND instr(body, ?) = 1"
  )
  const countAside = asideCounting(database)
  const lay = change(database, "UPDATE dead_letters SET aside = ? WHERE seq = ?")
  return {
    layAside: (address, envelope) =>
      writer.write(ledgerUnavailable("layAside"), (): Result.Result<LaidAside> => {
        const who = assistants.find(address)
        const row = who === undefined ? undefined : buried.one(who.key, beginningOf(envelope))
        if (row === undefined) return Result.succeed("unknown")
        if (row.aside !== null) return Result.succeed("already")
        lay(countAside() + 1, row.seq)
        return Result.succeed("aside")
      })
  }
}

export const sqliteLedger = (database: DatabaseSync, writer: Writer): Ledger["Service"] => ({
  ...writing(database, writer),
  ...sending(database, writer),
  ...layingAside(database, writer),
  ...sqliteChronicle(database),
  ...sqliteRegister(database),
  ...sqliteKept(database)
})
