// Matrices: the vectors of groups, in memory, to be compared with all at once.
// Owns how a vector is written, what is kept of them here, and bringing that up to the database.
// M1  What was written since is read with every question: by the id of the transaction that wrote it, so that one which was
//     begun before and ended after the last question is not missed.
// M2  After another start of the server, or another current model, nothing is known.
// M3  What stays in memory has a bound, for a group and for all. Of a group it is what was written last.
// M4  An entry that is gone may still be near: who asks for it in the database finds nothing.

import {
  type AttachedFact,
  type Candidate,
  candidateLimit,
  conditionKeys,
  demandsOf,
  fieldsOf,
  fits,
  keyWithin,
  kindsOf,
  latestOf,
  mayRead,
  type MemoryEntry,
  memoryKinds,
  queryTerms,
  rank,
  type Readers,
  type Recall,
  type RecallQuery,
  type RecallScope,
  type RecallUnavailable,
  searchKindOf,
  termKey,
  indexWeights
} from "@reverie/memory"
import { type Address, AssistantId, defined, TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { number, numbers, type Query, text } from "./database.ts"
import { WEIGHT_SCALE } from "./tables.ts"

// Words: what of an entry stands in the table `words`, as numbers.
// Owns the groups of those who may read an entry, and its keys for each of them. Leaves what a term weighs to the text
// module, and what is done with numbers to tables.ts.
// W1  A key is of one group: whose words are searched finds nothing of anyone else's.
// W2  What an entry has follows from itself and its readers, so writing it asks the database nothing.

/** No word of a question has it. */
const SIGN = "\u0000g"

const ownGroup = ({ assistant, tenant }: Address): number => termKey(`${SIGN}own ${tenant} ${assistant}`)
const fleetGroup = ({ tenant }: Address): number => termKey(`${SIGN}fleet ${tenant}`)
const namedGroup = ({ assistant, tenant }: Address): number => termKey(`${SIGN}named ${tenant} ${assistant}`)

/** Who may read the entries of an owner, the owner first. */
const readersOf = (owner: Address, readers: Readers): ReadonlyArray<number> => {
  if (readers === "owner") return [ownGroup(owner)]
  if (readers === "fleet") return [ownGroup(owner), fleetGroup(owner)]
  const others = [...new Set(readers)].filter((assistant) => assistant !== owner.assistant)
  return [ownGroup(owner), ...others.map((assistant) => namedGroup({ tenant: owner.tenant, assistant }))]
}

/** What a viewer reads in a scope, his own first. */
const groupsOf = (viewer: Address, scope: RecallScope): ReadonlyArray<number> => {
  if (scope === "own") return [ownGroup(viewer)]
  return [ownGroup(viewer), namedGroup(viewer), ...(scope === "fleet" ? [fleetGroup(viewer)] : [])]
}

/** Each of some keys for each group, group by group. */
const keysFor = (groups: ReadonlyArray<number>, keys: ReadonlyArray<number>): ReadonlyArray<number> =>
  groups.flatMap((group) => keys.map((key) => keyWithin(group, key)))

interface Numbers {
  readonly groups: ReadonlyArray<number>
  readonly keys: ReadonlyArray<number>
  readonly weights: ReadonlyArray<number>
  readonly conditions: ReadonlyArray<number>
}

export const numbersOf = (owner: Address, entry: MemoryEntry, facts: ReadonlyArray<AttachedFact>): Numbers => {
  const groups = readersOf(owner, entry.readers)
  const weighed = indexWeights(fieldsOf(entry, facts))
  const terms = [...weighed.keys()].map(termKey)
  const weights = Array.from(weighed.values(), (weight) => Math.round(weight * WEIGHT_SCALE))
  return {
    groups,
    keys: keysFor(groups, terms),
    weights: groups.flatMap(() => weights),
    conditions: keysFor(groups, [...new Set(conditionKeys(entry))])
  }
}

export const factsIn = (facts: string | null): ReadonlyArray<AttachedFact> =>
  facts === null ? [] : (JSON.parse(facts) as ReadonlyArray<AttachedFact>)

const LARGEST = 127
/** Vectors of one group. */
const MOST = 16_384
/** Of all; the group that was not asked for the longest goes first. */
const MAX_BYTES = 64 * 1024 * 1024

/** As bytes, each number at most half a hundredth of the largest off. */
export const packed = (vector: ReadonlyArray<number>): Uint8Array => {
  const most = vector.reduce((max, value) => Math.max(max, Math.abs(value)), 0)
  const numbers = Int8Array.from(vector, (value) => (most === 0 ? 0 : Math.round((value / most) * LARGEST)))
  return new Uint8Array(numbers.buffer)
}

/** The cosine of the angle between a vector and a packed one; 0 where one of them has no direction. */
const nearnessOf = (vector: ReadonlyArray<number>, { buffer, byteOffset }: Uint8Array): number => {
  const row = new Int8Array(buffer, byteOffset, vector.length)
  let [dot, ofRow, ofVector] = [0, 0, 0]
  for (let at = 0; at < vector.length; at++) {
    const [here, there] = [vector[at] ?? 0, row[at] ?? 0]
    dot += here * there
    ofRow += there * there
    ofVector += here * here
  }
  return dot / (Math.sqrt(ofRow * ofVector) || 1)
}

interface Matrix {
  readonly vectors: Map<number, Uint8Array>
  /** Every transaction before this one is in it. */
  seen: number
}

export interface Near {
  /** The key of the current model. */
  readonly model: number
  readonly nearness: ReadonlyMap<number, number>
}

interface LoadedRow {
  readonly grp: number
  readonly entry: number
  readonly vector: Uint8Array | null
}

const LOAD = `SELECT grp, entry, vector
  FROM load_vectors($1::float8::integer, $2::float8::integer, $3::float8[]::bigint[], $4::float8[]::bigint[], ${MOST})`

const HEADERS = { model: -1, seen: -2, started: -3 } as const

export class Matrices {
  readonly #query: Query
  /** By group; the one that was asked for last stands last. */
  readonly #known = new Map<number, Matrix>()
  #model = 0
  #started = 0
  #bytes = 0

  constructor(query: Query) {
    this.#query = query
  }

  /** How near each entry of the groups is to a vector; undefined when no current model is of its length. */
  near(
    groups: ReadonlyArray<number>,
    vector: ReadonlyArray<number>
  ): Effect.Effect<Near | undefined, RecallUnavailable> {
    return Effect.flatMap(this.#load(groups, vector.length), (rows) => {
      const header = (name: keyof typeof HEADERS) => rows.find(({ grp }) => grp === HEADERS[name])?.entry ?? 0
      const model = header("model")
      if (model === 0) return Effect.undefined
      const isMissed = this.#known.size > 0 && model === this.#model && header("started") !== this.#started
      if (model !== this.#model || isMissed) this.forget()
      this.#model = model
      this.#started = header("started")
      // What came is only what was written since the server had started the time before.
      if (isMissed) return this.near(groups, vector)
      this.#keep(groups, rows, header("seen"))
      const nearness = new Map<number, number>()
      for (const group of groups) {
        for (const [entry, row] of this.#known.get(group)?.vectors ?? []) nearness.set(entry, nearnessOf(vector, row))
      }
      this.#evict()
      return Effect.succeed({ model, nearness })
    })
  }

  #load(groups: ReadonlyArray<number>, dimensions: number): Effect.Effect<ReadonlyArray<LoadedRow>, RecallUnavailable> {
    return Effect.suspend(() => {
      const since = groups.map((group) => this.#known.get(group)?.seen ?? 0)
      const values = [number(dimensions), number(this.#model), numbers(groups), numbers(since)]
      return this.#query<LoadedRow>("search", LOAD, values)
    })
  }

  #keep(groups: ReadonlyArray<number>, rows: ReadonlyArray<LoadedRow>, seen: number): void {
    for (const group of groups) {
      const matrix = this.#known.get(group) ?? { vectors: new Map<number, Uint8Array>(), seen: 0 }
      this.#known.delete(group)
      this.#known.set(group, matrix)
      matrix.seen = Math.max(matrix.seen, seen)
    }
    for (const { entry, grp, vector } of rows) {
      const matrix = this.#known.get(grp)
      if (matrix === undefined || vector === null) continue
      this.#bytes += vector.length - (matrix.vectors.get(entry)?.length ?? 0)
      matrix.vectors.set(entry, vector)
    }
  }

  /** Nothing is kept any more; the next question reads everything. */
  forget(): void {
    this.#known.clear()
    this.#bytes = 0
  }

  /** Also what has grown too large: the next question reads of it what was written last. */
  #evict(): void {
    for (const [group, { vectors }] of this.#known) {
      if (this.#bytes <= MAX_BYTES && vectors.size <= 2 * MOST) continue
      for (const { length } of vectors.values()) this.#bytes -= length
      this.#known.delete(group)
    }
  }
}

// Searching: from a question to hits.
// S1  Words are compared in the database, vectors in the memory of this process. Every entry that comes of it is judged
//     again: may the viewer read it, and is it what was asked for.

interface FoundRow {
  readonly entry: number
  readonly tenant: string
  readonly assistant: string
  readonly body: string
  readonly facts: string | null
  readonly score: number | null
  readonly vector: Uint8Array | null
}

/** Entries that the words of a question bring up at most, unless one word alone does. */
const READING = 4_096
/** Nearest entries that are looked up first: some may be gone, or not be asked for. */
const SPARE = 64

const CONDITIONS = (from: number): string =>
  `$${from}, $${from + 1}, $${from + 2}, $${from + 3}::float8[]::bigint[], $${from + 4}::float8[]::bigint[], $${from + 5}::float8[]::bigint[]`

const FIND_WORDS = `
  SELECT entry, tenant, assistant, body, facts, score, vector FROM find_words($1, $2, $3::float8[]::bigint[],
    $4::float8[]::bigint[], ${READING}, $5::float8::integer, $6::float8::integer, ${CONDITIONS(7)})`

const FIND_KEYS = `
  SELECT entry, tenant, assistant, body, facts, score, vector FROM find_keys($1::float8[]::bigint[],
    $2::float8::integer, ${CONDITIONS(3)})`

const conditionsOf = (query: RecallQuery, groups: ReadonlyArray<number>) => {
  const wanted = new Set(kindsOf(query))
  const latest = memoryKinds.map((kind) => (wanted.has(kind) ? latestOf(kind, query) : -Infinity))
  const demands = demandsOf(query)
  return [
    number(query.since ?? -Infinity),
    numbers(latest),
    number(query.minTrust ?? -Infinity),
    ...[0, 1, 2].map((place) => {
      const keys = demands[place]
      return numbers(keys === undefined ? null : keysFor(groups, keys))
    })
  ]
}

interface FoundEntry {
  readonly owner: Address
  readonly entry: MemoryEntry
  readonly facts: ReadonlyArray<AttachedFact>
  readonly row: FoundRow
}

/** The entries that rows stand for, as far as the viewer may read them and they are what was asked for. */
const judged = (
  viewer: Address,
  query: RecallQuery,
  rows: ReadonlyArray<FoundRow>
): ReadonlyMap<number, FoundEntry> => {
  const found = new Map<number, FoundEntry>()
  for (const row of rows) {
    const owner = { tenant: TenantId.make(row.tenant), assistant: AssistantId.make(row.assistant) }
    const entry = JSON.parse(row.body) as MemoryEntry
    if (!mayRead(viewer, owner, entry, query.scope) || !fits(entry, query)) continue
    found.set(row.entry, { owner, entry, facts: factsIn(row.facts), row })
  }
  return found
}

export const searching = (query: Query, matrices: Matrices) => {
  const byWords = (viewer: Address, asked: RecallQuery, groups: ReadonlyArray<number>, model: number) => {
    const terms = queryTerms(asked.text).map(({ term }) => termKey(term))
    if (terms.length === 0) return Effect.succeed(new Map<number, FoundEntry>())
    const values = [
      text(viewer.tenant),
      text(viewer.assistant),
      numbers(groups),
      numbers(keysFor(groups, terms)),
      number(candidateLimit(asked.limit)),
      number(model),
      ...conditionsOf(asked, groups)
    ]
    return Effect.map(query<FoundRow>("search", FIND_WORDS, values), (rows) => judged(viewer, asked, rows))
  }
  const byMeaning = Effect.fnUntraced(function* (
    viewer: Address,
    asked: RecallQuery,
    groups: ReadonlyArray<number>,
    nearness: ReadonlyMap<number, number>
  ) {
    const limit = candidateLimit(asked.limit)
    const nearest = [...nearness].toSorted(([, a], [, b]) => b - a).map(([entry]) => entry)
    const some = (keys: ReadonlyArray<number>) =>
      Effect.map(
        query<FoundRow>("search", FIND_KEYS, [numbers(keys), number(limit), ...conditionsOf(asked, groups)]),
        (rows) => judged(viewer, asked, rows)
      )
    const first = yield* some(nearest.slice(0, limit + SPARE))
    return first.size >= limit || nearest.length <= limit + SPARE ? first : yield* some(nearest)
  })
  const search: Recall["Service"]["search"] = Effect.fnUntraced(function* (viewer, wanted) {
    const { vector = [], ...plain } = wanted
    const groups = groupsOf(viewer, wanted.scope)
    const isMeant = wanted.search !== "fts" && vector.length > 0
    const near = isMeant ? yield* matrices.near(groups, vector) : undefined
    const asked: RecallQuery = near === undefined ? plain : wanted
    const isByWords = searchKindOf(asked) !== "vector"
    const lexical = isByWords ? yield* byWords(viewer, asked, groups, near?.model ?? 0) : new Map<number, FoundEntry>()
    const meant =
      near === undefined ? new Map<number, FoundEntry>() : yield* byMeaning(viewer, asked, groups, near.nearness)
    const candidates = [...new Map([...meant, ...lexical])].map(([key, { entry, facts, owner, row }]): Candidate => {
      const nearness = row.vector === null ? near?.nearness.get(key) : nearnessOf(vector, row.vector)
      const score = row.score ?? undefined
      return { owner: owner.assistant, entry, facts, ...defined({ lexical: score, vector: nearness }) }
    })
    return rank(candidates, asked)
  })
  return search
}
