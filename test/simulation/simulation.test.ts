// Whether the planted bugs are found, `npm run simulate` says.

import { assert, describe, it } from "@effect/vitest"
import { runWorld } from "@reverie/testkit/world"

/** Seeds that once failed, with what they found. */
const corpus: ReadonlyArray<readonly [seed: number, found: string]> = [
  [1, "a report's answer was filed under the iteration after the one that asked"]
]

describe("simulation", () => {
  it.each(corpus)("C1-C21 W3 seed %i stays clean: %s", (seed) => {
    assert.deepStrictEqual(runWorld(seed).violations, [])
  })

  it("W1 the same seed gives the same record, another seed another one", () => {
    assert.strictEqual(runWorld(7).trace, runWorld(7).trace)
    assert.notStrictEqual(runWorld(7).trace, runWorld(8).trace)
  })

  it("C1-C21 S1 ten worlds of workers that crash and lag behind are clean", () => {
    const worlds = Array.from({ length: 10 }, (_, index) => runWorld(10_000 + index))
    assert.deepStrictEqual(
      worlds.flatMap(({ seed, violations }) => violations.map((violation) => `seed ${seed}: ${violation}`)),
      []
    )
    for (const count of [
      "acknowledged",
      "crashes",
      "fenced",
      "facts",
      "compactions",
      "orderedCompactions",
      "subAgents",
      "outages",
      "stopped",
      "stoppedAsked"
    ] as const) {
      const sum = worlds.reduce((total, world) => total + world[count], 0)
      assert.isAbove(sum, 0, count)
    }
  })
})
