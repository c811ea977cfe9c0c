import { assert, it } from "@effect/vitest"
import { fieldsOf, queryTerms, rarity, Recall, sparseQuery, indexWeights } from "@reverie/memory"
import { QdrantClient } from "@qdrant/js-client-rest"
import { anAddress } from "@reverie/testkit"
import { type QdrantPlace, qdrantPlace, qdrantPlaceName } from "@reverie/testkit/qdrant-server"
import * as Effect from "effect/Effect"
import { recallQdrantLayer } from "../src/index.ts"
import { pointId, visibleTo } from "../src/point.ts"
import { begin, put } from "./bench.ts"

const ada = anAddress("ada")
const north = { id: "north", dimensions: 2 }

const day = [
  put("m/1/0", "the tide is high and the tide is near", { context: "what of the berth?" }),
  put("m/2/0", "the berth is free"),
  put("m/3/0", "a lantern at the berth of the tide"),
  put("m/4/0", "nothing of the kind")
]
const vectors = [
  [1, 0],
  [0.9, 0.1],
  [0, 1],
  [0.5, 0.5]
]

const rounded = (value: number): number => Math.round(value * 1e4) / 1e4

/** What the server gives for searches like those of recall: id and score of each point. */
const scores = ({ apiKey, collection, url }: QdrantPlace, search: Parameters<QdrantClient["query"]>[1]) =>
  Effect.promise(async () => {
    const headers = apiKey === undefined ? {} : { headers: { "api-key": apiKey } }
    const client = new QdrantClient({ url, checkCompatibility: false, ...headers })
    const { points } = await client.query(collection, search)
    return points.map(({ id, score }) => ({ id: String(id), score: rounded(score) }))
  })

const filter = visibleTo(ada, "own")
const { indices, values } = sparseQuery(queryTerms("tide berth").map(({ term }) => term))
const words = {
  query: { indices: [...indices], values: [...values] },
  using: "bm25",
  filter,
  params: { idf: { corpus: filter } }
}

const onPlace = <A>(use: (place: QdrantPlace, using: string) => Effect.Effect<A>) =>
  Effect.gen(function* () {
    const place = yield* qdrantPlace
    return yield* Effect.gen(function* () {
      const recall = yield* Recall
      yield* recall.prepareVectors(north)
      yield* recall.apply(anAddress("bob"), [put("m/9/0", "tide berth lantern")], begin(1))
      yield* recall.apply(ada, day, begin(1))
      yield* recall.putVectors(
        north.id,
        day.map(({ entry: { id } }, at) => ({ address: ada, id, vector: vectors[at] ?? [] }))
      )
      const { config } = yield* Effect.promise(() =>
        new QdrantClient({
          url: place.url,
          checkCompatibility: false,
          ...(place.apiKey !== undefined && { headers: { "api-key": place.apiKey } })
        }).getCollection(place.collection)
      )
      const [using = ""] = Object.keys(config.params.vectors ?? {})
      return yield* use(place, using)
    }).pipe(Effect.provide(recallQdrantLayer(place)))
  }).pipe(Effect.scoped)

it.effect(`the score for words is the sum of rarity times weight, on ${qdrantPlaceName()}`, () =>
  onPlace((place) =>
    Effect.gen(function* () {
      const weights = day.map(({ entry }) => indexWeights(fieldsOf(entry)))
      const expected = day.flatMap(({ entry: { id } }, at) => {
        let score = 0
        for (const { term } of queryTerms("tide berth")) {
          const having = weights.filter((each) => each.has(term)).length
          score += rarity(day.length, having) * (weights[at]?.get(term) ?? 0)
        }
        return score === 0 ? [] : [{ id: pointId(ada, id), score: rounded(score) }]
      })
      const found = yield* scores(place, words)
      assert.deepStrictEqual(
        found.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
        expected.toSorted((a, b) => (a.id < b.id ? -1 : 1))
      )
    })
  )
)

it.effect(`how near that is which the words found is known, whatever else is nearer, on ${qdrantPlaceName()}`, () =>
  onPlace((place, using) =>
    Effect.gen(function* () {
      const meaning = { query: [1, 0], using, filter }
      const nearness = new Map((yield* scores(place, meaning)).map(({ id, score }) => [id, score]))
      const found = yield* scores(place, words)
      assert.isBelow(found.length, nearness.size)
      const known = yield* scores(place, { prefetch: [{ ...words, limit: 2 }], ...meaning, limit: 2 })
      const best = found.slice(0, 2).map(({ id }) => ({ id, score: nearness.get(id) }))
      assert.deepStrictEqual(
        known.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
        best.toSorted((a, b) => (a.id < b.id ? -1 : 1))
      )
    })
  )
)
