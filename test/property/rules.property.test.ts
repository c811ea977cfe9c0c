import { assert, describe, it } from "@effect/vitest"
import { benchRules } from "../bench/rules.ts"

describe("the times of rules", () => {
  it("O1, O2, O3: they are those of Temporal, in zones that change their clocks in six ways", async () => {
    const { compared, differences } = await benchRules(true)
    assert.deepStrictEqual(differences, [])
    assert.isAbove(compared, 10_000)
  })
})
