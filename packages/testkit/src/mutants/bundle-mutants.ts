// Bundle mutants: dataStores that lose, double or mix up something when someone moves, each in one way.

import { flawOfBundle, type Bundle, type BundlePart, type Bundles, type UsageSum } from "@reverie/ledger"
import { type Address, addressKey, addUsed } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type DataStore, type DataStores, dataStoresLayer, dataStoreOver } from "../data-store.ts"
import type { FreshLayer } from "../law.ts"
import { MemoryDisk, type Resident } from "../memory-disk.ts"
import { type MemoryDataStore, memoryDataStore } from "../memory-bundles.ts"

type Verbs = Bundles["Service"]
type Mistake = (right: DataStore, place: MemoryDataStore) => Partial<Verbs>

/** Other sums of use, once an assistant has moved in. */
const mutantOfUsage =
  (change: (sums: ReadonlyArray<UsageSum>) => ReadonlyArray<UsageSum>): FreshLayer<DataStores> =>
  () =>
    dataStoresLayer(
      Effect.sync(() => {
        const place = memoryDataStore(new MemoryDisk())
        const right = dataStoreOver(place)
        let hasMoved = false
        return {
          ...right,
          bundles: {
            ...right.bundles,
            unpack: (bundle, options) =>
              Effect.tap(right.bundles.unpack(bundle, options), () => Effect.sync(() => void (hasMoved = true)))
          },
          ledger: {
            ...right.ledger,
            usage: (query) => Effect.map(right.ledger.usage(query), (sums) => (hasMoved ? change(sums) : sums))
          }
        }
      })
    )

const mutant =
  (mistake: Mistake): FreshLayer<DataStores> =>
  () =>
    dataStoresLayer(
      Effect.sync(() => {
        const place = memoryDataStore(new MemoryDisk())
        const right = dataStoreOver(place)
        return { ...right, bundles: { ...right.bundles, ...mistake(right, place) } }
      })
    )

/** Puts down another bundle than the one it was given. */
const putting =
  (change: (bundle: Bundle) => Bundle): Mistake =>
  ({ bundles }) => ({
    unpack: (bundle, options) =>
      flawOfBundle(bundle) === undefined ? bundles.unpack(change(bundle), options) : bundles.unpack(bundle, options)
  })

const withParts =
  (change: (parts: ReadonlyArray<BundlePart>) => ReadonlyArray<BundlePart>) =>
  (bundle: Bundle): Bundle => ({ ...bundle, parts: change(bundle.parts) })

const losing = (isLost: (part: BundlePart) => boolean): Mistake =>
  putting(withParts((parts) => parts.filter((part) => !isLost(part))))

/** Does something to anyone who has just moved in. */
const afterwards =
  (change: (resident: Resident, place: MemoryDataStore) => void): Mistake =>
  ({ bundles }, place) => ({
    unpack: (bundle, options) =>
      Effect.tap(bundles.unpack(bundle, options), (outcome) =>
        Effect.sync(() => {
          const { head } = bundle
          const resident = head.kind === "assistant" ? place.disk.resident(head.address) : undefined
          if (outcome === "unpacked" && resident !== undefined) change(resident, place)
        })
      )
  })

/** Packs something of its own. */
const packing =
  (pack: (right: DataStore, place: MemoryDataStore, address: Address) => ReturnType<Verbs["pack"]>): Mistake =>
  (right, place) => ({ pack: (address) => pack(right, place, address) })

const isOf = (kind: BundlePart["kind"]) => (part: BundlePart) => part.kind === kind

/** A life in two steps with a pause between them. */
const inTwoSteps: Mistake = ({ bundles }, place) => ({
  unpack: Effect.fnUntraced(function* (bundle, options) {
    const outcome = yield* bundles.unpack(bundle, options)
    const { head } = bundle
    const resident = head.kind === "assistant" ? place.disk.resident(head.address) : undefined
    if (outcome === "present" || resident === undefined || options?.isTrial === true) return outcome
    const entries = resident.entries.splice(1)
    yield* Effect.yieldNow
    yield* Effect.yieldNow
    resident.entries.push(...entries)
    return outcome
  })
})

/** Reads how someone stands first and what he did later, while he goes on. */
const inTwoLooks = packing(({ bundles }, _place, address) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const [head] = yield* Stream.runCollect(bundles.pack(address))
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      const [, ...rest] = yield* Stream.runCollect(bundles.pack(address))
      return Stream.fromIterable(head === undefined ? [] : [head, ...rest])
    })
  )
)

/** Does something to the store in which something was rewritten. */
const onceRewritten =
  (change: (place: MemoryDataStore, resident: Resident | undefined) => void): Mistake =>
  ({ bundles }, place) => ({
    rewrite: (places, made) =>
      Effect.tap(bundles.rewrite(places, made), ([first]) =>
        Effect.sync(() =>
          change(place, first?.head.kind === "assistant" ? place.disk.resident(first.head.address) : undefined)
        )
      )
  })

const removeResident = (place: MemoryDataStore, bundle: Bundle): void => {
  if (bundle.head.kind === "assistant") place.disk.residents.delete(addressKey(bundle.head.address))
}

