import { isLong } from "@reverie/testkit/length"
import { placeOf } from "@reverie/testkit/servers"
import { assert, describe, it } from "@effect/vitest"
import { runApartLane } from "./apart.ts"

/** Of the 24 steps of a life. */
const KILLS = isLong ? 24 : 2

const isThere = placeOf("postgres", { own: true }).origin !== undefined
if (!isThere) console.warn("skipped without [own postgres]: the lane has a server of its own")

describe.skipIf(!isThere)("apart crash lane [own postgres]", () => {
  it(
    "A1-A4 a real kill at each step of putting segments apart from PostgreSQL, and of taking them away, loses nothing and leaves nothing",
    { timeout: 240_000 },
    async () => {
      const report = await runApartLane({ kills: KILLS, progress: () => {} })
      assert.deepStrictEqual(report.problems, [])
      assert.deepInclude(report, { kills: KILLS, ok: true })
    }
  )
})
