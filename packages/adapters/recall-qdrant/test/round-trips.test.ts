import { assert, it } from "@effect/vitest"
import { inRounds, Recall, type SearchKind } from "@reverie/memory"
import { anAddress } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { applied, asking, lines, put, recallOn, withServer } from "./bench.ts"

const ada = anAddress("ada")
const north = { id: "north", dimensions: 2 }
const south = { id: "south", dimensions: 2 }

/** An index with two entries that have vectors. */
const filled = Effect.gen(function* () {
  const recall = yield* Recall
  yield* recall.prepareVectors(north)
  yield* applied(ada, [put("m/1/0", "the doctor is at the berth"), put("m/2/0", "the ship has a lantern")], 1)
  const vectors = ["m/1/0", "m/2/0"].map((id, at) => ({ address: ada, id, vector: at === 0 ? [1, 0] : [0, 1] }))
  yield* recall.putVectors(north.id, vectors)
})

it.effect.each(["fts", "vector", "hybrid"] as ReadonlyArray<SearchKind>)(
  "Q2 a search is one request, and so are both rounds of a question: %s",
  (search) =>
    withServer((server) =>
      recallOn(
        server,
        Effect.gen(function* () {
          const recall = yield* Recall
          yield* filled
          const query = asking("Where is the doctor?", { search, vector: [1, 0] })
          const askedFor = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
            const from = server.requests.length
            const found = yield* effect
            return { found, asked: lines(server, from) }
          })
          const without = { exclude: ["context"] }
          const once = yield* askedFor(recall.search(ada, query))
          assert.deepStrictEqual(once.asked, ["POST points/query/batch"])
          assert.isNotEmpty(once.found)
          const { searches } = Object(server.requests.at(-1)?.body)
          assert.isNotEmpty(searches)
          for (const each of searches) assert.deepStrictEqual(each.with_payload, without)
          const { searchInRounds } = recall
          if (searchInRounds === undefined) return assert.fail("it has no search in rounds")
          const both = yield* askedFor(searchInRounds(ada, query))
          assert.deepStrictEqual(both.asked, ["POST points/query/batch"])
          const apart = yield* askedFor(inRounds(query, (each) => recall.search(ada, each)))
          assert.deepStrictEqual(both.found, apart.found)
          assert.lengthOf(apart.asked, search === "vector" ? 1 : 2)
        })
      )
    )
)

it.effect("Q3 a model that another process has changed costs one question its vector, and no answer", () =>
  withServer((server) =>
    recallOn(
      server,
      Effect.gen(function* () {
        const recall = yield* Recall
        yield* filled
        const query = asking("the doctor", { search: "hybrid", vector: [1, 0] })
        assert.isDefined((yield* recall.search(ada, query))[0]?.why.vector)
        yield* recallOn(
          server,
          Effect.gen(function* () {
            const other = yield* Recall
            yield* other.prepareVectors(south)
            yield* other.putVectors(south.id, [{ address: ada, id: "m/1/0", vector: [1, 0] }])
            yield* other.promoteVectors(south.id)
          })
        )
        const [hit] = yield* recall.search(ada, query)
        assert.deepStrictEqual([hit?.entry.id, hit?.why.vector], ["m/1/0", undefined])
        // The vectors of the new model are compared from the next question on.
        assert.isDefined((yield* recall.search(ada, query))[0]?.why.vector)
      })
    )
  )
)
