// MemoryMailbox: the mailbox over a MemoryDisk.
// Owns the rules of acceptance, lease and dueness, each step without a pause in it. Keeps nothing itself.

import { ClaimHeld, dealt, LeaseLost, type Mailbox, MAX_PENDING, UnknownAssistant } from "@reverie/mailbox"
import { type Address, type Claim, type Lane, laneOf, LANES, type Pending } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { appendMail, copy, firstWaiting, type MailRow, type MemoryDisk, type Resident } from "./memory-disk.ts"

const liveLease = (resident: Resident, now: number) =>
  resident.lease !== undefined && resident.lease.until > now ? resident.lease : undefined

const readRow = ({ envelope, ...row }: MailRow): Pending[number] =>
  typeof envelope === "string"
    ? { unreadable: envelope, id: row.id, lane: row.lane, seq: row.seq }
    : { ...copy(envelope), lane: row.lane, seq: row.seq, acceptedAt: row.acceptedAt }

/** Since when, or from when on, an assistant has something to do; undefined when it rests. */
const workFrom = (resident: Resident): number | undefined => {
  const { jobs, timers, receives } = resident.state
  const times = [
    ...receives.flatMap((lane) => firstWaiting(resident, lane)?.acceptedAt ?? []),
    ...(jobs.length === 0 ? [] : [resident.committedAt]),
    ...timers.map(({ dueAt }) => dueAt)
  ]
  return times.length === 0 ? undefined : Math.min(...times)
}

/** Each assistant that has or will have something to do, with when it has it and when it may be claimed for it. */
const prospects = (disk: MemoryDisk, now: number) =>
  [...disk.residents.values()].flatMap((resident) => {
    const from = workFrom(resident)
    if (from === undefined) return []
    const lease = liveLease(resident, now)
    return [{ address: resident.address, from, at: Math.max(from, lease?.until ?? from), isHeld: lease !== undefined }]
  })

type Verbs = Mailbox["Service"]

const living = Effect.fnUntraced(function* (disk: MemoryDisk, address: Address) {
  const resident = disk.resident(address)
  return resident === undefined ? yield* new UnknownAssistant({ address }) : resident
})

const accepting = (disk: MemoryDisk): Pick<Verbs, "accept" | "accepted" | "pending"> => ({
  accepted: (address, ids) =>
    Effect.sync(() => {
      const rows = LANES.flatMap((lane) => disk.resident(address)?.mail[lane] ?? [])
      return ids.flatMap((id) => rows.filter((row) => row.id === id).map(readRow))
    }),
  accept: Effect.fnUntraced(function* (envelope, send) {
    const now = yield* Clock.currentTimeMillis
    const resident = yield* living(disk, envelope.to)
    if (resident.state.status === "retired") return yield* new UnknownAssistant({ address: envelope.to })
    const { id, to, event } = envelope
    const isSettled = send !== undefined && !disk.sends.has(send)
    if (isSettled || resident.accepted.has(id)) return { outcome: "duplicate", envelope: id, to }
    appendMail(disk, resident, { id, lane: laneOf(event), acceptedAt: now, envelope: copy(envelope) })
    return { outcome: "accepted", envelope: id, to }
  }),
  pending: (address, lanes, limit) =>
    Effect.sync(() => {
      const resident = disk.resident(address)
      if (resident === undefined) return []
      const rowsOf = (lane: Lane) => {
        const cursor = resident.cursors[lane]
        return resident.mail[lane].slice(cursor, cursor + Math.min(limit, MAX_PENDING))
      }
      return LANES.filter((lane) => lanes.includes(lane)).flatMap((lane) => rowsOf(lane).map(readRow))
    })
})

const lost = ({ address, epoch: heldEpoch }: Claim, resident: Resident | undefined) =>
  new LeaseLost({ address, heldEpoch, currentEpoch: resident?.epoch ?? 0 })

const leasing = (disk: MemoryDisk): Pick<Verbs, "claim" | "renew" | "note" | "release" | "fence"> => ({
  claim: Effect.fnUntraced(function* ({ address, worker, leaseMillis }) {
    const now = yield* Clock.currentTimeMillis
    const resident = yield* living(disk, address)
    const held = liveLease(resident, now)
    if (held !== undefined && held.worker !== worker) {
      return yield* new ClaimHeld({ address, worker: held.worker, leaseUntil: held.until })
    }
    const { note, version } = resident
    resident.attempts++
    resident.epoch++
    resident.lease = { worker, until: now + leaseMillis }
    return {
      claim: { address: copy(address), worker, epoch: resident.epoch, leaseUntil: resident.lease.until },
      state: copy(resident.state),
      version,
      cursors: resident.cursors,
      attempts: resident.attempts,
      ...(note === undefined ? {} : { note })
    }
  }),
  renew: Effect.fnUntraced(function* (claim, leaseMillis) {
    const now = yield* Clock.currentTimeMillis
    const resident = disk.resident(claim.address)
    if (resident === undefined || resident.epoch !== claim.epoch) return yield* lost(claim, resident)
    resident.lease = { worker: claim.worker, until: now + leaseMillis }
    return { ...copy(claim), leaseUntil: resident.lease.until }
  }),
  note: Effect.fnUntraced(function* (claim, text) {
    const resident = disk.resident(claim.address)
    if (resident === undefined || resident.epoch !== claim.epoch) return yield* lost(claim, resident)
    resident.note = text
  }),
  release: (claim) =>
    Effect.sync(() => {
      const resident = disk.resident(claim.address)
      if (resident?.epoch !== claim.epoch) return
      resident.lease = undefined
      resident.attempts = 0
      resident.note = undefined
    }),
  fence: Effect.fnUntraced(function* (address) {
    const resident = yield* living(disk, address)
    resident.epoch++
    resident.lease = undefined
    resident.attempts = 0
    resident.note = undefined
  })
})

const finding = (disk: MemoryDisk): Pick<Verbs, "due" | "nextDue"> => ({
  due: (limit, until = 0) =>
    Effect.map(Clock.currentTimeMillis, (now) =>
      dealt(
        prospects(disk, now)
          .filter(({ isHeld, from }) => !isHeld && from <= Math.max(now, until))
          .toSorted((a, b) => a.from - b.from),
        ({ address }) => address.tenant,
        limit
      ).map(({ address }) => copy(address))
    ),
  nextDue: Effect.map(Clock.currentTimeMillis, (now) => {
    const times = prospects(disk, now).map(({ at }) => at)
    return times.length === 0 ? undefined : Math.min(...times)
  })
})

export const memoryMailbox = (disk: MemoryDisk): Verbs => ({ ...accepting(disk), ...leasing(disk), ...finding(disk) })
