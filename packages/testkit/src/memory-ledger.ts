// MemoryLedger: the ledger over a MemoryDisk.
// Owns the rules of creation and commit, each without a pause in it, and the reading back. Keeps nothing itself.

import {
  type AssistantRecord,
  type Blobs,
  CommitFenced,
  digestOf,
  type Discarded,
  flawOfBlobs,
  type Ledger,
  MAX_PAGE_CHARS,
  type OutboxRow,
  type UsageKey,
  type UsageQuery,
  type UsageSum
} from "@reverie/ledger"
import {
  type Address,
  addressKey,
  addUsed,
  type Cause,
  type Cursors,
  type EnvelopeId,
  isBefore,
  type MessagePlace,
  NOTHING_USED,
  type PlacedMessage,
  type RecordRow,
  type TenantId,
  usageOf
} from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import {
  aResident,
  type DeadLetteredRow,
  copy,
  fileEntry,
  type MemoryDisk,
  type Resident,
  waitingCount
} from "./memory-disk.ts"

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** By tenant, then by assistant: the joined key would order `a-b/x` before `a/x`. */
const compareAddresses = (a: Address, b: Address): number =>
  compareText(a.tenant, b.tenant) || compareText(a.assistant, b.assistant)

const moved = (cursors: Cursors, cause: Cause): Cursors =>
  cause.kind === "envelope" || cause.kind === "dead-letter"
    ? { ...cursors, [cause.lane]: Math.max(cursors[cause.lane], cause.seq) }
    : cursors

const recordOf = (resident: Resident): AssistantRecord => ({
  address: copy(resident.address),
  state: copy(resident.state),
  version: resident.version,
  epoch: resident.epoch,
  cursors: resident.cursors,
  waiting: waitingCount(resident)
})

const recentOf = (resident: Resident, maxTokens: number, since: MessagePlace): ReadonlyArray<PlacedMessage> => {
  const found: Array<PlacedMessage> = []
  let tokens = 0
  let isTurnWhole = false
  for (let index = resident.entries.length - 1; index >= 0; index--) {
    const { messages, no } = resident.entries[index]?.entry ?? { messages: [], no: 0 }
    for (const [at, message] of [...messages.entries()].toReversed()) {
      const place = { no, index: at }
      if (isBefore(place, since)) return found.toReversed()
      tokens += message.tokens
      if (tokens > maxTokens && isTurnWhole) return found.toReversed()
      found.push({ place, message: copy(message) })
      isTurnWhole ||= message.role === "user"
    }
  }
  return found.toReversed()
}

const byKindAndKey = (a: RecordRow, b: RecordRow): number =>
  a.kind === b.kind ? (a.key < b.key ? -1 : 1) : a.kind < b.kind ? -1 : 1

/** Discards the letter that was dead-lettered under this id. */
const discard = ({ deadLetters }: MemoryDisk, address: Address, envelope: EnvelopeId): Discarded => {
  const key = addressKey(address)
  const at = deadLetters.findIndex((letter) => letter.envelope === envelope && addressKey(letter.address) === key)
  const found = deadLetters[at]
  if (found === undefined) return "unknown"
  if (found.discarded === true) return "already"
  deadLetters[at] = { ...found, discarded: true }
  return "discarded"
}

const isDiscarded = ({ discarded }: DeadLetteredRow): boolean => discarded === true

/** Rows of what was rewritten away keep their place and are shown no more. */
const livingAfter = (rows: ReadonlyArray<OutboxRow>, after: number, limit: number): ReadonlyArray<OutboxRow> => {
  const found: Array<OutboxRow> = []
  for (let at = after; at < rows.length && found.length < limit; at++) {
    const row = rows[at]
    if (row !== undefined && row.address.assistant !== "") found.push(row)
  }
  return found
}

