// Searching: from a question to hits.
// Owns how entries and questions become numbers, and judging what they find. Leaves vectors to matrices.ts and nearest.ts.
// S1  Words are compared in the database; vectors there too where it has the extension, else in the memory of this process.
//     Every entry that comes of it is judged again: may the viewer read it, and is it what was asked for.
// S2  Both ways the nearness that a hit says is reckoned here, from the same bytes.

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
import type { OpenIndex } from "./database.ts"
import { type Matrices, nearnessOf } from "./matrices.ts"
import { MOST_DIMENSIONS } from "./nearest.ts"
import { number, numbers, text } from "./statements.ts"
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

// Finding: the statements, and what comes of them.

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

const NEAR = `
  SELECT entry, tenant, assistant, body, facts, score, vector FROM near_entries($1::float8[]::bigint[], $2,
    $3::float8::integer, ${SPARE}, ${CONDITIONS(4)})`

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

/** What is nearest to a vector. */
interface Meant {
  /** The key of the current model. */
  readonly model: number
  readonly found: ReadonlyMap<number, FoundEntry>
  /** Of entries whose vector is not in the row that was found. */
  readonly nearness: ReadonlyMap<number, number>
}

/** The direction of a vector, in numbers that the type of the extension holds. */
const directionOf = (vector: ReadonlyArray<number>): ReadonlyArray<number> => {
  const most = vector.reduce((max, value) => Math.max(max, Math.abs(value)), 0) || 1
  return vector.map((value) => (Number.isFinite(value) ? value / most : 0))
}

type Meaning = (
  viewer: Address,
  asked: RecallQuery,
  groups: ReadonlyArray<number>,
  vector: ReadonlyArray<number>
) => Effect.Effect<Meant | undefined, RecallUnavailable>

const inDatabase =
  ({ query }: OpenIndex): Meaning =>
  (viewer, asked, groups, vector) =>
    Effect.map(
      query<FoundRow>("search", NEAR, [
        numbers(groups),
        numbers(directionOf(vector)),
        number(candidateLimit(asked.limit)),
        ...conditionsOf(asked, groups)
      ]),
      ([header, ...rows]) =>
        header === undefined
          ? undefined
          : { model: header.entry, found: judged(viewer, asked, rows), nearness: new Map<number, number>() }
    )

const inProcess = ({ query }: OpenIndex, matrices: Matrices): Meaning =>
  Effect.fnUntraced(function* (viewer, asked, groups, vector) {
    const near = yield* matrices.near(groups, vector)
    if (near === undefined) return undefined
    const limit = candidateLimit(asked.limit)
    const nearest = [...near.nearness].toSorted(([, a], [, b]) => b - a).map(([entry]) => entry)
    const some = (keys: ReadonlyArray<number>) =>
      Effect.map(
        query<FoundRow>("search", FIND_KEYS, [numbers(keys), number(limit), ...conditionsOf(asked, groups)]),
        (rows) => judged(viewer, asked, rows)
      )
    const first = yield* some(nearest.slice(0, limit + SPARE))
    const isEnough = first.size >= limit || nearest.length <= limit + SPARE
    return { ...near, found: isEnough ? first : yield* some(nearest) }
  })

/** In the database while it can be done there. */
const meaningIn = (index: OpenIndex, matrices: Matrices): Meaning => {
  const [there, here] = [inDatabase(index), inProcess(index, matrices)]
  return Effect.fnUntraced(function* (...asked) {
    const [, , , vector] = asked
    if (vector.length > MOST_DIMENSIONS || !(yield* index.isNear)) return yield* here(...asked)
    matrices.forget()
    return yield* there(...asked).pipe(
      Effect.catch((failure) =>
        // Someone may have dropped the extension since.
        Effect.andThen(
          index.reopen,
          Effect.flatMap(index.isNear, (isNear) => (isNear ? Effect.fail(failure) : here(...asked)))
        )
      )
    )
  })
}

export const searching = (index: OpenIndex, matrices: Matrices) => {
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
    return Effect.map(index.query<FoundRow>("search", FIND_WORDS, values), (rows) => judged(viewer, asked, rows))
  }
  const byMeaning = meaningIn(index, matrices)
  const search: Recall["Service"]["search"] = Effect.fnUntraced(function* (viewer, wanted) {
    const { vector = [], ...plain } = wanted
    const groups = groupsOf(viewer, wanted.scope)
    const isMeant = wanted.search !== "fts" && vector.length > 0
    const meant = isMeant ? yield* byMeaning(viewer, wanted, groups, vector) : undefined
    const asked: RecallQuery = meant === undefined ? plain : wanted
    const isByWords = searchKindOf(asked) !== "vector"
    const lexical = isByWords ? yield* byWords(viewer, asked, groups, meant?.model ?? 0) : new Map<number, FoundEntry>()
    const both = new Map([...(meant?.found ?? []), ...lexical])
    const candidates = [...both].map(([key, { entry, facts, owner, row }]): Candidate => {
      const nearness = row.vector === null ? meant?.nearness.get(key) : nearnessOf(vector, row.vector)
      const score = row.score ?? undefined
      return { owner: owner.assistant, entry, facts, ...defined({ lexical: score, vector: nearness }) }
    })
    return rank(candidates, asked)
  })
  return search
}
