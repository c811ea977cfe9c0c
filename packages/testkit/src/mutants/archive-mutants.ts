// Archive mutants: archives that lose, leave or mix up something of the older part of a life, each in one way.

import { Archive, Bundles, Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import { type Address, LANES } from "@reverie/protocol"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { FreshLayer } from "../law.ts"
import { memoryArchive } from "../memory-archive.ts"
import { memoryBundles, memoryDataStore } from "../memory-bundles.ts"
import { copy, MemoryDisk, type Resident } from "../memory-disk.ts"
import { memoryStore } from "../memory-store.ts"

type Verbs = Archive["Service"]
type Ports = Archive | Bundles | Ledger | Mailbox

const layerOf =
  (mistake: (right: Verbs, disk: MemoryDisk) => Partial<Verbs>): FreshLayer<Ports> =>
  () =>
    Layer.effectContext(
      Effect.sync(() => {
        const disk = new MemoryDisk()
        const { ledger, mailbox } = memoryStore(disk)
        const right = memoryArchive(disk)
        return Context.make(Archive, { ...right, ...mistake(right, disk) }).pipe(
          Context.add(Ledger, ledger),
          Context.add(Mailbox, mailbox),
          Context.add(Bundles, memoryBundles(memoryDataStore(disk)))
        )
      })
    )

/** The store in memory with its archive. */
export const memoryArchiveLayer = layerOf(() => ({}))

type Change = (resident: Resident, disk: MemoryDisk) => void

/** Does something to the assistant in question, once the verb has done its work. */
const after = (verb: "archive" | "remove", change: Change): FreshLayer<Ports> =>
  layerOf((right, disk) => ({
    [verb]: (address: Address, upTo: number, least?: number) =>
      Effect.tap(right[verb](address, upTo, least), ({ entries }) =>
        Effect.sync(() => {
          const resident = disk.resident(address)
          if (entries > 0 && resident !== undefined) change(resident, disk)
        })
      )
  }))

type Entry = Resident["entries"][number]["entry"]

/** Writes entries of a life otherwise, in the ledger and in the outbox. */
const entriesAs =
  (change: (entry: Entry, before: Entry) => Entry): Change =>
  (resident, disk) => {
    for (const [index, row] of resident.entries.entries()) {
      const other = { ...row, entry: change(row.entry, row.entry) }
      resident.entries[index] = other
      disk.outbox[row.seq - 1] = other
    }
  }

/** What was there before the words went. */
const remembering = (change: (entry: Entry, before: Entry) => Entry): FreshLayer<Ports> =>
  layerOf((right, disk) => ({
    remove: (address, upTo) =>
      Effect.suspend(() => {
        const before = copy(disk.resident(address)?.entries ?? [])
        return Effect.tap(right.remove(address, upTo), () =>
          Effect.sync(() => {
            const resident = disk.resident(address)
            if (resident === undefined) return
            entriesAs((entry) => {
              const then = before.find((row) => row.entry.no === entry.no)?.entry
              return entry.deleted === undefined || then === undefined ? entry : change(entry, then)
            })(resident, disk)
          })
        )
      })
  }))

const forgetsIds: Change = (resident) => resident.accepted.clear()

export const archiveMutants: Readonly<Record<string, FreshLayer<Ports>>> = {
  archivingLosesAnEntry: after("archive", (resident) => void resident.entries.splice(2, 1)),
  archivingLosesRecords: after("archive", (resident) => resident.records.clear()),
  archivingForgetsIds: after("archive", forgetsIds),
  archivingWaitsForNothing: layerOf((right) => ({
    archive: (address, upTo) => right.archive(address, upTo, 1)
  })),
  archivingForgetsHowFar: after("archive", (resident) => (resident.reached = { archived: 0, removed: 0 })),
  deletingForgetsIds: after("remove", forgetsIds),
  deletingKeepsFormerFacts: remembering((entry, { records }) => ({
    ...entry,
    ...(records && { records })
  })),
  deletingTakesStandingFacts: after(
    "remove",
    entriesAs(({ records, ...entry }) => (entry.deleted === undefined && records ? { ...entry, records } : entry))
  ),
  deletingKeepsMessages: remembering((entry, { messages }) => ({ ...entry, messages })),
  deletingKeepsMail: layerOf((right, disk) => ({
    remove: (address, upTo) =>
      Effect.suspend(() => {
        const resident = disk.resident(address)
        const mail = LANES.map((lane) => [...(resident?.mail[lane] ?? [])])
        return Effect.tap(right.remove(address, upTo), () =>
          Effect.sync(() => {
            for (const [index, lane] of LANES.entries())
              resident?.mail[lane].splice(0, Infinity, ...(mail[index] ?? []))
          })
        )
      })
  })),
  deletingSaysNothing: after(
    "remove",
    entriesAs(({ deleted: _, ...entry }) => entry)
  ),
  deletingTakesSettlements: after(
    "remove",
    entriesAs((entry) => (entry.deleted === undefined ? entry : { ...entry, settled: [] }))
  ),
  deletingTakesUse: after(
    "remove",
    entriesAs(({ step, ...entry }) => (entry.deleted === undefined && step ? { ...entry, step } : entry))
  ),
  deletingTakesOneMore: layerOf((right) => ({
    remove: (address, upTo) => right.remove(address, upTo + 1)
  })),
  deletingTakesWaitingMail: after("remove", (resident) => {
    for (const lane of LANES) {
      for (const [index, row] of resident.mail[lane].entries())
        resident.mail[lane][index] = { ...row, envelope: "gone" }
    }
  }),
  deletingTwiceSaysAnotherDay: layerOf((right, disk) => ({
    remove: (address, upTo) =>
      Effect.suspend(() => {
        const resident = disk.resident(address)
        if (resident !== undefined) resident.reached = { ...resident.reached, removed: 0 }
        return right.remove(address, upTo)
      })
  })),
  deletingTakesANamesake: layerOf((right, disk) => ({
    remove: (address, upTo) =>
      Effect.tap(right.remove(address, upTo), () =>
        Effect.forEach(
          [...disk.residents.values()].filter((other) => other.address.assistant === address.assistant),
          (other) => right.remove(other.address, upTo)
        )
      )
  })),
  deletingLowersTheVersion: after("remove", (resident) => void resident.version--),
  deletingBeginsTheOutboxAnew: after("remove", (resident, disk) => {
    if (resident.reached.removed >= resident.version) disk.outbox.splice(0, 5)
  }),
  compactingLosesTheOldest: layerOf((right, disk) => ({
    compact: (isTrial) =>
      Effect.tap(right.compact(isTrial), () =>
        Effect.sync(() => {
          for (const resident of disk.residents.values()) resident.entries.shift()
        })
      )
  }))
}