/** As many as come to the length of a page. */
const pageOf = (rows: ReadonlyArray<OutboxRow>): ReadonlyArray<OutboxRow> => {
  let characters = 0
  const end = rows.findIndex(({ entry }) => {
    characters += JSON.stringify(entry).length
    return characters >= MAX_PAGE_CHARS
  })
  return end === -1 ? rows : rows.slice(0, end + 1)
}

const compareKeys = (a: UsageKey, b: UsageKey): number => {
  for (const [index, one] of a.entries()) {
    const other = b[index] ?? ""
    if (one !== other) return one < other ? -1 : 1
  }
  return 0
}

const compareSizes = (a: UsageSum, b: UsageSum): number =>
  b.costMicros - a.costMicros || b.inputTokens + b.outputTokens - a.inputTokens - a.outputTokens

/** Found in the entries each time: what a store keeps has to come to the same. */
const sumsOf = (disk: MemoryDisk, query: UsageQuery) => {
  const { after, assistant, by, from = 0, limit, model, order, purpose, tenant, to = Infinity } = query
  const sums = new Map<string, UsageSum>()
  const add = (sum: UsageSum) => {
    const name = JSON.stringify(sum.key)
    const before = sums.get(name) ?? { ...NOTHING_USED, lastNo: 0 }
    sums.set(name, { ...addUsed(before, sum), key: sum.key, lastNo: Math.max(before.lastNo, sum.lastNo) })
  }
  if (by.length === 0) add({ ...NOTHING_USED, key: [], lastNo: 0 })
  for (const { address, entries, used } of disk.residents.values()) {
    if ((tenant ?? address.tenant) !== address.tenant || (assistant ?? address.assistant) !== address.assistant)
      continue
    for (const { no, rows } of [...used, ...entries.map(({ entry }) => ({ no: entry.no, rows: usageOf(entry) }))]) {
      for (const row of rows) {
        if (row.hour < from || row.hour >= to) continue
        if ((model ?? row.model) !== row.model || (purpose ?? row.purpose) !== row.purpose) continue
        add({
          ...row,
          key: by.map((dimension) => ({ ...row, ...address })[dimension]),
          lastNo: no
        })
      }
    }
  }
  return [...sums.values()]
    .filter(({ key }) => after === undefined || compareKeys(key, after) > 0)
    .toSorted((a, b) => (order === "greatest" ? compareSizes(a, b) : 0) || compareKeys(a.key, b.key))
    .slice(0, Math.max(0, limit))
    .map(({ key, lastNo, ...used }): UsageSum => ({ ...addUsed(NOTHING_USED, used), key, lastNo }))
}

type Writing = "create" | "commit" | "discard" | "probe" | "settleSends"

const writing = (disk: MemoryDisk): Pick<Ledger["Service"], Writing> => ({
  create: ({ address, state, entry }) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      if (disk.resident(address) !== undefined) return "exists"
      const resident = aResident(address, state, now)
      resident.version = entry.no
      disk.residents.set(addressKey(address), resident)
      fileEntry(disk, resident, entry)
      return "created"
    }),
  commit: Effect.fnUntraced(function* (claim, { entry, state }) {
    const now = yield* Clock.currentTimeMillis
    const resident = disk.resident(claim.address)
    const currentEpoch = resident?.epoch ?? 0
    const currentVersion = resident?.version ?? 0
    if (resident === undefined || claim.epoch !== currentEpoch || entry.no !== currentVersion + 1) {
      const expectedVersion = entry.no - 1
      const { address, epoch: heldEpoch } = claim
      return yield* new CommitFenced({ address, heldEpoch, currentEpoch, expectedVersion, currentVersion })
    }
    resident.state = copy(state)
    resident.version = entry.no
    resident.attempts = state.jobs.length === 0 ? 0 : 1
    resident.note = undefined
    resident.committedAt = now
    resident.cursors = moved(resident.cursors, entry.cause)
    return fileEntry(disk, resident, entry)
  }),
  discard: (address, envelope) => Effect.sync(() => discard(disk, address, envelope)),
  probe: Effect.void,
  settleSends: (seqs) =>
    Effect.sync(() => {
      for (const seq of seqs) disk.sends.delete(seq)
    })
})

