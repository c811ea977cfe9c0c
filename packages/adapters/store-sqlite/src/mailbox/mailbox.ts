// Mailbox on SQLite: acceptance, claims, what waits and who is due.
// Owns the rows of `envelopes`, and of an assistant's row its epoch, its attempts, its note and its waking by mail. Leases
// are memory: renewing writes nothing, nor does releasing after a commit that left no job open.

import type { DatabaseSync } from "node:sqlite"
import {
  ClaimHeld,
  type ClaimRequest,
  dealt,
  LeaseLost,
  type Mailbox,
  MailboxUnavailable,
  MAX_PENDING,
  StateUnreadable,
  UnknownAssistant
} from "@reverie/mailbox"
import {
  type AcceptedEnvelope,
  type Address,
  type AssistantState,
  type Claim,
  type Hold,
  type Lane,
  laneOf,
  readEnvelope,
  readKeyText,
  type Receipt,
  type UnreadableEnvelope
} from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import {
  addressOf,
  assistantQueries,
  type AssistantRow,
  cursorsOf,
  envelopeQueries,
  type EnvelopeRow,
  isHeard,
  type Leases,
  stateOf
} from "../ledger/assistants.ts"
import { change, limited, query, reading, readingLong, type SqliteFailure } from "../sql.ts"
import type { OnUndo, Writer } from "../writer.ts"
import { AT_REST } from "../formats.ts"
import { undamaged } from "../files/salvage.ts"

// Wake: one number that says since when, or from when on, an assistant has something to do.
// W1  Who has mail or a job is awake whatever the clock says: its wake is negative, so a clock set back hides no one.
// W2  Who has only timers wakes at the earliest of them, and who has nothing rests.
// W3  Among the awake the order of wakes is the order of waiting.

const AWAKE = 2 ** 46

const clamp = (millis: number, most: number): number => Math.trunc(Math.min(Math.max(millis, 0), most))

/** The wake of one who has had something to do since then. */
export const awakeSince = (millis: number): number => clamp(millis, AWAKE - 1) - AWAKE

export const isAwake = (wake: number): boolean => wake < 0

/** Since when, or from when on, in milliseconds since the epoch; undefined at rest. */
export const timeOf = (wake: number): number | undefined =>
  wake === AT_REST ? undefined : isAwake(wake) ? wake + AWAKE : wake

/** The wake after an accepted envelope that is heard. */
export const wakeOnMail = (wake: number, now: number): number =>
  isAwake(wake) ? wake : awakeSince(Math.min(now, timeOf(wake) ?? now))

/** The wake after a commit. `firstAcceptedAt` tells when the first envelope beyond the cursor of a lane arrived. */
export const wakeOnCommit = (
  wake: number,
  { jobs, timers, receives }: AssistantState,
  now: number,
  firstAcceptedAt: (lane: Lane) => number | undefined
): number => {
  // A tick in hand keeps its place, which also spares the index a write.
  if (jobs.length > 0) return wakeOnMail(wake, now)
  const mail = receives.flatMap((lane) => firstAcceptedAt(lane) ?? [])
  const earliest = Math.min(...timers.map(({ dueAt }) => dueAt))
  if (mail.length > 0) return awakeSince(Math.min(...mail, earliest))
  return earliest === Infinity ? AT_REST : clamp(earliest, AT_REST - 1)
}

// Due: who has something to do that no one holds, and when the next one will.
// I1  A look costs what it finds and what is held, never what sleeps.
// I2  When more are due than asked for, as many as LOOK_AHEAD are looked at, and each of their tenants has a share.

const LOOK_AHEAD = 4_096

interface WakeKey {
  readonly key: number
  readonly wake: number
}

interface WakeRow extends WakeKey {
  readonly tenant: string
  readonly id: string
}

