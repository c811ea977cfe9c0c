// Searching: a question, asked of the server, and what comes back of it.
// Owns the searches for words and for meaning and the candidates they bring. Leaves their order to `memory`, which
// ranks alike for every adapter; the server's own fusion would not say why something was found.
// Q1  Every search carries the filter of the viewer, and every point that comes back is judged again: may the viewer
//     read it, and is it what was asked for.
// Q2  Both searches of a question are one request: they see the same state of the index.

import {
  type Candidate,
  candidateLimit,
  type Hit,
  queryTerms,
  rank,
  type RecallQuery,
  sparseQuery
} from "@reverie/memory"
import type { RecallUnavailable } from "@reverie/memory"
import type { Address } from "@reverie/protocol"
import type { Schemas } from "@qdrant/js-client-rest"
import * as Effect from "effect/Effect"
import { SearchAnswer } from "./answers.ts"
import type { Qdrant } from "./client.ts"
import { MAX_QUERY_LIMIT, type Models } from "./collection.ts"
import { memoryIn, WORDS } from "./point.ts"
import { askedFor, isAskedFor, visibleTo } from "./visibility.ts"

type Search = Schemas["QueryRequest"]
type Found = (typeof SearchAnswer.Type)[number]

interface Plan {
  /** What is asked in fact: without the vector when no model can read it. */
  readonly query: RecallQuery
  readonly searches: ReadonlyArray<{ readonly by: "lexical" | "vector"; readonly search: Search }>
}

const planOf = (viewer: Address, asked: RecallQuery, { current }: Models): Plan => {
  const { vector: given, ...plain } = asked
  const vector = given !== undefined && given.length > 0 && given.length === current?.dimensions ? given : undefined
  const query: RecallQuery = vector === undefined ? plain : asked
  const most = { limit: Math.min(candidateLimit(asked.limit), MAX_QUERY_LIMIT), with_payload: true }
  const filter = askedFor(viewer, asked)
  const { indices, values } = sparseQuery(queryTerms(asked.text).map(({ term }) => term))
  const searches: Array<Plan["searches"][number]> = []
  if (indices.length > 0 && (vector === undefined || asked.search !== "vector")) {
    const words = { query: { indices: [...indices], values: [...values] }, using: WORDS }
    const params = { idf: { corpus: visibleTo(viewer, asked.scope) } }
    searches.push({ by: "lexical", search: { ...words, params, filter, ...most } })
  }
  if (vector !== undefined && current !== undefined && asked.search !== "fts") {
    const meaning = { query: [...vector], using: current.vector, params: { quantization: { rescore: true } } }
    searches.push({ by: "vector", search: { ...meaning, filter, ...most } })
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

export const searching =
  ({ read }: Qdrant, collection: string) =>
  (viewer: Address, asked: RecallQuery, models: Models): Effect.Effect<ReadonlyArray<Hit>, RecallUnavailable> => {
    const plan = planOf(viewer, asked, models)
    if (plan.searches.length === 0) return Effect.succeed([])
    const searches = plan.searches.map(({ search }) => search)
    return Effect.map(
      read("search", SearchAnswer, (client) => client.queryBatch(collection, { searches })),
      (answers) => rank(candidatesOf(viewer, plan, answers), plan.query)
    )
  }