const mistakes: Readonly<Record<string, Mistake>> = {
  losesRecords: losing((part) => part.kind === "record" && part.of === "fact"),
  losesReminders: losing((part) => part.kind === "record" && part.of === "reminder"),
  takesEpisodesForTheJournal: putting(
    withParts((parts) =>
      parts.map((part) => (part.kind === "record" && part.of === "episode" ? { ...part, of: "journal" } : part))
    )
  ),
  losesSends: losing(isOf("send")),
  losesDeadLetters: losing(isOf("dead-letter")),
  losesLettersDiscarded: losing((part) => part.kind === "dead-letter" && part.discarded === true),
  takesUpWhatWasDiscarded: putting(
    withParts((parts) =>
      parts.map((part): BundlePart => {
        if (part.kind !== "dead-letter") return part
        const { discarded: _, ...letter } = part
        return letter
      })
    )
  ),
  losesBytes: afterwards((_, { disk }) => disk.blobs.clear()),
  packsAllBytes: packing(({ bundles }, { disk }, address) =>
    Stream.concat(
      bundles.pack(address).pipe(Stream.filter(({ kind }) => kind !== "blob")),
      Stream.suspend(() =>
        Stream.fromIterable(
          [...disk.blobs].map(([name, bytes]): BundlePart => {
            const [, digest = ""] = JSON.parse(name) as ReadonlyArray<string>
            return { kind: "blob", digest, bytes: Buffer.from(bytes).toString("base64") }
          })
        )
      )
    )
  ),
  losesBlocks: losing((part) => part.kind.startsWith("block")),
  losesAnswers: losing(isOf("block-answer")),
  losesPrompts: losing((part) => part.kind === "prompt" && part.body === null),
  losesLimits: losing(isOf("limit")),
  losesWhoAccepted: afterwards(({ accepted }) => accepted.clear()),
  losesCursors: afterwards((resident) => {
    resident.cursors = { ...resident.cursors, mail: 0 }
  }),
  turnsMailRound: putting(
    withParts((parts) => {
      const mail = parts.filter((part) => part.kind === "envelope" && part.lane === "mail")
      const turned = mail.toReversed()
      return parts.map((part) => (mail.includes(part) ? (turned[mail.indexOf(part)] ?? part) : part))
    })
  ),
  keepsTheEpoch: afterwards((resident) => {
    resident.epoch--
  }),
  beginsEpochsAnew: afterwards((resident) => {
    resident.epoch = 0
  }),
  admitsAtOnce: afterwards((resident) => {
    resident.lease = undefined
  }),
  robsClaims: (_, place) => ({
    admit: (addresses) =>
      Effect.sync(() => {
        for (const address of addresses) {
          const resident = place.disk.resident(address)
          if (resident !== undefined) resident.lease = undefined
        }
      })
  }),
  movesInTwoSteps: inTwoSteps,
  packsInTwoLooks: inTwoLooks,
  triesInEarnest: ({ bundles }) => ({ unpack: (bundle) => bundles.unpack(bundle) }),
  drivesOutWhoLivesThere: ({ bundles }, place) => ({
    unpack: (bundle, options) =>
      Effect.catchTag(bundles.unpack(bundle, options), "BundleRefused", (refusal) => {
        if (refusal.reason !== "occupied" || options?.isTrial === true) return Effect.fail(refusal)
        removeResident(place, bundle)
        return bundles.unpack(bundle, options)
      })
  }),
  layBlocksOverOthers: ({ bundles }, place) => ({
    unpack: (bundle, options) =>
      Effect.catchTag(bundles.unpack(bundle, options), "BundleRefused", (refusal) => {
        if (refusal.reason !== "occupied" || bundle.head.kind === "tenant") return Effect.fail(refusal)
        if (place.disk.resident(bundle.head.address) !== undefined) return Effect.fail(refusal)
        place.blocks.blocks.clear()
        return bundles.unpack(bundle, options)
      })
  }),
  movesInHalfway: ({ bundles }) => ({
    unpack: (bundle, options) =>
      Effect.tapError(bundles.unpack(bundle, options), () => {
        const [first, ...entries] = bundle.parts.filter(isOf("entry"))
        if (bundle.head.kind !== "assistant" || first === undefined || options?.isTrial === true) return Effect.void
        const head = { ...bundle.head, version: entries.length + 1, handled: { control: 0, reply: 0, mail: 0 } }
        return Effect.ignore(bundles.unpack({ head, parts: [first, ...entries] }))
      })
  }),
  takesWhatIsBroken: ({ bundles }) => ({
    unpack: (bundle, options) =>
      Effect.catchTag(bundles.unpack(bundle, options), "BundleRefused", (refusal) =>
        refusal.reason === "broken" ? Effect.succeed("unpacked" as const) : Effect.fail(refusal)
      )
  }),
  doublesWhoIsPresent: ({ bundles }, place) => ({
    unpack: (bundle, options) =>
      Effect.flatMap(bundles.unpack(bundle, options), (outcome) => {
        if (outcome === "unpacked" || options?.isTrial === true || bundle.head.kind === "tenant") {
          return Effect.succeed(outcome)
        }
        removeResident(place, bundle)
        place.blocks.blocks.clear()
        place.blocks.versions.clear()
        return bundles.unpack(bundle, options)
      })
  }),
  packsNobody: packing(({ bundles }, place, address) => {
    const [somebody] = [...place.disk.residents.values()]
    return bundles.pack(place.disk.resident(address) === undefined && somebody ? somebody.address : address)
  }),
  packsByNameAlone: packing(({ bundles }, place, address) =>
    Stream.concat(
      bundles.pack(address),
      Stream.fromIterable(
        [...place.disk.residents.values()]
          .filter((resident) => resident.address.assistant === address.assistant)
          .flatMap(({ records }) => [...records.values()])
          .map(({ key, kind, value }): BundlePart => ({ kind: "record", of: kind, key, value }))
      )
    )
  ),
  packsPromptsOfAll: ({ bundles }) => ({
    packTenant: () =>
      Stream.unwrap(Effect.map(bundles.tenants, ([first]) => bundles.packTenant(first ?? ("harbor" as never))))
  }),
  sweepsTheTenant: ({ bundles }, place) => ({
    unpack: (bundle, options) =>
      Effect.tap(bundles.unpack(bundle, options), () =>
        Effect.sync(() => {
          for (const [key, { address }] of place.disk.residents) {
            if (bundle.head.kind === "assistant" && address.assistant !== bundle.head.address.assistant) {
              place.disk.residents.delete(key)
            }
          }
        })
      )
  }),
  keepsTheClaimOfBefore: onceRewritten((_, resident) => {
    if (resident !== undefined) resident.epoch--
  }),
  movesWhatIsRewritten: onceRewritten(({ disk }, resident) => {
    for (const row of resident?.entries.splice(0) ?? []) {
      const moved = { ...row, seq: disk.outbox.length + 1 }
      disk.outbox.push(moved)
      resident?.entries.push(moved)
    }
  }),
  countsWhatIsRewritten: onceRewritten(({ disk }) => {
    disk.accepted++
  }),
  keepsWhatATenantHas: ({ bundles }) => ({
    rewrite: (places, change) =>
      bundles.rewrite(places, (there) => (there.head.kind === "tenant" ? there : change(there)))
  }),
  takesTheBytesOfOthers: onceRewritten(({ disk }) => disk.blobs.clear()),
  keepsBytesThatNothingNames: ({ bundles }, { disk }) => ({
    rewrite: (places, change) =>
      Effect.suspend(() => {
        const before = [...disk.blobs]
        return Effect.tap(bundles.rewrite(places, change), () =>
          Effect.sync(() => before.forEach(([name, bytes]) => disk.blobs.set(name, bytes)))
        )
      })
  }),
  rewritesOneByOne: ({ bundles }) => ({
    rewrite: (places, change) =>
      Effect.map(
        Effect.forEach(places, (place) => bundles.rewrite([place], change)),
        (made) => made.flat()
      )
  }),
  rewritesRecordsOnly: ({ bundles }) => ({
    rewrite: (places, change) =>
      bundles.rewrite(places, (there) => {
        const made = change(there)
        const parts = [
          ...there.parts.filter(({ kind }) => kind !== "record"),
          ...made.parts.filter(({ kind }) => kind === "record")
        ]
        return flawOfBundle(made) === undefined && made.head.kind === there.head.kind
          ? { head: there.head, parts }
          : made
      })
  }),
  namesTheLivingOnly: (_, place) => ({
    tenants: Effect.sync(() => [
      ...new Set([...place.disk.residents.values()].map(({ address }) => address.tenant).toSorted())
    ])
  }),
  keepsTheFirstMark: ({ bundles }, place) => ({
    mark: (mark) => (place.mark !== undefined && mark !== null ? Effect.void : bundles.mark(mark))
  }),
  forgetsVersionsOfBlocks: afterwards((_, { blocks }) => {
    for (const [name, versions] of blocks.versions) blocks.versions.set(name, versions.slice(0, 1))
  })
}

/** Remembers who has no block. */
const remembersWhoHasNoBlock: FreshLayer<DataStores> = () =>
  dataStoresLayer(
    Effect.sync(() => {
      const right = dataStoreOver(memoryDataStore(new MemoryDisk()))
      const without = new Set<string>()
      const { blocks } = right
      return {
        ...right,
        blocks: {
          ...blocks,
          list: (viewer, filter) =>
            without.has(viewer.by)
              ? Effect.succeed([])
              : Effect.tap(blocks.list(viewer, filter), ({ length }) =>
                  Effect.sync(() => void (length === 0 && without.add(viewer.by)))
                )
        }
      }
    })
  )

export const bundleMutants: Readonly<Record<string, FreshLayer<DataStores>>> = {
  ...Object.fromEntries(Object.entries(mistakes).map(([name, mistake]) => [name, mutant(mistake)])),
  remembersWhoHasNoBlock,
  movesWithoutItsBill: mutantOfUsage(() => []),
  doublesTheBill: mutantOfUsage((sums) => sums.map((sum) => ({ ...sum, ...addUsed(sum, sum) })))
}
