import { assert, describe, it } from "@effect/vitest"
import { runWorld } from "@reverie/testkit/world"
import { campaign } from "./campaign.ts"

/** Seeds that once failed, with what they found. */
const corpus: ReadonlyArray<readonly [seed: number, found: string]> = [
  [1, "a report's answer was filed under the iteration after the one that asked"]
]

describe("simulation", () => {
  it.each(corpus)("C1-C8 W3 seed %i stays clean: %s", (seed) => {
    assert.deepStrictEqual(runWorld(seed).violations, [])
  })

  it("W1 the same seed gives the same record, another seed another one", () => {
    assert.strictEqual(runWorld(7).trace, runWorld(7).trace)
    assert.notStrictEqual(runWorld(7).trace, runWorld(8).trace)
  })

  it("C1-C8 S1 a short campaign is clean and finds every planted bug", { timeout: 120_000 }, () => {
    const report = campaign(10_000, 60)
    assert.deepStrictEqual(report.failures, [])
    assert.deepStrictEqual(
      Object.entries(report.plantedBugs).filter(([, seed]) => seed === null),
      []
    )
    assert.isTrue(report.ok)
  })
})
