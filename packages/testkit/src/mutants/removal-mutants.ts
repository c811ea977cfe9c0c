// Removal mutants: houses that lose, double or mix up something when somebody moves, each in one way.

import { flawOfParcel, type Parcel, type RemovalPart, type Removals } from "@reverie/ledger"
import { type Address, addressKey } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type House, type Houses, housesLayer, houseOver } from "../house.ts"
import type { FreshLayer } from "../law.ts"
import { MemoryDisk, type Resident } from "../memory-disk.ts"
import { type MemoryHouse, memoryHouse } from "../memory-removals.ts"

type Verbs = Removals["Service"]
type Mistake = (right: House, place: MemoryHouse) => Partial<Verbs>

const mutant =
  (mistake: Mistake): FreshLayer<Houses> =>
  () =>
    housesLayer(
      Effect.sync(() => {
        const place = memoryHouse(new MemoryDisk())
        const right = houseOver(place)
        return { ...right, removals: { ...right.removals, ...mistake(right, place) } }
      })
    )

/** Puts down another parcel than the one it was given. */
const putting =
  (change: (parcel: Parcel) => Parcel): Mistake =>
  ({ removals }) => ({
    unpack: (parcel, options) =>
      flawOfParcel(parcel) === undefined ? removals.unpack(change(parcel), options) : removals.unpack(parcel, options)
  })

const withParts =
  (change: (parts: ReadonlyArray<RemovalPart>) => ReadonlyArray<RemovalPart>) =>
  (parcel: Parcel): Parcel => ({ ...parcel, parts: change(parcel.parts) })

const losing = (isLost: (part: RemovalPart) => boolean): Mistake =>
  putting(withParts((parts) => parts.filter((part) => !isLost(part))))

/** Does something to whoever has just moved in. */
const afterwards =
  (change: (resident: Resident, place: MemoryHouse) => void): Mistake =>
  ({ removals }, place) => ({
    unpack: (parcel, options) =>
      Effect.tap(removals.unpack(parcel, options), (outcome) =>
        Effect.sync(() => {
          const { head } = parcel
          const resident = head.kind === "assistant" ? place.disk.resident(head.address) : undefined
          if (outcome === "unpacked" && resident !== undefined) change(resident, place)
        })
      )
  })

/** Packs something of its own. */
const packing =
  (pack: (right: House, place: MemoryHouse, address: Address) => ReturnType<Verbs["pack"]>): Mistake =>
  (right, place) => ({ pack: (address) => pack(right, place, address) })

const isOf = (kind: RemovalPart["kind"]) => (part: RemovalPart) => part.kind === kind

/** A life in two steps with a pause between them. */
const inTwoSteps: Mistake = ({ removals }, place) => ({
  unpack: Effect.fnUntraced(function* (parcel, options) {
    const outcome = yield* removals.unpack(parcel, options)
    const { head } = parcel
    const resident = head.kind === "assistant" ? place.disk.resident(head.address) : undefined
    if (outcome === "present" || resident === undefined || options?.isTrial === true) return outcome
    const entries = resident.entries.splice(1)
    yield* Effect.yieldNow
    yield* Effect.yieldNow
    resident.entries.push(...entries)
    return outcome
  })
})

/** Reads how somebody stands first and what he did later, while he goes on. */
const inTwoLooks = packing(({ removals }, _place, address) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const [head] = yield* Stream.runCollect(removals.pack(address))
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      const [, ...rest] = yield* Stream.runCollect(removals.pack(address))
      return Stream.fromIterable(head === undefined ? [] : [head, ...rest])
    })
  )
)

const removeResident = (place: MemoryHouse, parcel: Parcel): void => {
  if (parcel.head.kind === "assistant") place.disk.residents.delete(addressKey(parcel.head.address))
}

