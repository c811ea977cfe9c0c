// Checkpoints: what a replay goes on from, in a life of more than a thousand commits.

import { assert, describe, test } from "vitest"
import { UnreadableRecord } from "../src/index.ts"
import { replayIn } from "../src/fleet/replay.ts"
import { openFleet } from "./rig.ts"

const COMMITS = 1_100

describe("a replay of what is late in a life", () => {
  test(
    "R3 P4 goes on from a checkpoint, and tells what a replay from the creation tells, also behind a segment that is lost; forgetting takes checkpoints along",
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

      const rows = await fleet.history.entries("desk", 1, COMMITS)
      const kept = await fleet.memory.records("desk", ["checkpoint"])
      let first = Infinity
      const core = {
        address: (id: string) => ({ tenant: "default", assistant: id }),
        inspect: async () => ({ version: rows.length, state: { snapshot: null } }),
        entries: async (_: string, from: number, limit: number) => {
          first = Math.min(first, from)
          return rows.slice(from - 1, from - 1 + limit)
        },
        run: async () => kept.filter(({ key }) => key === "1000")
      }
      const late20 = await replayIn(core as never, undefined as never).page("desk", { from: 1_050, limit: 20 })
      assert.deepStrictEqual(
        late20.frames.map(({ hash, no }) => [no, hash]),
        whole.filter(({ no }) => no >= 1_050 && no < 1_070).map(({ hash, no }) => [no, hash])
      )
      assert.strictEqual(first, 1_001)

      // A segment is lost: what lies behind it and behind a checkpoint is verified still.
      const record = await fleet.inspect("desk")
      const all = await fleet.history.entries("desk", 1, 2 * COMMITS)
      const failure = { record: "entry", message: "segment 7 is missing", lost: { from: 700, to: 900 } }
      const lacking = (checkpoints: typeof kept) => ({
        address: core.address,
        inspect: async () => record,
        entries: async (_: string, from: number, limit: number) => {
          if (from <= 900 && from + limit > 700) throw new UnreadableRecord(failure)
          return all.slice(from - 1, from - 1 + limit)
        },
        run: async () => checkpoints.filter(({ key }) => key === "1000")
      })
      const verify = (checkpoints: typeof kept) =>
        replayIn(lacking(checkpoints) as never, undefined as never).verify("desk")
      const why = failure.message
      const unknown = [{ from: 700, to: 1_000, why }]
      assert.deepInclude(await verify(kept), { equal: true, commits: all.length - 301, mismatches: [], unknown })
      const rest = [{ from: 700, to: all.length, why }]
      assert.deepInclude(await verify([]), {
        equal: false,
        commits: 699,
        differences: [],
        mismatches: [],
        unknown: rest
      })

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
