// MemoryDisk: what survives a crash of the in-memory store.
// Owns the rows. Leaves every rule about them to the mailbox and the ledger over it.
// D1  No reference goes in or out: a value is copied through JSON on its way to the disk and on its way back, as a real
//     store would do it.
// D2  A service over a disk has no state of its own: drop it, build another, nothing is missing.

import {
  type Address,
  addressKey,
  type AssistantState,
  type Cursors,
  type Entry,
  type Envelope,
  type EnvelopeId,
  type Lane,
  LANES,
  NO_CURSORS,
  type RecordKind,
  type RecordRow,
  type usageOf
} from "@reverie/protocol"
import type { DeadLetter, OpenSend, OutboxRow } from "@reverie/ledger"

/** A copy that shares nothing with the original and holds only what JSON can hold. */
export const copy = <A>(value: A): A => JSON.parse(JSON.stringify(value)) as A

export interface MailRow {
  readonly id: EnvelopeId
  readonly lane: Lane
  readonly seq: number
  readonly acceptedAt: number
  /** The envelope, or the sentence why it can not be read. */
  readonly envelope: Envelope | string
}

/** Everything kept for one assistant. */
export interface Resident {
  readonly address: Address
  state: AssistantState
  version: number
  /** When the last commit was written, in milliseconds since the epoch. */
  committedAt: number
  /** The highest epoch ever granted. */
  epoch: number
  lease: { readonly worker: string; readonly until: number } | undefined
  attempts: number
  note: string | undefined
  cursors: Cursors
  readonly mail: Readonly<Record<Lane, Array<MailRow>>>
  readonly accepted: Set<EnvelopeId>
  readonly entries: Array<OutboxRow>
  readonly records: Map<string, RecordRow>
  /** Use of entries that were taken away: it stays in the sums. */
  readonly used: Array<{ readonly no: number; readonly rows: ReturnType<typeof usageOf> }>
  /** Up to which entry the archive has what was before it, and has deleted it. */
  reached: { readonly archived: number; readonly removed: number }
}

/** A line of the list of dead letters. */
export interface DeadLetteredRow extends DeadLetter {
  /** Someone has discarded it. */
  readonly discarded?: true
}

export class MemoryDisk {
  readonly residents = new Map<string, Resident>()
  readonly outbox: Array<OutboxRow> = []
  readonly sends = new Map<number, OpenSend>()
  readonly deadLetters: Array<DeadLetteredRow> = []
  /** Bytes by tenant and digest. */
  readonly blobs = new Map<string, Uint8Array>()
  sendSeq = 0
  accepted = 0
  settled = 0
  dead = 0

  resident(address: Address): Resident | undefined {
    return this.residents.get(addressKey(address))
  }

  /** Puts a row that can not be read behind the mail of a lane, as a damaged or newer store would hold it. */
  plantUnreadable(address: Address, lane: Lane, id: EnvelopeId, why: string): void {
    const resident = this.resident(address)
    if (resident === undefined) throw new Error(`no one lives at ${addressKey(address)}`)
    appendMail(this, resident, { id, lane, acceptedAt: resident.committedAt, envelope: why })
  }
}

export const aResident = (address: Address, state: AssistantState, now: number): Resident => ({
  address: copy(address),
  state: copy(state),
  version: 0,
  committedAt: now,
  epoch: 0,
  lease: undefined,
  attempts: 0,
  note: undefined,
  records: new Map(),
  used: [],
  reached: { archived: 0, removed: 0 },
  cursors: NO_CURSORS,
  mail: { control: [], reply: [], mail: [] },
  accepted: new Set(),
  entries: []
})

export const appendMail = (disk: MemoryDisk, resident: Resident, row: Omit<MailRow, "seq">): void => {
  const lane = resident.mail[row.lane]
  lane.push({ ...row, seq: lane.length + 1 })
  resident.accepted.add(row.id)
  disk.accepted++
}

/** The row after the cursor; `seq` counts from 1 without gap, so the cursor is the number of rows behind it. */
export const firstWaiting = (resident: Resident, lane: Lane): MailRow | undefined =>
  resident.mail[lane][resident.cursors[lane]]

export const waitingCount = (resident: Resident): number =>
  LANES.reduce((sum, lane) => sum + resident.mail[lane].length - resident.cursors[lane], 0)

const recordName = (kind: RecordKind, key: string): string => JSON.stringify([kind, key])

/** Files an entry under its assistant and in the outbox, with its sends, its dead letter and its count. */
export const fileEntry = (disk: MemoryDisk, resident: Resident, entry: Entry): number => {
  const row: OutboxRow = { seq: disk.outbox.length + 1, address: resident.address, entry: copy(entry) }
  disk.outbox.push(row)
  resident.entries.push(row)
  for (const { kind, key, value } of entry.records ?? []) {
    const name = recordName(kind, key)
    if (value === null) resident.records.delete(name)
    else resident.records.set(name, copy({ kind, key, value }))
  }
  for (const envelope of entry.sends ?? []) {
    disk.sendSeq++
    disk.sends.set(disk.sendSeq, { seq: disk.sendSeq, envelope: copy(envelope) })
  }
  for (const { id, outcome, reason = "" } of entry.settled ?? []) {
    if (outcome === "dead") {
      disk.dead++
      disk.deadLetters.push({ address: resident.address, envelope: id, reason, at: entry.at })
    } else disk.settled++
  }
  return row.seq
}