const mistakes: Readonly<Record<string, Mistake>> = {
  losesRecords: losing((part) => part.kind === "record" && part.of === "fact"),
  losesSends: losing(isOf("send")),
  losesDeadLetters: losing(isOf("dead-letter")),
  losesLettersLaidAside: losing((part) => part.kind === "dead-letter" && part.aside === true),
  takesUpWhatWasLaidAside: putting(
    withParts((parts) =>
      parts.map((part): RemovalPart => {
        if (part.kind !== "dead-letter") return part
        const { aside: _, ...letter } = part
        return letter
      })
    )
  ),
  losesBlocks: losing((part) => part.kind.startsWith("block")),
  losesAnswers: losing(isOf("block-answer")),
  losesPrompts: losing((part) => part.kind === "prompt" && part.body === null),
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
  triesInEarnest: ({ removals }) => ({ unpack: (parcel) => removals.unpack(parcel) }),
  drivesOutWhoLivesThere: ({ removals }, place) => ({
    unpack: (parcel, options) =>
      Effect.catchTag(removals.unpack(parcel, options), "RemovalRefused", (refusal) => {
        if (refusal.reason !== "occupied" || options?.isTrial === true) return Effect.fail(refusal)
        removeResident(place, parcel)
        return removals.unpack(parcel, options)
      })
  }),
  layBlocksOverOthers: ({ removals }, place) => ({
    unpack: (parcel, options) =>
      Effect.catchTag(removals.unpack(parcel, options), "RemovalRefused", (refusal) => {
        if (refusal.reason !== "occupied" || parcel.head.kind === "tenant") return Effect.fail(refusal)
        if (place.disk.resident(parcel.head.address) !== undefined) return Effect.fail(refusal)
        place.blocks.blocks.clear()
        return removals.unpack(parcel, options)
      })
  }),
  movesInHalfway: ({ removals }) => ({
    unpack: (parcel, options) =>
      Effect.tapError(removals.unpack(parcel, options), () => {
        const [first, ...entries] = parcel.parts.filter(isOf("entry"))
        if (parcel.head.kind !== "assistant" || first === undefined || options?.isTrial === true) return Effect.void
        const head = { ...parcel.head, version: entries.length + 1, handled: { control: 0, reply: 0, mail: 0 } }
        return Effect.ignore(removals.unpack({ head, parts: [first, ...entries] }))
      })
  }),
  takesWhatIsBroken: ({ removals }) => ({
    unpack: (parcel, options) =>
      Effect.catchTag(removals.unpack(parcel, options), "RemovalRefused", (refusal) =>
        refusal.reason === "broken" ? Effect.succeed("unpacked" as const) : Effect.fail(refusal)
      )
  }),
  doublesWhoIsPresent: ({ removals }, place) => ({
    unpack: (parcel, options) =>
      Effect.flatMap(removals.unpack(parcel, options), (outcome) => {
        if (outcome === "unpacked" || options?.isTrial === true || parcel.head.kind === "tenant") {
          return Effect.succeed(outcome)
        }
        removeResident(place, parcel)
        place.blocks.blocks.clear()
        place.blocks.versions.clear()
        return removals.unpack(parcel, options)
      })
  }),
  packsNobody: packing(({ removals }, place, address) => {
    const [somebody] = [...place.disk.residents.values()]
    return removals.pack(place.disk.resident(address) === undefined && somebody ? somebody.address : address)
  }),
  packsByNameAlone: packing(({ removals }, place, address) =>
    Stream.concat(
      removals.pack(address),
      Stream.fromIterable(
        [...place.disk.residents.values()]
          .filter((resident) => resident.address.assistant === address.assistant)
          .flatMap(({ records }) => [...records.values()])
          .map(({ key, kind, value }): RemovalPart => ({ kind: "record", of: kind, key, value }))
      )
    )
  ),
  packsPromptsOfAll: ({ removals }) => ({
    packTenant: () =>
      Stream.unwrap(Effect.map(removals.tenants, ([first]) => removals.packTenant(first ?? ("harbor" as never))))
  }),
  sweepsTheTenant: ({ removals }, place) => ({
    unpack: (parcel, options) =>
      Effect.tap(removals.unpack(parcel, options), () =>
        Effect.sync(() => {
          for (const [key, { address }] of place.disk.residents) {
            if (parcel.head.kind === "assistant" && address.assistant !== parcel.head.address.assistant) {
              place.disk.residents.delete(key)
            }
          }
        })
      )
  }),
  namesTheLivingOnly: (_, place) => ({
    tenants: Effect.sync(() => [
      ...new Set([...place.disk.residents.values()].map(({ address }) => address.tenant).toSorted())
    ])
  }),
  keepsTheFirstMark: ({ removals }, place) => ({
    mark: (mark) => (place.mark !== undefined && mark !== null ? Effect.void : removals.mark(mark))
  }),
  forgetsVersionsOfBlocks: afterwards((_, { blocks }) => {
    for (const [name, versions] of blocks.versions) blocks.versions.set(name, versions.slice(0, 1))
  })
}

export const removalMutants: Readonly<Record<string, FreshLayer<Houses>>> = Object.fromEntries(
  Object.entries(mistakes).map(([name, mistake]) => [name, mutant(mistake)])
)
