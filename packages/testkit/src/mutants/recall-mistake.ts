// RecallMistake: an index that is wrong on purpose in one way.
// Owns the wrapping. Leaves the mistakes to the lists beside it.

import { fits, type Hit, type IndexChange, mayRead, rank, Recall, type RecallQuery } from "@reverie/memory"
import type { Address } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { FreshLayer } from "../law.ts"
import { memoryRecall, RecallDisk, type RecallRules } from "../memory-recall.ts"

export type Index = Recall["Service"]

/** What a mistake puts in the place of the right verbs. It may also lay hands on the disk. */
export type RecallMistake = (right: Index, disk: RecallDisk) => Partial<Index>

const rules: RecallRules = { mayRead, fits, rank }

/** Goes by other rules in its searches. */
export const ruled =
  (wrong: (disk: RecallDisk) => Partial<RecallRules>): RecallMistake =>
  (_, disk) => ({ search: memoryRecall(disk, { ...rules, ...wrong(disk) }).search })

/** Asks another question than it was asked. */
export const askingInstead =
  (other: (query: RecallQuery) => RecallQuery): RecallMistake =>
  ({ search }) => ({ search: (viewer, query) => search(viewer, other(query)) })

/** Shows the hits of a search otherwise. */
export const showing =
  (hits: (right: ReadonlyArray<Hit>, query: RecallQuery) => ReadonlyArray<Hit>): RecallMistake =>
  ({ search }) => ({
    search: (viewer, query) => Effect.map(search(viewer, query), (right) => hits(right, query))
  })

/** Applies other changes than it was told. */
export const applyingInstead =
  (
    other: (changes: ReadonlyArray<IndexChange>, address: Address, disk: RecallDisk) => ReadonlyArray<IndexChange>
  ): RecallMistake =>
  ({ apply }, disk) => ({
    apply: (address, changes, span) => Effect.suspend(() => apply(address, other(changes, address, disk), span))
  })

export const mutantsOf = (
  mistakes: Readonly<Record<string, RecallMistake>>
): Readonly<Record<string, FreshLayer<Recall>>> =>
  Object.fromEntries(
    Object.entries(mistakes).map(([name, mistake]) => [
      name,
      () => {
        const disk = new RecallDisk()
        const right = memoryRecall(disk)
        return Layer.succeed(Recall, { ...right, ...mistake(right, disk) })
      }
    ])
  )
