import { assert, describe, it } from "@effect/vitest"
import { runLane } from "./lane.ts"

describe("crash lane", () => {
  it("J1-J4 a dozen real kills lose, double and reorder nothing", { timeout: 120_000 }, async () => {
    const report = await runLane({ kills: 12, events: 144, seed: 7, progress: () => {} })
    assert.strictEqual(report.kills, 12)
    assert.isAtLeast(report.operations, 120)
    assert.deepInclude(report, { lost: 0, duplicated: 0, outOfOrder: 0, repeatedUnsafeTools: 0, notesLostOrDoubled: 0 })
    assert.isTrue(report.ok)
  })
})
