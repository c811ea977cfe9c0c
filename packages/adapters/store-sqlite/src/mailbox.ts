// Mailbox on SQLite: acceptance, claims, what waits and who is due.
// Owns the rows of `envelopes`, and of an assistant's row its epoch, its attempts and its waking by mail. Leaves commits
// to ledger.ts and leases, which are memory, to leases.ts: renewing writes nothing, nor does releasing after a commit.

import type { DatabaseSync } from "node:sqlite"
import {
  ClaimHeld,
  type ClaimRequest,
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
  type Claim,
  type Hold,
  type Lane,
  laneOf,
  LANES,
  readEnvelope,
  readKeyText,
  readState,
  type Receipt,
  type UnreadableEnvelope
} from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { addressOf, type AssistantRow, assistantQueries, cursorsOf, isHeard } from "./assistants.ts"
import { dueQueries } from "./due.ts"
import { type EnvelopeRow, envelopeQueries } from "./envelopes.ts"
import type { Leases } from "./leases.ts"
import { reading } from "./reading.ts"
import { change, limited } from "./sql.ts"
import type { SqliteFailure } from "./sqlite-failure.ts"
import { wakeOnMail } from "./wake.ts"
import type { OnUndo, Writer } from "./writer.ts"

const unavailable =
  (operation: string) =>
  ({ message, cause }: SqliteFailure): MailboxUnavailable =>
    new MailboxUnavailable({ operation, message, cause })

const readRow = ({ seq, id, acceptedAt, body }: EnvelopeRow, lane: Lane): AcceptedEnvelope | UnreadableEnvelope =>
  Result.match(readEnvelope(body), {
    onSuccess: (envelope) => ({ ...envelope, lane, seq, acceptedAt }),
    // The id was valid when the row was written; it must come back unchanged to be buried by.
    onFailure: (unreadable) => ({ unreadable, id: readKeyText(id) as UnreadableEnvelope["id"], lane, seq })
  })

type ClaimRefusal = UnknownAssistant | ClaimHeld | StateUnreadable

const unreadableState = (address: Address) => (problem: string) => new StateUnreadable({ address, problem })

const isStale = (claim: Claim, row: AssistantRow | undefined): boolean => row?.epoch !== claim.epoch

const accepting = (database: DatabaseSync, writer: Writer): Pick<Mailbox["Service"], "accept"> => {
  const assistants = assistantQueries(database)
  const envelopes = envelopeQueries(database)
  const setWake = change(database, "UPDATE assistants SET wake = ? WHERE key = ?")
  return {
    accept: (envelope) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const { id, to, event } = envelope
        const body = JSON.stringify(envelope)
        return writer.write(unavailable("accept"), (): Result.Result<Receipt, UnknownAssistant> => {
          const row = assistants.findDoor(to)
          if (row === undefined || row.retired === 1) return Result.fail(new UnknownAssistant({ address: to }))
          if (!envelopes.insert(row.key, envelope, body, now)) {
            return Result.succeed({ outcome: "duplicate", envelope: id, to })
          }
          const wake = isHeard(row.hears, laneOf(event)) ? wakeOnMail(row.wake, now) : row.wake
          if (wake !== row.wake) setWake(wake, row.key)
          return Result.succeed({ outcome: "accepted", envelope: id, to })
        })
      })
  }
}

type Claiming = Pick<Mailbox["Service"], "claim" | "renew" | "release">

const claiming = (database: DatabaseSync, writer: Writer, leases: Leases): Claiming => {
  const assistants = assistantQueries(database)
  const grant = change(database, "UPDATE assistants SET epoch = ?, attempts = ? WHERE key = ?")

  const granted = ({ address, worker, leaseMillis }: ClaimRequest, now: number, onUndo: OnUndo) => {
    const row = assistants.findWithState(address)
    if (row === undefined) return Result.fail(new UnknownAssistant({ address }))
    const held = leases.live(row.key, now)
    if (held !== undefined && held.worker !== worker) {
      return Result.fail(new ClaimHeld({ address, worker: held.worker, leaseUntil: held.until }))
    }
    return Result.map(Result.mapError(readState(row.state), unreadableState(address)), (state): Hold => {
      const epoch = row.epoch + 1
      const attempts = row.attempts + 1
      const leaseUntil = now + leaseMillis
      grant(epoch, attempts, row.key)
      onUndo(leases.grant(row.key, { worker, until: leaseUntil }, now))
      const claim = { address: addressOf(row), worker, epoch, leaseUntil }
      return { claim, state, version: row.version, cursors: cursorsOf(row), attempts }
    })
  }

  const forgotten = (claim: Claim): Result.Result<void> => {
    const row = assistants.find(claim.address)
    if (row !== undefined && !isStale(claim, row)) {
      leases.end(row.key)
      grant(row.epoch, 0, row.key)
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
          if (row === undefined || isStale(claim, row)) {
            const { address, epoch: heldEpoch } = claim
            return Result.fail(new LeaseLost({ address, heldEpoch, currentEpoch: row?.epoch ?? 0 }))
          }
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
          // After a commit there is no attempt to forget, and so nothing to write.
          if (row.attempts === 0) return Effect.sync(() => leases.end(row.key))
          return writer.write(unavailable("release"), () => forgotten(claim))
        }
      )
  }
}

const fencing = (database: DatabaseSync, writer: Writer, leases: Leases): Pick<Mailbox["Service"], "fence"> => {
  const assistants = assistantQueries(database)
  const raise = change(database, "UPDATE assistants SET epoch = epoch + 1, attempts = 0 WHERE key = ?")
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
      reading(unavailable("pending"), () => {
        const row = assistants.find(address)
        if (row === undefined) return Result.succeed([])
        const most = Math.min(limited(limit), MAX_PENDING)
        return Result.succeed(
          LANES.filter((lane) => lanes.includes(lane)).flatMap((lane) =>
            envelopes.waitingRows(row.key, lane, row[lane], most).map((envelope) => readRow(envelope, lane))
          )
        )
      }),
    accepted: (address, ids) =>
      reading(unavailable("accepted"), () => {
        const key = assistants.find(address)?.key
        if (key === undefined) return Result.succeed([])
        const found = ids.flatMap((id) => envelopes.rowOf(key, id) ?? [])
        return Result.succeed(found.map(({ lane, row }) => readRow(row, lane)))
      }),
    due: (limit) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        reading(unavailable("due"), () => Result.succeed(due.now(now, limited(limit))))
      ),
    nextDue: Effect.flatMap(Clock.currentTimeMillis, (now) =>
      reading(unavailable("nextDue"), () => Result.succeed(due.next(now)))
    )
  }
}

export const sqliteMailbox = (database: DatabaseSync, writer: Writer, leases: Leases): Mailbox["Service"] => ({
  ...accepting(database, writer),
  ...claiming(database, writer, leases),
  ...fencing(database, writer, leases),
  ...looking(database, leases)
})
