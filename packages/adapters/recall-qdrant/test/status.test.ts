import { assert, it } from "@effect/vitest"
import { Recall } from "@reverie/memory"
import { anAddress } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { applied, put, recallOn, withServer } from "./bench.ts"

const ada = anAddress("ada")
const north = { id: "north", dimensions: 2 }

it.effect("T1 a collection tells its state, form, models and how much it holds", () =>
  withServer((server) =>
    recallOn(
      server,
      Effect.gen(function* () {
        const recall = yield* Recall
        yield* recall.prepareVectors(north)
        yield* applied(ada, [put("m/1/0", "the tide is high"), put("m/2/0", "the ebb is low")], 2)
        yield* recall.putVectors(north.id, [{ address: ada, id: "m/1/0", vector: [1, 0] }])
        if (recall.status === undefined) return assert.fail("it tells nothing")
        const told = { kind: "qdrant", format: 2, newestFormat: 2, memories: 2, points: 3, vectors: 1, embedder: north }
        assert.deepStrictEqual(yield* recall.status, { ...told, state: "green", warnings: [] })
        server.tell({
          status: "red",
          optimizer_status: { error: "no space left on device" },
          warnings: [{ message: "a segment is large" }]
        })
        const warnings = ["no space left on device", "a segment is large"]
        assert.deepStrictEqual(yield* recall.status, { ...told, state: "red", warnings })
      })
    )
  )
)
