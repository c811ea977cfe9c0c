// MemoryRecall: the recall index over maps, exact and slow, for laws and tests.
// Owns an index that looks at every entry there is. Leaves the weights and the order to the text module, as every adapter
// does. Keeps nothing itself: drop it, build another over the same disk, and nothing is missing.

import {
  type AttachedFact,
  type Candidate,
  candidateLimit,
  fieldsOf,
  fits,
  INDEX_START,
  type IndexChange,
  type IndexPosition,
  type IndexStatus,
  mayRead,
  meaningOf,
  type MemoryEntry,
  queryTerms,
  rank,
  rarity,
  Recall,
  type RecallQuery,
  samePosition,
  searchKindOf,
  indexWeights,
  type VectorModel,
  VectorsUnfit
} from "@reverie/memory"
import type { Address } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { copy } from "./memory-disk.ts"

/** Replaced when it changes, but for its vectors, which do not count for its words. */
export interface IndexedEntry {
  readonly entry: MemoryEntry
  readonly facts: ReadonlyArray<AttachedFact>
  /** By the id of their model. */
  readonly vectors: Map<string, ReadonlyArray<number>>
}

export interface IndexedAssistant {
  readonly address: Address
  position: IndexPosition
  readonly entries: Map<string, IndexedEntry>
}

export class RecallDisk {
  readonly assistants = new Map<string, IndexedAssistant>()
  current: VectorModel | undefined
  next: VectorModel | undefined
}

/** What a search goes by; a mutant has its own. */
export interface RecallRules {
  readonly mayRead: typeof mayRead
  readonly fits: typeof fits
  readonly rank: typeof rank
}

const nameOf = ({ assistant, tenant }: Address): string => JSON.stringify([tenant, assistant])

/** The entries of an assistant after a change. */
const change = (entries: Map<string, IndexedEntry>, indexChange: IndexChange): void => {
  switch (indexChange.type) {
    case "put": {
      const { entry } = indexChange
      const before = entries.get(entry.id)
      const isSame = before !== undefined && meaningOf(before.entry) === meaningOf(entry)
      entries.set(entry.id, {
        entry: copy(entry),
        facts: before?.facts ?? [],
        vectors: isSame ? before.vectors : new Map()
      })
      return
    }
    case "remove":
      entries.delete(indexChange.id)
      return
    case "fact": {
      const { fact: id, of, text } = indexChange
      const before = entries.get(of)
      if (before === undefined) return
      const others = before.facts.filter((fact) => fact.id !== id)
      entries.set(of, { ...before, facts: text === null ? others : [...others, { id, text }] })
      return
    }
  }
}

const weightsOfEntry = new WeakMap<IndexedEntry, ReadonlyMap<string, number>>()

const weightsOf = (indexed: IndexedEntry): ReadonlyMap<string, number> => {
  const known = weightsOfEntry.get(indexed)
  if (known !== undefined) return known
  const weights = indexWeights(fieldsOf(indexed.entry, indexed.facts))
  weightsOfEntry.set(indexed, weights)
  return weights
}

const nearness = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number => {
  const dot = a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
  return dot / (Math.hypot(...a) * Math.hypot(...b) || 1)
}

/** What a viewer may read. */
interface Readable {
  readonly owner: Address
  readonly indexed: IndexedEntry
}

const byWords = (readable: ReadonlyArray<Readable>, query: RecallQuery): ReadonlyMap<Readable, number> => {
  const scores = new Map<Readable, number>()
  for (const { term } of queryTerms(query.text)) {
    const having = readable.filter(({ indexed }) => weightsOf(indexed).has(term))
    const rare = rarity(readable.length, having.length)
    for (const each of having) {
      scores.set(each, (scores.get(each) ?? 0) + rare * (weightsOf(each.indexed).get(term) ?? 0))
    }
  }
  return scores
}

const best = (scores: ReadonlyMap<Readable, number>, query: RecallQuery, rules: RecallRules) =>
  new Map(
    [...scores]
      .filter(([{ indexed }]) => rules.fits(indexed.entry, query))
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, candidateLimit(query.limit))
  )

const search = (disk: RecallDisk, viewer: Address, query: RecallQuery, rules: RecallRules) => {
  const { current } = disk
  const isFitting = current !== undefined && query.vector?.length === current.dimensions
  const { vector = [], ...rest } = query
  const asked: RecallQuery = isFitting ? query : rest
  const readable = [...disk.assistants.values()].flatMap(({ address, entries }) =>
    [...entries.values()]
      .filter(({ entry }) => rules.mayRead(viewer, address, entry, query.scope))
      .map((indexed): Readable => ({ owner: address, indexed }))
  )
  const kind = searchKindOf(asked)
  const lexical = kind === "vector" ? new Map<Readable, number>() : best(byWords(readable, query), query, rules)
  const near = new Map(
    readable.flatMap((each): ReadonlyArray<readonly [Readable, number]> => {
      const found = current === undefined || kind === "fts" ? undefined : each.indexed.vectors.get(current.id)
      return found === undefined ? [] : [[each, nearness(found, vector)]]
    })
  )
  const candidates = [...new Set([...lexical.keys(), ...best(near, query, rules).keys()])].map((each): Candidate => {
    const [words, meaning] = [lexical.get(each), near.get(each)]
    return {
      owner: each.owner.assistant,
      entry: each.indexed.entry,
      facts: each.indexed.facts,
      ...(words === undefined ? {} : { lexical: words }),
      ...(meaning === undefined ? {} : { vector: meaning })
    }
  })
  return rules.rank(candidates, asked).map(copy)
}

