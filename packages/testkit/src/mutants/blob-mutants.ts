// Blob mutants: ledgers that are each wrong in one way with bytes, which the blob laws must kill.

import { digestOf } from "@reverie/ledger"
import { TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type { Blobs } from "@reverie/ledger"
import type { MemoryDisk } from "../memory-disk.ts"
import type { Mistake } from "./mutant.ts"

const wrong =
  (mistake: (right: Blobs, disk: MemoryDisk) => Partial<Blobs>): Mistake =>
  ({ ledger }, disk) => ({ ledger: { blobs: { ...ledger.blobs, ...mistake(ledger.blobs, disk) } } })

const anybody = TenantId.make("anybody")

export const blobMistakes: Readonly<Record<string, Mistake>> = {
  keepsBytesAsText: wrong(({ keep }, disk) => ({
    keep: (tenant, blobs) =>
      Effect.map(keep(tenant, blobs), (digests) => {
        for (const digest of digests) {
          const name = JSON.stringify([tenant, digest])
          disk.blobs.set(name, Buffer.from(Buffer.from(disk.blobs.get(name) ?? []).toString("utf8"), "utf8"))
        }
        return digests
      })
  })),
  keepsTheArrayItself: wrong(({ keep }, disk) => ({
    keep: (tenant, blobs) =>
      Effect.map(keep(tenant, blobs), (digests) => {
        for (const [index, digest] of digests.entries()) {
          disk.blobs.set(JSON.stringify([tenant, digest]), blobs[index] ?? new Uint8Array())
        }
        return digests
      })
  })),
  givesOutItsOwnArray: wrong((_, disk) => ({
    read: (tenant, digest) => Effect.sync(() => disk.blobs.get(JSON.stringify([tenant, digest])))
  })),
  numbersWhatItKeeps: wrong(({ keep }, disk) => {
    let count = 0
    return {
      keep: (tenant, blobs) =>
        Effect.map(keep(tenant, blobs), () =>
          blobs.map((bytes) => {
            const digest = digestOf(Buffer.concat([bytes, Uint8Array.of(count++)]))
            disk.blobs.set(JSON.stringify([tenant, digest]), bytes.slice())
            return digest
          })
        )
    }
  }),
  answersInAnotherOrder: wrong(({ keep }) => ({
    keep: (tenant, blobs) => Effect.map(keep(tenant, blobs), (digests) => digests.toSorted())
  })),
  leavesOutTwins: wrong(({ keep }) => ({
    keep: (tenant, blobs) => Effect.map(keep(tenant, blobs), (digests) => [...new Set(digests)])
  })),
  sharesAmongTenants: wrong(({ keep, read }) => ({
    keep: (_, blobs) => keep(anybody, blobs),
    read: (_, digest) => read(anybody, digest)
  })),
  readsAnySpelling: wrong(({ read }) => ({
    read: (tenant, digest) => read(tenant, digest.trim().toLowerCase())
  })),
  readsByABeginning: wrong((_, disk) => ({
    read: (tenant, digest) =>
      Effect.sync(() => {
        const found = [...disk.blobs].find(([name]) => {
          const [whose, its = ""] = JSON.parse(name) as ReadonlyArray<string>
          return whose === tenant && digest.length > 0 && its.includes(digest)
        })
        return found?.[1].slice()
      })
  })),
  lacksNothing: wrong(() => ({ lacking: () => Effect.succeed([]) })),
  keepsNothing: wrong(() => ({ read: () => Effect.sync(() => undefined) })),
  keepsWhatIsEmpty: wrong(({ keep }) => ({
    keep: (tenant, blobs) =>
      Effect.map(
        keep(
          tenant,
          blobs.filter(({ length }) => length > 0)
        ),
        () => blobs.map(digestOf)
      )
  })),
  keepsWhatStandsBefore: wrong(({ keep }) => ({
    keep: (tenant, blobs) =>
      Effect.gen(function* () {
        const digests: Array<string> = []
        for (const bytes of blobs) digests.push(...(yield* keep(tenant, [bytes])))
        return digests
      })
  })),
  cutsWhatIsLong: wrong(({ keep }) => ({
    keep: (tenant, blobs) =>
      keep(
        tenant,
        blobs.map((bytes) => bytes.subarray(0, 2 * 1024 * 1024))
      )
  }))
}
