import { assert, describe, test } from "@effect/vitest"
import { recallSqliteLayer } from "@reverie/recall-sqlite"
import { everybodyFindsHisOwn } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { packed } from "../src/search/matrices.ts"
import { recallTuned } from "../src/recall.ts"
import { TINY } from "./tiny.ts"
import { IN_MEMORY } from "../src/connection.ts"

const layers = {
  "as usual": () => recallSqliteLayer(IN_MEMORY),
  "in tiny segments": () => recallTuned(IN_MEMORY, {}, { sizes: TINY })
}

for (const [name, layer] of Object.entries(layers)) {
  test(`I1 anyone who is in the crowd, everybody finds exactly what he may read, ${name}`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 - 1 }), (seed) =>
        Effect.runPromise(everybodyFindsHisOwn(seed).pipe(Effect.provide(layer(), { local: true })))
      ),
      { numRuns: 25 }
    )
  })
}

describe("what is kept is nearly what was given", () => {
  test("M2 the numbers of a vector are at most half a hundredth of the largest off", () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -10, max: 10, noNaN: true }), { minLength: 1, maxLength: 64 }),
        (vector) => {
          const most = Math.max(...vector.map(Math.abs))
          const kept = new Int8Array(packed(vector).buffer)
          for (const [index, value] of vector.entries()) {
            assert.isAtMost(Math.abs(((kept[index] ?? 0) / 127) * most - value), most / 200 + Number.EPSILON)
          }
        }
      )
    )
  })
})
