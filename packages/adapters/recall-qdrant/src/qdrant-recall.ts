// QdrantRecall: the port Recall on one Qdrant collection.
// Owns putting the parts together, and the order of writes. Leaves the parts to their modules.
// R1  Changes of one assistant are applied one after the other: attaching a fact reads a point and writes it back.
// R2  Building it asks nothing of the server. Without one every operation says so, and the next one tries again.

import {
  type Candidate,
  candidateLimit,
  firstRound,
  type Hit,
  joined,
  queryTerms,
  rank,
  Recall,
  type RecallQuery,
  type RecallUnavailable,
  secondRound,
  sparseQuery
} from "@reverie/memory"
import { type Address, addressKey } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Schemas } from "@qdrant/js-client-rest"
import {
  connect,
  CountAnswer,
  DEFAULT_COLLECTION,
  isWithoutVector,
  type Qdrant,
  type QdrantOptions,
  SearchAnswer
} from "./client.ts"
import { type Collection, openCollection } from "./collection.ts"
import { MAX_QUERY_LIMIT, type Models } from "./form.ts"
import { standingsIn } from "./reforming.ts"
import { snapshotsOf } from "./snapshots.ts"
import { statusOf } from "./status.ts"
import { vectorWork } from "./vector-models.ts"
import { askedFor, isAskedFor, memoriesOf, memoryIn, visibleTo, WORDS } from "./point.ts"
import { writing } from "./writing.ts"

// Searching: a question, asked of the server, and what comes back of it.
// Q1  Every search carries the filter of the viewer, and every point that comes back is judged again: may the viewer
//     read it, and is it what was asked for.
// Q2  All searches of a question are one request, those of both rounds too: they see the same state of the index.
// Q3  Another process may have changed the vector model since it was read: it is read again, and a vector of another model
//     than the one that was known is compared with nothing.

type Search = Schemas["QueryRequest"]
type Found = (typeof SearchAnswer.Type)[number]

interface Plan {
  /** What is asked in fact: without the vector when no model can read it. */
  readonly query: RecallQuery
  readonly searches: ReadonlyArray<{ readonly by: "lexical" | "vector"; readonly search: Search }>
}

/** What was said around an entry finds it, and is in no hit. */
const WITHOUT_CONTEXT = { exclude: ["context"] }

const planOf = (viewer: Address, asked: RecallQuery, { current }: Models): Plan => {
  const { vector: given, ...plain } = asked
  const vector = given !== undefined && given.length > 0 && given.length === current?.dimensions ? given : undefined
  const query: RecallQuery = vector === undefined ? plain : asked
  const most = { limit: Math.min(candidateLimit(asked.limit), MAX_QUERY_LIMIT), with_payload: WITHOUT_CONTEXT }
  const filter = askedFor(viewer, asked)
  const { indices, values } = sparseQuery(queryTerms(asked.text).map(({ term }) => term))
  const searches: Array<Plan["searches"][number]> = []
  const isByWords = indices.length > 0 && (vector === undefined || asked.search !== "vector")
  const params = { idf: { corpus: visibleTo(viewer, asked.scope) } }
  const words = { query: { indices: [...indices], values: [...values] }, using: WORDS, params, filter }
  if (isByWords) searches.push({ by: "lexical", search: { ...words, ...most } })
  if (vector !== undefined && current !== undefined && asked.search !== "fts") {
    const meaning = { query: [...vector], using: current.vector, params: { quantization: { rescore: true } }, filter }
    searches.push({ by: "vector", search: { ...meaning, ...most } })
    // How near that is which the words found.
    const found = { prefetch: [{ ...words, limit: most.limit }], ...meaning, ...most }
    if (isByWords) searches.push({ by: "vector", search: found })
  }
  return { query, searches }
}

/** What the searches brought, each point once. */
const candidatesOf = (
  viewer: Address,
  { query, searches }: Plan,
  answers: ReadonlyArray<Found>
): ReadonlyArray<Candidate> => {
  const candidates = new Map<string, Candidate>()
  for (const [at, { by }] of searches.entries()) {
    for (const { id, payload, score } of answers[at]?.points ?? []) {
      const memory = memoryIn(payload)
      if (memory === undefined || !isAskedFor(viewer, query, memory)) continue
      const { address, entry, facts } = memory
      const known = candidates.get(String(id)) ?? { owner: address.assistant, entry, facts }
      candidates.set(String(id), { ...known, [by]: score })
    }
  }
  return [...candidates.values()]
}

