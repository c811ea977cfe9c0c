// MemoryArchive: the archive over the disk of the store in memory.
// Owns what is deleted by number, each part without a pause in it. Has no segments: what is archived stays where it is, and is
// only noted.

import {
  type Archive,
  type Archived,
  deletedEntry,
  deletedText,
  LEAST_ENTRIES,
  mailOf,
  NOTHING_ARCHIVED
} from "@reverie/ledger"
import { type Address, LANES, type RecordChange } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { copy, type MemoryDisk, type Resident } from "./memory-disk.ts"

/** The entries after a number, and how many letters began them. */
const partOf = (resident: Resident, after: number, upTo: number) => {
  const rows = resident.entries.filter(({ entry }) => entry.no > after && entry.no <= upTo)
  const letters = new Set(rows.flatMap(({ entry }) => mailOf(entry) ?? []))
  return { rows, letters, count: { entries: rows.length, envelopes: letters.size } }
}

const removeFrom = (disk: MemoryDisk, resident: Resident, upTo: number, now: number): Archived => {
  const { count, letters, rows } = partOf(resident, resident.reached.removed, upTo)
  const stands = ({ key, kind, value }: RecordChange): boolean =>
    value !== null && JSON.stringify(resident.records.get(JSON.stringify([kind, key]))?.value) === JSON.stringify(value)
  for (const { entry, seq } of rows) {
    const left = { seq, address: resident.address, entry: copy(deletedEntry(entry, now, stands)) }
    resident.entries[resident.entries.findIndex((row) => row.seq === seq)] = left
    disk.outbox[seq - 1] = left
  }
  for (const lane of LANES) {
    const mail = resident.mail[lane]
    for (const [index, row] of mail.entries())
      if (letters.has(row.id)) mail[index] = { ...row, envelope: deletedText(now) }
  }
  return count
}

export const memoryArchive = (disk: MemoryDisk): Archive["Service"] => {
  const size = (): number =>
    JSON.stringify([...disk.residents.values()].map(({ entries, mail }) => [entries, mail])).length
  const withResident = (
    address: Address,
    upTo: number,
    least: number,
    reached: "archived" | "removed",
    work: (resident: Resident, upTo: number) => Archived
  ): Archived => {
    const resident = disk.resident(address)
    if (resident === undefined) return NOTHING_ARCHIVED
    const to = Math.min(Math.trunc(upTo), resident.version)
    if (to - resident.reached[reached] < Math.max(1, least)) return NOTHING_ARCHIVED
    const done = work(resident, to)
    resident.reached = {
      archived: Math.max(resident.reached.archived, to),
      removed: resident.reached.removed
    }
    if (reached === "removed") resident.reached = { ...resident.reached, removed: to }
    return done
  }
  return {
    archive: (address, upTo, least = LEAST_ENTRIES) =>
      Effect.sync(() =>
        withResident(
          address,
          upTo,
          least,
          "archived",
          (resident, to) => partOf(resident, resident.reached.archived, to).count
        )
      ),
    remove: (address, upTo) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        withResident(address, upTo, 1, "removed", (resident, to) => removeFrom(disk, resident, to, now))
      ),
    reached: (address) =>
      Effect.sync(() => ({ ...(disk.resident(address)?.reached ?? { archived: 0, removed: 0 }), left: [] })),
    compact: () => Effect.sync(() => ({ bytesBefore: size(), bytesAfter: size() })),
    apart: () => Effect.undefined
  }
}
