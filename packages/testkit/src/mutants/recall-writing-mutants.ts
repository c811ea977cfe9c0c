// Recall mutants that write wrongly: they lose, keep or mix what they were told.

import { INDEX_START, type IndexChange, type Recall } from "@reverie/memory"
import { type Address, AssistantId, TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type { FreshLayer } from "../law.ts"
import type { IndexedAssistant, IndexedEntry, RecallDisk } from "../memory-recall.ts"
import { afterwards } from "./mutant.ts"
import { applyingInstead, mutantsOf, type RecallMistake } from "./recall-mistake.ts"

const assistantOf = (disk: RecallDisk, address: Address): IndexedAssistant | undefined =>
  [...disk.assistants.values()].find(
    (each) => each.address.tenant === address.tenant && each.address.assistant === address.assistant
  )

const entriesOf = (disk: RecallDisk, address: Address): ReadonlyMap<string, IndexedEntry> =>
  assistantOf(disk, address)?.entries ?? new Map()

const allEntries = (disk: RecallDisk): ReadonlyArray<IndexedEntry> =>
  [...disk.assistants.values()].flatMap(({ entries }) => [...entries.values()])

/** Changes each put by what was there before it. */
const puttingInstead = (
  other: (put: Extract<IndexChange, { readonly type: "put" }>, before: IndexedEntry) => ReadonlyArray<IndexChange>
): RecallMistake =>
  applyingInstead((changes, address, disk) =>
    changes.flatMap((change) => {
      const before = change.type === "put" ? entriesOf(disk, address).get(change.entry.id) : undefined
      return change.type === "put" && before !== undefined ? other(change, before) : [change]
    })
  )

/** Takes addresses for others. */
const addressing =
  (other: (address: Address) => Address): RecallMistake =>
  ({ apply, count, erase, position, search }) => ({
    apply: (address, changes, span) => apply(other(address), changes, span),
    count: (address) => count(other(address)),
    erase: (address) => erase(other(address)),
    position: (address) => position(other(address)),
    search: (viewer, query) => search(other(viewer), query)
  })

const writing: Readonly<Record<string, RecallMistake>> = {
  ignoresCaseOfNames: addressing(({ assistant, tenant }) => ({
    tenant: TenantId.make(tenant.toLowerCase()),
    assistant: AssistantId.make(assistant.toLowerCase())
  })),
  stemsNames: addressing(({ assistant, tenant }) => ({
    tenant,
    assistant: AssistantId.make(assistant.replace(/(ning|s)$/, ""))
  })),
  keepsOldReaders: puttingInstead((put, { entry }) => [{ ...put, entry: { ...put.entry, readers: entry.readers } }]),
  keepsErasedEntries: ({ position }, disk) => {
    const erased = new Set<string>()
    const key = ({ assistant, tenant }: Address) => JSON.stringify([tenant, assistant])
    return {
      erase: (address) => Effect.sync(() => void erased.add(key(address))),
      position: (address) => Effect.map(position(address), (at) => (erased.has(key(address)) ? INDEX_START : at)),
      count: (address) => Effect.sync(() => (erased.has(key(address)) ? 0 : entriesOf(disk, address).size))
    }
  },
  keepsThePositionOfTheErased: (_, disk) => ({
    erase: (address) => Effect.sync(() => assistantOf(disk, address)?.entries.clear())
  }),
  erasesNamesakes: (_, disk) => ({
    erase: ({ assistant }) =>
      Effect.sync(() => {
        for (const [name, { address }] of disk.assistants) {
          if (address.assistant === assistant) disk.assistants.delete(name)
        }
      })
  }),
  keepsErasedFacts: ({ apply, erase }, disk) => {
    const kept = new Map<string, IndexedEntry>()
    return {
      erase: (address) => {
        for (const [id, indexed] of entriesOf(disk, address)) kept.set(id, indexed)
        return erase(address)
      },
      apply: (address, changes, span) =>
        afterwards(apply(address, changes, span), () => {
          const entries = assistantOf(disk, address)?.entries
          for (const [id, indexed] of entries ?? []) {
            const facts = kept.get(id)?.facts
            if (facts !== undefined) entries?.set(id, { ...indexed, facts })
          }
        })
    }
  },
  putsTwice: puttingInstead((put, { entry }) =>
    JSON.stringify(put.entry) === JSON.stringify(entry)
      ? [{ ...put, entry: { ...put.entry, id: `${put.entry.id}-again` } }]
      : [put]
  ),
  doesNotRememberThePosition: () => ({ position: () => Effect.succeed(INDEX_START) }),
  sharesThePosition: (_, disk) => ({
    position: () =>
      Effect.sync(() =>
        [...disk.assistants.values()]
          .map(({ position }) => position)
          .reduce((most, each) => (each.no > most.no ? each : most), INDEX_START)
      )
  }),
  narrowsThePosition: ({ position }) => ({
    position: (address) => Effect.map(position(address), ({ digest, no }) => ({ no: no | 0, digest }))
  }),
  forgetsTheDigest: ({ position }) => ({
    position: (address) => Effect.map(position(address), ({ no }) => ({ no, digest: "" }))
  }),
  appliesFromAnywhere: ({ apply, position }) => ({
    apply: (address, changes, { to }) =>
      Effect.flatMap(position(address), (from) => apply(address, changes, { from, to }))
  }),
  appliesFromLaterToo: ({ apply, position }) => ({
    apply: (address, changes, { from, to }) =>
      Effect.flatMap(position(address), (present) =>
        apply(address, changes, { from: from.no > present.no ? present : from, to })
      )
  }),
  comparesNumbersOnly: ({ apply, position }) => ({
    apply: (address, changes, { from, to }) =>
      Effect.flatMap(position(address), (present) =>
        apply(address, changes, { from: from.no === present.no ? present : from, to })
      )
  }),
  takesEveryBeginningForTheSame: ({ apply, position }) => ({
    apply: (address, changes, { from, to }) =>
      Effect.flatMap(position(address), (present) =>
        apply(address, changes, { from: from.no === 0 && present.no === 0 ? present : from, to })
      )
  }),
  tellsOfOneTenantOnly: ({ standings }) =>
    standings === undefined
      ? {}
      : { standings: Effect.map(standings, (all) => all.filter(({ address }) => address.tenant === "harbor")) },
  countsEveryMemoryAsAVector: ({ status }) =>
    status === undefined ? {} : { status: Effect.map(status, (told) => ({ ...told, vectors: told.memories })) },
  answersWhatItWasTold: ({ apply }) => ({
    apply: (address, changes, span) => Effect.as(apply(address, changes, span), span.to)
  }),
  staysAtTheSameNumber: ({ apply }) => ({
    apply: (address, changes, { from, to }) => apply(address, changes, { from, to: from.no === to.no ? from : to })
  }),
  keepsOldWords: puttingInstead((put, { entry }) => [
    { ...put, entry: { ...put.entry, context: `${put.entry.context ?? ""} ${entry.text} ${entry.context ?? ""}` } }
  ]),
  dropsADelete: applyingInstead((changes) => changes.filter(({ type }) => type !== "remove")),
  appliesPutsFirst: applyingInstead((changes) => [
    ...changes.filter(({ type }) => type === "put"),
    ...changes.filter(({ type }) => type !== "put")
  ]),
  hasOneEntryForAllOwners: ({ apply }, disk) => ({
    apply: (address, changes, span) =>
      afterwards(apply(address, changes, span), () => {
        for (const other of disk.assistants.values()) {
          if (other === assistantOf(disk, address)) continue
          for (const id of entriesOf(disk, address).keys()) other.entries.delete(id)
        }
      })
  }),
  forgetsFacts: applyingInstead((changes) => changes.filter(({ type }) => type !== "fact")),
  losesFactsOnASecondPut: puttingInstead((put) => [{ type: "remove", id: put.entry.id }, put]),
  keepsTakenFacts: applyingInstead((changes) =>
    changes.filter((change) => change.type !== "fact" || change.text !== null)
  ),
  keepsOldFacts: applyingInstead((changes) =>
    changes.map((change, index) =>
      change.type === "fact" && change.text !== null
        ? { ...change, fact: `${change.fact}-${index}-${change.text}` }
        : change
    )
  ),
  keepsFactsOfWhatIsGone: ({ apply }, disk) => {
    const facts = new Map<string, IndexChange>()
    return {
      apply: (address, changes, span) => {
        const more = changes.flatMap((each) => {
          if (each.type === "fact") facts.set(`${each.of} ${each.fact}`, each)
          const own = [...facts.values()].filter(
            (fact) => each.type === "put" && fact.type === "fact" && fact.of === each.entry.id
          )
          return each.type === "put" && !entriesOf(disk, address).has(each.entry.id) ? [each, ...own] : [each]
        })
        return apply(address, more, span)
      }
    }
  },
  forgetsTheSpeaker: applyingInstead((changes) =>
    changes.map((change) => {
      if (change.type !== "put") return change
      const { speaker: _, ...entry } = change.entry
      return { ...change, entry }
    })
  ),
  forgetsTheContext: applyingInstead((changes) =>
    changes.map((change) => {
      if (change.type !== "put") return change
      const { context: _, ...entry } = change.entry
      return { ...change, entry }
    })
  )
}

const modelsOf = ({ current, next }: RecallDisk) => [current, next].filter((model) => model !== undefined)

/** Vectors that are there before a verb are there after it too, as far as their entries are. */
const keepingVectors = <A, E>(disk: RecallDisk, verb: Effect.Effect<A, E>) =>
  Effect.suspend(() => {
    const before = new Map(
      [...disk.assistants].flatMap(([name, { entries }]) =>
        [...entries].map(([id, { vectors }]) => [`${name} ${id}`, new Map(vectors)] as const)
      )
    )
    return afterwards(verb, () => {
      for (const [name, { entries }] of disk.assistants) {
        for (const [id, { vectors }] of entries) {
          for (const [model, vector] of before.get(`${name} ${id}`) ?? []) vectors.set(model, vector)
        }
      }
    })
  })

const vectors: Readonly<Record<string, RecallMistake>> = {
  waitsForThePromotionOfTheFirst: ({ prepareVectors, vectorModels }, disk) => ({
    prepareVectors: (model) =>
      Effect.suspend(() => {
        if (disk.current !== undefined) return prepareVectors(model)
        disk.next = model
        return Effect.void
      }),
    vectorModels
  }),
  preparesThePresentAgain: ({ prepareVectors }, disk) => ({
    prepareVectors: (model) =>
      Effect.suspend(() => {
        if (disk.current?.id !== model.id) return prepareVectors(model)
        disk.next = undefined
        return Effect.void
      })
  }),
  promotesAtOnce: ({ prepareVectors }, disk) => ({
    prepareVectors: (model) =>
      afterwards(prepareVectors(model), () => {
        disk.current = disk.next ?? disk.current
        disk.next = undefined
      })
  }),
  promotesNothing: () => ({ promoteVectors: () => Effect.void }),
  promoteLosesEntries: ({ promoteVectors }, disk) => ({
    promoteVectors: (model) =>
      afterwards(promoteVectors(model), () => {
        for (const { entries } of disk.assistants.values()) {
          for (const [id, each] of entries) if (!each.vectors.has(model)) entries.delete(id)
        }
      })
  }),
  keepsTheVectorsBefore: ({ promoteVectors }, disk) => ({
    promoteVectors: (model) => keepingVectors(disk, promoteVectors(model))
  }),
  keepsTheVectorsOfTheOneReplaced: ({ prepareVectors }, disk) => ({
    prepareVectors: (model) => keepingVectors(disk, prepareVectors(model))
  }),
  usesVectorsOfAnotherModel: ({ putVectors }, disk) => ({
    putVectors: (model, rows) => {
      const known = modelsOf(disk).some(({ id }) => id === model)
      return putVectors(known ? model : (disk.current?.id ?? model), known ? rows : rows.map(cutTo(disk)))
    }
  }),
  takesVectorsOfAnyLength: ({ putVectors }, disk) => ({
    putVectors: (model, rows) =>
      putVectors(model, modelsOf(disk).some(({ id }) => id === model) ? rows.map(cutTo(disk)) : rows)
  }),
  keepsSomeOfWhatDoesNotFit: ({ putVectors }) => ({
    putVectors: (model, rows) => Effect.forEach(rows, (row) => putVectors(model, [row]), { discard: true })
  }),
  tellsAllThatIsMissing: ({ missingVectors }) => ({ missingVectors: (model) => missingVectors(model, 1_000) }),
  tellsNothingMissing: () => ({ missingVectors: () => Effect.succeed([]) }),
  tellsTheTextOnly: ({ missingVectors }, disk) => ({
    missingVectors: (model, limit) =>
      Effect.map(missingVectors(model, limit), (rows) =>
        rows.map((row) => ({ ...row, text: entriesOf(disk, row.address).get(row.id)?.entry.text ?? "" }))
      )
  }),
  keepsStaleVectors: ({ apply }, disk) => ({
    apply: (address, changes, span) => keepingVectors(disk, apply(address, changes, span))
  }),
  losesVectorsOnEveryPut: ({ apply }, disk) => ({
    apply: (address, changes, span) =>
      afterwards(apply(address, changes, span), () => {
        for (const change of changes) {
          if (change.type === "put") entriesOf(disk, address).get(change.entry.id)?.vectors.clear()
        }
      })
  }),
  findsTheRemovedByMeaning: ({ apply }, disk) => {
    const removed = new Map<string, IndexedEntry["vectors"]>()
    return {
      apply: (address, changes, span) => {
        for (const change of changes) {
          const gone = change.type === "remove" ? entriesOf(disk, address).get(change.id) : undefined
          if (gone !== undefined) removed.set(gone.entry.id, gone.vectors)
        }
        return afterwards(apply(address, changes, span), () => {
          for (const each of allEntries(disk)) {
            for (const [model, vector] of removed.get(each.entry.id) ?? []) each.vectors.set(model, vector)
          }
        })
      }
    }
  }
}

const cutTo =
  ({ current }: RecallDisk) =>
  <A extends { readonly vector: ReadonlyArray<number> }>(row: A): A => ({
    ...row,
    vector: Array.from({ length: current?.dimensions ?? 0 }, (_, index) => row.vector[index] || 0)
  })

export const recallWritingMutants: Readonly<Record<string, FreshLayer<Recall>>> = mutantsOf({ ...writing, ...vectors })
