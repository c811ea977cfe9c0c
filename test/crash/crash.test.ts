import { assert, describe, it } from "@effect/vitest"
import { runFallbackLane } from "./fallback.ts"
import { runLane } from "./lane.ts"

describe("crash lane", () => {
  it(
    "J1-J5 six real kills, some of them at named points, lose, double and reorder nothing, and each asker learns one end",
    { timeout: 120_000 },
    async () => {
      const report = await runLane({ kills: 6, events: 72, seed: 7, progress: () => {} })
      assert.strictEqual(report.kills, 6)
      assert.isAtLeast(report.operations, 60)
      assert.deepInclude(report, {
        lost: 0,
        duplicated: 0,
        outOfOrder: 0,
        repeatedUnsafeTools: 0,
        notesLostOrDoubled: 0,
        endedTwice: 0,
        askersUnanswered: 0
      })
      assert.isAbove(report.stopped, 0)
      const named = Object.keys(report.killsByPoint).filter((point) => point !== "no-name")
      assert.isNotEmpty(named)
      assert.isTrue(report.ok)
    }
  )

  it(
    "F1-F4 nine kills between the models of four wires and around them: no thought is lost or doubled, no unsafe tool runs twice",
    { timeout: 120_000 },
    async () => {
      const report = await runFallbackLane({ kills: 9, events: 117, seed: 3, progress: () => {} })
      assert.deepInclude(report, {
        kills: 9,
        lost: 0,
        duplicated: 0,
        outOfOrder: 0,
        repeatedUnsafeTools: 0,
        notesLostOrDoubled: 0,
        lostThoughts: 0,
        doubledThoughts: 0,
        refusedRequests: []
      })
      assert.isAbove(report.fallbacks, 20)
      assert.isTrue(report.ok)
    }
  )
})
