// Checkpoints: what a replay goes on from, in a life of more than a thousand commits.

import { assert, describe, test } from "vitest"
import { openFleet } from "./rig.ts"

const COMMITS = 1_100

describe("a replay of what is late in a life", () => {
  test(
    "R3 goes on from a checkpoint, and tells what a replay from the creation tells; forgetting takes checkpoints along",
    {
      timeout: 120_000
    },
    async () => {
      const fleet = await openFleet()
      const version = async () => (await fleet.history.entries("desk", COMMITS, 1)).length
      for (let said = 0; (await version()) === 0; said += 50) {
        for (let each = 0; each < 50; each++) {
          await fleet.send("desk", `Message ${said + each}.`, { from: each === 0 ? "Eve" : "Ann" })
        }
        await fleet.idle()
      }
      const keys = async () => (await fleet.memory.records("desk", ["checkpoint"])).map(({ key }) => key)
      assert.sameMembers(await keys(), ["500", "1000"])
      assert.notInclude(
        (await fleet.memory.records("desk")).map(({ kind }) => kind),
        "checkpoint"
      )
      const whole = await Array.fromAsync(fleet.replay.frames("desk", { snapshots: true }))
      for (const from of [2, 499, 500, 501, 777, 1_000, 1_001, 1_090]) {
        const { frames } = await fleet.replay.page("desk", { from, limit: 20, snapshots: true })
        assert.deepStrictEqual(
          frames,
          whole.filter(({ no }) => no >= from && no < from + 20)
        )
      }
      const { frames } = await fleet.replay.page("desk", { from: COMMITS, until: { tick: 3 } })
      assert.deepStrictEqual(frames, [])
      assert.deepInclude(await fleet.replay.verify("desk"), { equal: true })

      await fleet.forget({ person: "Eve" })
      assert.deepStrictEqual(await keys(), [])
      assert.deepInclude(await fleet.replay.verify("desk"), { equal: true })
      const late = await fleet.replay.page("desk", { from: 1_090, limit: 5 })
      assert.deepStrictEqual(
        late.frames.map(({ no }) => no),
        [1_090, 1_091, 1_092, 1_093, 1_094]
      )
      await fleet.close()
    }
  )
})