const dueQueries = (database: DatabaseSync, leases: Leases) => {
  const rows = (columns: string, range: string): string =>
    // The index is used only where the query repeats its condition. A search ends at the first upper bound that is named:
    // behind the index's own it would go through all that sleep.
    `SELECT ${columns} FROM assistants WHERE ${range} AND wake < ${AT_REST} ORDER BY wake, key LIMIT ?`
  const [whole, keys] = ["key, wake, tenant, id", "key, wake"]
  const [AWAKE, SLEEPING] = ["wake < 0", "wake >= 0 AND wake <= ?"]
  const awake = query<WakeRow>(database, rows(whole, AWAKE))
  const sleepers = query<WakeRow>(database, rows(whole, SLEEPING))
  // The index of wakes answers these alone: with them a row on a damaged page is left out, and the others are found.
  const awakeKeys = query<WakeKey>(database, rows(keys, AWAKE))
  const sleepingKeys = query<WakeKey>(database, rows(keys, SLEEPING))
  const byKey = query<Omit<WakeRow, "key" | "wake">>(database, "SELECT tenant, id FROM assistants WHERE key = ?")
  const named = (found: ReadonlyArray<WakeKey>): ReadonlyArray<WakeRow> =>
    found.flatMap((wake) => {
      const name = undamaged(() => byKey.one(wake.key))?.value
      return name === undefined ? [] : [{ ...wake, ...name }]
    })
  const found = (until: number, limit: number): ReadonlyArray<WakeRow> =>
    undamaged(() => [...awake.all(limit), ...sleepers.all(until, limit)])?.value ??
    named([...awakeKeys.all(limit), ...sleepingKeys.all(until, limit)])
  const earliest = (until: number, limit: number) =>
    found(until, limit).map((row) => ({ ...row, from: timeOf(row.wake) ?? AT_REST }))
  const free = (now: number, until: number, limit: number) =>
    earliest(until, limit + leases.count)
      .filter(({ key }) => leases.live(key, now) === undefined)
      .toSorted((a, b) => a.from - b.from)
  return {
    /** Who is due by `until`, which is the present or later. */
    by: (until: number, now: number, limit: number): ReadonlyArray<Address> => {
      const oldest = free(now, until, limit)
      const waiting = oldest.length < limit ? oldest : free(now, until, Math.max(limit, LOOK_AHEAD))
      return dealt(waiting, ({ tenant }) => tenant, limit).map(addressOf)
    },
    next: (now: number): number | undefined => {
      // One more than can be held: one that is free is among them if there is any, and all behind it come later.
      const times = earliest(AT_REST - 1, 1 + leases.count).map(({ key, from }) =>
        Math.max(from, leases.live(key, now)?.until ?? from)
      )
      return times.length === 0 ? undefined : Math.min(...times)
    }
  }
}

const unavailable =
  (operation: string) =>
  ({ cause, kind, message }: SqliteFailure): MailboxUnavailable =>
    new MailboxUnavailable({
      operation,
      message,
      cause,
      isDamaged: kind === "damaged",
      ...(kind === "passing" && { isPassing: true })
    })

const readRow = ({ seq, id, acceptedAt, body }: EnvelopeRow, lane: Lane): AcceptedEnvelope | UnreadableEnvelope =>
  Result.match(readEnvelope(body), {
    onSuccess: (envelope) => ({ ...envelope, lane, seq, acceptedAt }),
    // The id was valid when the row was written; it must come back unchanged to be dead-lettered by.
    onFailure: (unreadable) => ({ unreadable, id: readKeyText(id) as UnreadableEnvelope["id"], lane, seq })
  })

type ClaimRefusal = UnknownAssistant | ClaimHeld | StateUnreadable

const unreadableState = (address: Address) => (problem: string) => new StateUnreadable({ address, problem })

const isStale = (claim: Claim, row: Pick<AssistantRow, "epoch"> | undefined): boolean => row?.epoch !== claim.epoch

const accepting = (database: DatabaseSync, writer: Writer): Pick<Mailbox["Service"], "accept"> => {
  const assistants = assistantQueries(database)
  const envelopes = envelopeQueries(database)
  const setWake = change(database, "UPDATE assistants SET wake = ? WHERE key = ?")
  const open = query<{ readonly seq: number }>(database, "SELECT seq FROM sends WHERE seq = ?")
  return {
    accept: (envelope, send) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const { id, to, event } = envelope
        const body = JSON.stringify(envelope)
        return writer.write(
          unavailable("accept"),
          (): Result.Result<Receipt, UnknownAssistant> => {
            const row = assistants.findDoor(to)
            if (row === undefined || row.retired === 1) return Result.fail(new UnknownAssistant({ address: to }))
            const isSettled = send !== undefined && open.one(send) === undefined
            if (isSettled || !envelopes.insert(row.key, envelope, body, now)) {
              return Result.succeed({ outcome: "duplicate", envelope: id, to })
            }
            const wake = isHeard(row.receives, laneOf(event)) ? wakeOnMail(row.wake, now) : row.wake
            if (wake !== row.wake) setWake(wake, row.key)
            return Result.succeed({ outcome: "accepted", envelope: id, to })
          },
          body.length
        )
      })
  }
}

type Claiming = Pick<Mailbox["Service"], "claim" | "renew" | "release">

const lost = ({ address, epoch: heldEpoch }: Claim, row: Pick<AssistantRow, "epoch"> | undefined): LeaseLost =>
  new LeaseLost({ address, heldEpoch, currentEpoch: row?.epoch ?? 0 })

