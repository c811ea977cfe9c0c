import { assert, describe, it } from "@effect/vitest"
import { placeOf } from "@reverie/testkit/servers"
import { runMonthsLane } from "./months.ts"

/** One in each place. */
const KILLS = 12
const KILLS_APART = 2
const KILLS_POSTGRES = 2

const isPostgresMissing = placeOf("postgres", { own: true }).origin === undefined
if (isPostgresMissing) console.warn("skipped without [own postgres]: the months of a fleet that lies in a database")

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

  it.skipIf(isPostgresMissing)(
    "M1-M4 where everything lies in a database, a real kill loses nothing and halves nothing there either",
    { timeout: 240_000 },
    async () => {
      const report = await runMonthsLane({ kills: KILLS_POSTGRES, seed: 7, postgres: true, progress: () => {} })
      assert.deepStrictEqual(report.problems, [])
      // What the store and the index ask for in the background makes the number of steps another one now and then.
      assert.strictEqual(report.kills + report.unreached, KILLS_POSTGRES)
      assert.isAbove(report.kills, 0)
    }
  )
})
