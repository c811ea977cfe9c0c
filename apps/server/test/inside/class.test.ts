// Class: what a state counts as on the board is what the chart says of it.

import { chart, modes } from "reverie"
import { assert, describe, it } from "vitest"
import { Counts, modes as modesOfApi } from "../../src/api/index.ts"
import { classOf, isWorkingIn } from "../../src/board/row.ts"

const leaves = chart().nodes.filter(({ kind }) => kind === "atomic" || kind === "final")

describe("class of a state", () => {
  it("every state counts as its activity, and every activity is counted", () => {
    const sums = new Set(["total", "stuck", "waiting"])
    const counted = Object.keys(Counts.fields).filter((name) => !sums.has(name))
    assert.sameMembers([...new Set(leaves.map(({ path }) => classOf(path)))], counted)
    for (const { activity, path } of leaves) assert.strictEqual(classOf(path), activity, path)
  })

  it("what may be stuck is busy and no dream", () => {
    for (const { path, tags } of leaves) {
      const works = tags.includes("busy") && !path.startsWith("dreaming")
      assert.strictEqual(isWorkingIn(path), works, path)
    }
    for (const path of [
      "awake.thinking.parked",
      "awake.awaitingApproval",
      "awake.idle",
      "dreaming.linking",
      "halted"
    ]) {
      assert.isFalse(isWorkingIn(path), path)
    }
    for (const path of [
      "awake.assessing.weighing",
      "awake.thinking.inferring",
      "awake.acting",
      "compacting.replacing"
    ]) {
      assert.isTrue(isWorkingIn(path), path)
    }
  })

  it("the modes of the API are the outermost states of the chart", () => {
    assert.deepStrictEqual([...modesOfApi], [...modes])
  })
})