const claiming = (database: DatabaseSync, writer: Writer, leases: Leases): Claiming => {
  const assistants = assistantQueries(database)
  const grant = change(database, "UPDATE assistants SET epoch = ?, attempts = ? WHERE key = ?")
  const forget = change(database, "UPDATE assistants SET attempts = 0, note = NULL WHERE key = ?")

  const granted = ({ address, worker, leaseMillis }: ClaimRequest, now: number, onUndo: OnUndo) => {
    const row = assistants.findWithState(address)
    if (row === undefined) return Result.fail(new UnknownAssistant({ address }))
    const held = leases.live(row.key, now)
    if (held !== undefined && held.worker !== worker) {
      return Result.fail(new ClaimHeld({ address, worker: held.worker, leaseUntil: held.until }))
    }
    return Result.map(Result.mapError(stateOf(row), unreadableState(address)), (state): Hold => {
      const epoch = row.epoch + 1
      const attempts = row.attempts + 1
      const leaseUntil = now + leaseMillis
      grant(epoch, attempts, row.key)
      onUndo(leases.grant(row.key, { worker, until: leaseUntil }, now))
      const claim = { address: addressOf(row), worker, epoch, leaseUntil }
      const noted = row.note === null ? {} : { note: row.note }
      return { claim, state, version: row.version, cursors: cursorsOf(row), attempts, ...noted }
    })
  }

  const forgotten = (claim: Claim): Result.Result<void> => {
    const row = assistants.find(claim.address)
    if (row !== undefined && !isStale(claim, row)) {
      leases.end(row.key)
      forget(row.key)
    }
    return Result.void
  }

  return {
    claim: (request) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        writer.write(unavailable("claim"), (onUndo): Result.Result<Hold, ClaimRefusal> => granted(request, now, onUndo))
      ),
    renew: (claim, leaseMillis) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        reading(unavailable("renew"), () => {
          const row = assistants.find(claim.address)
          if (row === undefined || isStale(claim, row)) return Result.fail(lost(claim, row))
          const leaseUntil = now + leaseMillis
          leases.grant(row.key, { worker: claim.worker, until: leaseUntil }, now)
          return Result.succeed({ ...claim, leaseUntil })
        })
      ),
    release: (claim) =>
      Effect.flatMap(
        reading(unavailable("release"), () => Result.succeed(assistants.find(claim.address))),
        (row) => {
          if (row === undefined || isStale(claim, row)) return Effect.void
          // After a commit that left no job open there is no attempt to forget, and so nothing to write.
          if (row.attempts === 0) return Effect.sync(() => leases.end(row.key))
          return writer.write(unavailable("release"), () => forgotten(claim))
        }
      )
  }
}

const noting = (database: DatabaseSync, writer: Writer): Pick<Mailbox["Service"], "note"> => {
  const assistants = assistantQueries(database)
  const keep = change(database, "UPDATE assistants SET note = ? WHERE key = ?")
  return {
    note: (claim, text) =>
      writer.write(unavailable("note"), (): Result.Result<void, LeaseLost> => {
        const row = assistants.find(claim.address)
        if (row === undefined || isStale(claim, row)) return Result.fail(lost(claim, row))
        keep(text, row.key)
        return Result.void
      })
  }
}

const fencing = (database: DatabaseSync, writer: Writer, leases: Leases): Pick<Mailbox["Service"], "fence"> => {
  const assistants = assistantQueries(database)
  const raise = change(database, "UPDATE assistants SET epoch = epoch + 1, attempts = 0, note = NULL WHERE key = ?")
  return {
    fence: (address) =>
      writer.write(unavailable("fence"), () => {
        const row = assistants.find(address)
        if (row === undefined) return Result.fail(new UnknownAssistant({ address }))
        leases.end(row.key)
        raise(row.key)
        return Result.void
      })
  }
}

type Looking = Pick<Mailbox["Service"], "accepted" | "pending" | "due" | "nextDue">

const looking = (database: DatabaseSync, leases: Leases): Looking => {
  const assistants = assistantQueries(database)
  const envelopes = envelopeQueries(database)
  const due = dueQueries(database, leases)
  return {
    pending: (address, lanes, limit) =>
      readingLong(unavailable("pending"), function* () {
        const row = assistants.find(address)
        if (row === undefined) return Result.succeed([])
        const most = Math.min(limited(limit), MAX_PENDING)
        const found: Array<AcceptedEnvelope | UnreadableEnvelope> = []
        for (const { lane, seq } of envelopes.waiting(row.key, row, lanes, most)) {
          const waiting = envelopes.rowAt(seq)
          if (waiting === undefined) continue
          found.push(readRow(waiting, lane))
          yield waiting.body.length
        }
        return Result.succeed(found)
      }),
    accepted: (address, ids) =>
      readingLong(unavailable("accepted"), function* () {
        const key = assistants.find(address)?.key
        if (key === undefined) return Result.succeed([])
        const found: Array<AcceptedEnvelope | UnreadableEnvelope> = []
        for (const id of ids) {
          const known = envelopes.rowOf(key, id)
          if (known === undefined) continue
          const body = yield* envelopes.textOf(known.row.body)
          found.push(readRow({ ...known.row, body }, known.lane))
          yield body.length
        }
        return Result.succeed(found)
      }),
    due: (limit, until = 0) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        reading(unavailable("due"), () => Result.succeed(due.by(Math.max(now, until), now, limited(limit))))
      ),
    nextDue: Effect.flatMap(Clock.currentTimeMillis, (now) =>
      reading(unavailable("nextDue"), () => Result.succeed(due.next(now)))
    )
  }
}

export const sqliteMailbox = (database: DatabaseSync, writer: Writer, leases: Leases): Mailbox["Service"] => ({
  ...accepting(database, writer),
  ...claiming(database, writer, leases),
  ...noting(database, writer),
  ...fencing(database, writer, leases),
  ...looking(database, leases)
})