type AllHits = ReadonlyArray<ReadonlyArray<Hit>>

/** The hits of each question, of one request for all of them. */
const answered = (
  { read }: Qdrant,
  collection: string,
  viewer: Address,
  plans: ReadonlyArray<Plan>
): Effect.Effect<AllHits, RecallUnavailable> => {
  const searches = plans.flatMap((plan) => plan.searches.map(({ search }) => search))
  if (searches.length === 0) return Effect.succeed(plans.map(() => []))
  return Effect.map(
    read("search", SearchAnswer, (client) => client.queryBatch(collection, { searches })),
    (answers) => {
      let from = 0
      return plans.map((plan) => {
        const own = answers.slice(from, from + plan.searches.length)
        from += plan.searches.length
        return rank(candidatesOf(viewer, plan, own), plan.query)
      })
    }
  )
}

const withoutVector = ({ vector: _vector, ...query }: RecallQuery): RecallQuery => query

const searching =
  (qdrant: Qdrant, { freshModels, name, use }: Collection) =>
  (viewer: Address, asked: ReadonlyArray<RecallQuery>): Effect.Effect<AllHits, RecallUnavailable> => {
    const all = (queries: ReadonlyArray<RecallQuery>, models: Models) =>
      answered(
        qdrant,
        name,
        viewer,
        queries.map((query) => planOf(viewer, query, models))
      )
    return use((models) =>
      all(asked, models).pipe(
        Effect.catchIf(isWithoutVector, () =>
          Effect.flatMap(freshModels, (fresh) =>
            all(fresh.current?.id === models.current?.id ? asked : asked.map(withoutVector), fresh)
          )
        )
      )
    )
  }

/** Assistants that share a lock wait for each other; they are many more than writes at a time. */
const LOCKS = 64

const makeLocks = Effect.map(
  Effect.forEach(Array.from({ length: LOCKS }), () => Semaphore.make(1)),
  (locks) => {
    const lockOf = (address: Address): Semaphore.Semaphore | undefined => {
      let sum = 0
      for (const character of addressKey(address)) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % LOCKS
      return locks[sum]
    }
    return {
      of: <A, E>(address: Address, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        lockOf(address)?.withPermit(effect) ?? effect,
      /** While no one is at it. */
      all: <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        locks.reduce((held, lock) => lock.withPermit(held), effect)
    }
  }
)

const makeQdrantRecall = (options: QdrantOptions): Effect.Effect<Recall["Service"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const qdrant = connect(options)
    const { all, of: alone } = yield* makeLocks
    const collection = yield* openCollection(qdrant, options.collection ?? DEFAULT_COLLECTION, all)
    const { name } = collection
    const write = writing(qdrant, name)
    const search = searching(qdrant, collection)
    return {
      apply: (address, changes, span) =>
        alone(
          address,
          collection.use(() => write.apply(address, changes, span))
        ),
      position: (address) => collection.use(() => write.position(address)),
      search: (viewer, query) => Effect.map(search(viewer, [query]), ([hits = []]) => hits),
      searchInRounds: (viewer, query) => {
        const again = secondRound(query)
        const rounds = again === undefined ? [firstRound(query)] : [firstRound(query), again]
        return Effect.map(search(viewer, rounds), ([first = [], second = []]) => joined(query, first, second))
      },
      count: (address) =>
        collection.use(() =>
          Effect.map(
            qdrant.read("count", CountAnswer, (client) =>
              client.count(name, { filter: memoriesOf(address), exact: true })
            ),
            ({ count }) => count
          )
        ),
      erase: (address) =>
        alone(
          address,
          collection.use(() => write.erase(address))
        ),
      ...vectorWork(qdrant, collection),
      status: statusOf(qdrant, collection),
      standings: collection.use(() => Effect.map(standingsIn(qdrant, name), (all) => [...all.values()])),
      snapshots: snapshotsOf(options, collection)
    }
  })

export const recallQdrantLayer = (options: QdrantOptions): Layer.Layer<Recall> =>
  Layer.effect(Recall, makeQdrantRecall(options))
