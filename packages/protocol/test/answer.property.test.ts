import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { linesIn, listIn, rowsIn } from "../src/index.ts"

describe("answer", () => {
  it("I1 never throws, and gives up on garbage soon", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("[", "]", "{", "}", '"', "\\", ":", ",", "a", "1") }), (text) => {
        assert.isArray(rowsIn(text, "a"))
        assert.isArray(listIn(text) ?? linesIn(text))
      }),
      { seed: 4_711 }
    )
    assert.deepStrictEqual(rowsIn("{".repeat(200_000), "id"), [])
  })
})
