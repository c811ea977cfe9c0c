import { assert, describe, it } from "@effect/vitest"
import { compactionPhases, dreamOperations } from "@reverie/assistant"
import { runNightLane } from "./night.ts"

/** Far more than any state has: one kill in each. */
const ONE_EACH = 1_000

describe("night crash lane", () => {
  it(
    "N3-N7 F49: a real kill in each operation of a dream and each phase of a compaction loses and doubles no memory",
    { timeout: 180_000 },
    async () => {
      const report = await runNightLane({ stride: ONE_EACH, progress: () => {} })
      assert.deepStrictEqual([report.different, report.missed], [[], []])
      assert.isAtLeast(report.kills, dreamOperations.length + compactionPhases.length)
      assert.isAtLeast(report.kept["compaction"] ?? 0, 2)
      assert.isTrue(report.ok)
    }
  )
})
