// Search: the query of Qdrant over the points of one collection.
// Owns vectors searched exactly, prefetches, the fusion of their results, limits. Leaves filters to `filter.ts` and
// nearness to `vectors.ts`.
// Q1  The filter of a request holds for its prefetches as well.
// Q2  Fusion counts 1 / ((place from 0 + 1) / weight + k - 1), k = 2 when not said.
// Q3  What the double does not know it refuses.

import type { Collection } from "./collection.ts"
import { isLetThrough } from "./filter.ts"
import { filterRefusal, limitRefusal } from "./strict-mode.ts"
import { fitted, isSparse, scorer } from "./vectors.ts"
import {
  type Fields,
  fieldsOf,
  isFields,
  isRefusal,
  listOf,
  numberOr,
  type Point,
  refusal,
  type Refusal
} from "./wire.ts"

export interface Found {
  readonly point: Point
  readonly score: number
}

type Answer = ReadonlyArray<Found> | Refusal

const DEFAULT_LIMIT = 10

const byScore = (a: Found, b: Found): number => b.score - a.score || (String(a.point.id) < String(b.point.id) ? -1 : 1)

const corpusOf = (params: unknown): unknown => {
  const idf = fieldsOf(params)["idf"]
  return isFields(idf) ? idf["corpus"] : undefined
}

/** Why a request or one of its prefetches is refused before it runs. */
const refused = (collection: Collection, request: Fields): Refusal | undefined => {
  const limit = numberOr(request["limit"], DEFAULT_LIMIT)
  const limits = { max_query_limit: limit, upsert_max_batchsize: undefined, search_max_batchsize: undefined }
  const own =
    limitRefusal(collection, limits) ??
    filterRefusal(collection, request["filter"], "retrieve") ??
    filterRefusal(collection, corpusOf(request["params"]), "retrieve")
  if (own !== undefined) return own
  for (const prefetch of listOf(request["prefetch"])) {
    const inner = refused(collection, fieldsOf(prefetch))
    if (inner !== undefined) return inner
  }
  return undefined
}

const nearest = (
  collection: Collection,
  { params, using }: Fields,
  vector: unknown,
  points: ReadonlyArray<Point>
): Answer => {
  const name = typeof using === "string" ? using : ""
  const query = fitted(collection.spaces, name, vector)
  if (isRefusal(query)) return query
  const corpus = corpusOf(params)
  const score = scorer(collection.spaces, name, query, () =>
    collection.all().filter((each) => isLetThrough(corpus, each))
  )
  return points
    .flatMap((point) => {
      const scored = score(point.vectors.get(name))
      return scored === undefined ? [] : [{ point, score: scored }]
    })
    .toSorted(byScore)
}

const fused = (sources: ReadonlyArray<ReadonlyArray<Found>>, rrf: Fields): Answer => {
  const k = numberOr(rrf["k"], 2)
  const weights = Array.isArray(rrf["weights"]) ? rrf["weights"] : sources.map(() => 1)
  if (weights.length !== sources.length) return refusal(400, "Bad request: weights must match the prefetches")
  const scores = new Map<Point, number>()
  for (const [source, found] of sources.entries()) {
    for (const [place, { point }] of found.entries()) {
      const score = 1 / ((place + 1) / Number(weights[source]) + k - 1)
      scores.set(point, (scores.get(point) ?? 0) + score)
    }
  }
  return [...scores].map(([point, score]) => ({ point, score: Math.fround(score) })).toSorted(byScore)
}

const rescored = (collection: Collection, request: Fields, sources: ReadonlyArray<ReadonlyArray<Found>>): Answer => {
  const { query } = request
  if (isFields(query) && isFields(query["rrf"])) return fused(sources, query["rrf"])
  if (isFields(query) && query["fusion"] === "rrf") return fused(sources, {})
  const union = [...new Set(sources.flat().map(({ point }) => point))]
  const vector = vectorOf(query)
  return vector === undefined ? strange(query) : nearest(collection, request, vector, union)
}

const vectorOf = (query: unknown): unknown => {
  if (Array.isArray(query) || isSparse(query)) return query
  return isFields(query) && Object.keys(query).join() === "nearest" ? query["nearest"] : undefined
}

const strange = (query: unknown): Refusal => refusal(501, `the double does not know the query ${JSON.stringify(query)}`)

const answered = (collection: Collection, request: Fields, filters: ReadonlyArray<unknown>): Answer => {
  const all = [...filters, request["filter"]]
  const prefetches = listOf(request["prefetch"]).map(fieldsOf)
  const isThrough = (point: Point) => all.every((filter) => isLetThrough(filter, point))
  let found: Answer
  if (prefetches.length === 0) {
    const points = collection.all().filter(isThrough)
    const vector = vectorOf(request["query"])
    if (vector !== undefined) found = nearest(collection, request, vector, points)
    else if (listOf(request["query"]).length > 0) found = strange(request["query"])
    else found = points.map((point) => ({ point, score: 0 }))
  } else {
    const sources: Array<ReadonlyArray<Found>> = []
    for (const prefetch of prefetches) {
      const source = answered(collection, prefetch, all)
      if (isRefusal(source)) return source
      sources.push(source)
    }
    found = rescored(collection, request, sources)
  }
  if (isRefusal(found)) return found
  const offset = numberOr(request["offset"], 0)
  const least = numberOr(request["score_threshold"], -Infinity)
  return found.filter(({ score }) => score >= least).slice(offset, offset + numberOr(request["limit"], DEFAULT_LIMIT))
}

export const search = (collection: Collection, request: Fields): Answer =>
  refused(collection, request) ?? answered(collection, request, [])