const reading = (disk: MemoryDisk): Omit<Ledger["Service"], Writing | "blobs"> => ({
  recent: (address, maxTokens, since = { no: 0, index: 0 }) =>
    Effect.sync(() => {
      const resident = disk.resident(address)
      return resident === undefined ? [] : recentOf(resident, maxTokens, since)
    }),
  entries: (address, from, limit) =>
    Effect.sync(() => {
      const rows = disk.resident(address)?.entries ?? []
      return copy(rows.filter(({ entry }) => entry.no >= from).slice(0, limit))
    }),
  outboxEnd: Effect.sync(() => disk.outbox.at(-1)?.seq ?? 0),
  outbox: (after, limit) => Effect.sync(() => copy(pageOf(livingAfter(disk.outbox, after, limit)))),
  records: (address, kinds, { keys, limit = Infinity } = {}) =>
    Effect.sync(() => {
      const rows = [...(disk.resident(address)?.records.values() ?? [])].filter(
        ({ key, kind }) => kinds.includes(kind) && (keys === undefined || keys.includes(key))
      )
      const ofKinds = Map.groupBy(rows.toSorted(byKindAndKey), ({ kind }) => kind)
      return copy([...ofKinds.values()].flatMap((some) => some.slice(0, Math.max(0, limit))))
    }),
  openSends: (limit) => Effect.sync(() => copy([...disk.sends.values()].slice(0, limit))),
  inspect: (address) =>
    Effect.sync(() => {
      const resident = disk.resident(address)
      return resident === undefined ? undefined : recordOf(resident)
    }),
  list: (after, limit) =>
    Effect.sync(() =>
      [...disk.residents.values()]
        .filter(({ address }) => after === undefined || compareAddresses(address, after) > 0)
        .toSorted((a, b) => compareAddresses(a.address, b.address))
        .slice(0, limit)
        .map(recordOf)
    ),
  addresses: (after, limit) =>
    Effect.sync(() =>
      [...disk.residents.values()]
        .map(({ address }) => address)
        .filter((address) => after === undefined || compareAddresses(address, after) > 0)
        .toSorted(compareAddresses)
        .slice(0, limit)
    ),
  deadLetters: (limit, { newestFirst = false, tenant } = {}) =>
    Effect.sync(() => {
      const letters = disk.deadLetters.filter(
        (letter) => !isDiscarded(letter) && (tenant === undefined || letter.address.tenant === tenant)
      )
      return copy((newestFirst ? letters.toReversed() : letters).slice(0, limit))
    }),
  usage: (query) => Effect.sync(() => sumsOf(disk, query)),
  totals: Effect.sync(() => ({
    accepted: disk.accepted,
    settled: disk.settled,
    dead: disk.dead,
    discarded: disk.deadLetters.filter(isDiscarded).length
  }))
})

export const blobName = (tenant: TenantId, digest: string): string => JSON.stringify([tenant, digest])

const memoryBlobs = (disk: MemoryDisk): Blobs => ({
  keep: (tenant, blobs) =>
    Effect.suspend(() => {
      const flaw = flawOfBlobs(blobs)
      if (flaw !== undefined) return Effect.fail(flaw)
      return Effect.succeed(
        blobs.map((bytes) => {
          const digest = digestOf(bytes)
          disk.blobs.set(blobName(tenant, digest), bytes.slice())
          return digest
        })
      )
    }),
  read: (tenant, digest) => Effect.sync(() => disk.blobs.get(blobName(tenant, digest))?.slice()),
  lacking: (tenant, digests) => Effect.sync(() => digests.filter((digest) => !disk.blobs.has(blobName(tenant, digest))))
})

export const memoryLedger = (disk: MemoryDisk): Ledger["Service"] => ({
  ...writing(disk),
  ...reading(disk),
  blobs: memoryBlobs(disk)
})
