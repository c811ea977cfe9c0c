import { assert, describe, it } from "@effect/vitest"
import { runMonthsLane } from "./months.ts"

/** One in each place. */
const KILLS = 12
const KILLS_APART = 2

describe("months crash lane", () => {
  it(
    "M1-M5 a real kill in each step of talk, dream, archiving and each kind of forgetting loses nothing and halves nothing",
    { timeout: 240_000 },
    async () => {
      const report = await runMonthsLane({ kills: KILLS, seed: 7, progress: () => {} })
      assert.deepStrictEqual([report.problems, report.missed, report.unreached], [[], [], 0])
      assert.strictEqual(report.kills, KILLS)
      assert.isTrue(report.ok)
    }
  )

  it(
    "M4 a real kill while segments are put into a directory apart, and taken away, loses nothing and leaves nothing there",
    { timeout: 240_000 },
    async () => {
      const report = await runMonthsLane({ kills: KILLS_APART, seed: 11, apart: true, progress: () => {} })
      assert.deepStrictEqual([report.problems, report.unreached], [[], 0])
      assert.strictEqual(report.kills, KILLS_APART)
    }
  )
})
