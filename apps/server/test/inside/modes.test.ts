import * as fc from "fast-check"
import { assert, describe, test } from "vitest"
import { modesOf } from "../../src/groups/assistant/timeline.ts"
import { asker, openFleet } from "./rig.ts"

const MINUTE = 60_000
const NOON = Date.parse("2026-03-20T12:00:00Z")
const statuses = ["awake.idle", "awake.thinking.inferring", "awake.acting.running", "dreaming.linking", "halted"]

describe("modes", () => {
  test("T2 each lasts to the next entry, the present one not yet, and nothing before the last hour counts", () => {
    const turns = [
      { at: NOON - 90 * MINUTE, status: "awake.idle" },
      { at: NOON - 30 * MINUTE, status: "awake.thinking.inferring" },
      { at: NOON - 20 * MINUTE, status: "awake.thinking.parked" },
      { at: NOON - 5 * MINUTE, status: "awake.idle" }
    ]
    const millis = { idle: 30 * MINUTE, thinking: 25 * MINUTE }
    assert.deepStrictEqual(modesOf(turns, NOON), { from: NOON - 60 * MINUTE, millis })
    assert.deepStrictEqual(modesOf(turns.slice(1), NOON).from, NOON - 30 * MINUTE)
    assert.deepStrictEqual(modesOf([], NOON), { from: NOON, millis: {} })
  })

  test("T2 together they are all of the time", () => {
    const gap = fc.integer({ min: 0, max: 20 * MINUTE })
    fc.assert(
      fc.property(fc.array(fc.tuple(gap, fc.constantFrom(...statuses)), { minLength: 1 }), gap, (steps, rest) => {
        let at = NOON
        const turns = steps.map(([passed, status]) => ({ at: (at += passed), status }))
        const { from, millis } = modesOf(turns, at + rest)
        assert.isAtMost(at + rest - from, 60 * MINUTE)
        assert.strictEqual(
          Object.values(millis).reduce((sum, each) => sum + each, 0),
          Math.max(0, at - from)
        )
      })
    )
  })

  test("of one that lives they are answered, and of a stranger not", async () => {
    await using fleet = await openFleet()
    await fleet.create("desk")
    await fleet.answer("desk", "Good morning.")
    const ask = asker(fleet)
    const { from, millis } = await ask("default", ({ timeline }) => timeline.modes({ params: { id: "desk" } }))
    assert.isAtMost(from, Date.now())
    assert.include(Object.keys(millis), "idle")
  })
})