type VectorVerbs = Pick<
  Recall["Service"],
  "missingVectors" | "prepareVectors" | "promoteVectors" | "putVectors" | "vectorModels"
>

const unfit = (model: string, message: string) => Effect.fail(new VectorsUnfit({ model, message }))

const isSameModel = (a: VectorModel | undefined, b: VectorModel): boolean =>
  a?.id === b.id && a.dimensions === b.dimensions

const forget = (disk: RecallDisk, model: VectorModel | undefined): void => {
  for (const { entries } of disk.assistants.values()) {
    for (const { vectors } of entries.values()) vectors.delete(model?.id ?? "")
  }
}

const modelNamed = ({ current, next }: RecallDisk, id: string): VectorModel | undefined =>
  [current, next].find((model) => model?.id === id)

const vectorVerbs = (disk: RecallDisk): VectorVerbs => ({
  vectorModels: Effect.sync(() => ({
    ...(disk.current === undefined ? {} : { current: disk.current }),
    ...(disk.next === undefined ? {} : { next: disk.next })
  })),
  prepareVectors: (model) =>
    Effect.sync(() => {
      if (isSameModel(disk.current, model) || isSameModel(disk.next, model)) return
      if (disk.current === undefined) {
        disk.current = copy(model)
        return
      }
      forget(disk, disk.next)
      disk.next = copy(model)
    }),
  missingVectors: (model, limit) =>
    Effect.sync(() => {
      if (modelNamed(disk, model) === undefined) return []
      return [...disk.assistants.values()]
        .flatMap(({ address, entries }) =>
          [...entries.values()]
            .filter(({ vectors }) => !vectors.has(model))
            .map(({ entry }) => ({ address, id: entry.id, text: meaningOf(entry) }))
        )
        .slice(0, Math.max(0, limit))
    }),
  putVectors: (id, vectors) =>
    Effect.suspend(() => {
      const model = modelNamed(disk, id)
      if (model === undefined) return unfit(id, "no such vectors were prepared for")
      if (!vectors.every(({ vector }) => vector.length === model.dimensions && vector.every(Number.isFinite))) {
        return unfit(id, `its vectors have ${model.dimensions} numbers`)
      }
      for (const { address, id: entry, vector } of vectors) {
        disk.assistants.get(nameOf(address))?.entries.get(entry)?.vectors.set(id, copy(vector))
      }
      return Effect.void
    }),
  promoteVectors: (id) =>
    Effect.suspend(() => {
      if (disk.current?.id === id) return Effect.void
      if (disk.next?.id !== id) return unfit(id, "it was not prepared")
      forget(disk, disk.current)
      disk.current = disk.next
      disk.next = undefined
      return Effect.void
    })
})

const statusOf = ({ assistants, current, next }: RecallDisk): IndexStatus => {
  const entries = [...assistants.values()].flatMap((each) => [...each.entries.values()])
  return {
    kind: "memory",
    state: "green",
    warnings: [],
    format: 1,
    newestFormat: 1,
    memories: entries.length,
    ...(current === undefined
      ? {}
      : { embedder: current, vectors: entries.filter(({ vectors }) => vectors.has(current.id)).length }),
    ...(next === undefined ? {} : { nextEmbedder: next })
  }
}

export const memoryRecall = (
  disk: RecallDisk = new RecallDisk(),
  rules: RecallRules = { mayRead, fits, rank }
): Recall["Service"] => ({
  ...vectorVerbs(disk),
  apply: (address, changes, { from, to }) =>
    Effect.sync(() => {
      const name = nameOf(address)
      const fresh: IndexedAssistant = { address: copy(address), position: INDEX_START, entries: new Map() }
      const assistant = disk.assistants.get(name) ?? fresh
      if (!samePosition(assistant.position, from)) return assistant.position
      for (const each of changes) change(assistant.entries, each)
      disk.assistants.set(name, Object.assign(assistant, { position: copy(to) }))
      return assistant.position
    }),
  position: (address) => Effect.sync(() => disk.assistants.get(nameOf(address))?.position ?? INDEX_START),
  count: (address) => Effect.sync(() => disk.assistants.get(nameOf(address))?.entries.size ?? 0),
  erase: (address) => Effect.sync(() => void disk.assistants.delete(nameOf(address))),
  standings: Effect.sync(() =>
    [...disk.assistants.values()].map(({ address, position }) => ({ address, position: copy(position) }))
  ),
  status: Effect.sync(() => statusOf(disk)),
  search: (viewer, query) => Effect.sync(() => search(disk, viewer, query, rules))
})

export const memoryRecallLayer = (disk: RecallDisk = new RecallDisk()): Layer.Layer<Recall> =>
  Layer.succeed(Recall, memoryRecall(disk))
