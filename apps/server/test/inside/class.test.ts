// Class: what a state counts as on the board is what the chart says of it.

import { chart, modes, type OutboxRow } from "reverie"
import { assert, describe, it } from "vitest"
import { Counts, modes as modesOfApi } from "../../src/api/index.ts"
import { Choice } from "../../src/board/choice.ts"
import { Counting, isStuck } from "../../src/board/counting.ts"
import { classOf, isDreamingIn, isWorkingIn, lookBackInto, type Row, tellRow } from "../../src/board/row.ts"

const leaves = chart().nodes.filter(({ kind }) => kind === "atomic" || kind === "final")

describe("class of a state", () => {
  it("every state counts as its activity, and every activity is counted", () => {
    const sums = new Set(["total", "stuck", "nearlyFull", "nearlySpent", "waiting"])
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

  it("a dream is stuck that no step has ended of for 15 minutes, however long it lasts in all", () => {
    const MINUTE = 60_000
    const step = (no: number, at: number): OutboxRow =>
      ({ entry: { no, at, tick: 1, epoch: 1, status: "dreaming.linking", messages: [] } }) as unknown as OutboxRow
    const rowIn = (state: string) =>
      ({
        state,
        isWorking: isWorkingIn(state),
        isDreaming: isDreamingIn(state),
        commits: 0,
        toldNo: 0,
        toldAt: 0,
        since: 0
      }) as Row
    const dreamer = rowIn("dreaming.linking")
    assert.isFalse(isStuck(dreamer, 90 * MINUTE))
    for (let no = 1; no <= 6; no++) tellRow(dreamer, step(no, no * 10 * MINUTE))
    assert.isFalse(isStuck(dreamer, 74 * MINUTE))
    assert.isTrue(isStuck(dreamer, 76 * MINUTE))
    const seenLater = rowIn("dreaming.linking")
    lookBackInto(seenLater, [step(1, MINUTE)])
    assert.isTrue(isStuck(seenLater, 17 * MINUTE))
    for (const path of ["dreaming.resting", "dreaming.pausing"]) {
      assert.isFalse(isStuck({ ...rowIn(path), toldAt: MINUTE }, 90 * MINUTE), path)
    }
  })

  it("whose window or budget is used up to four fifths is counted, and needs attention before one at rest", () => {
    const bound = (tokens: number | null) => ({ tokens, costMicros: null, calls: null })
    const amount = (tokens: number) => ({ tokens, costMicros: 0, calls: 0 })
    const rowOf = (id: string, more: Partial<Row>) =>
      ({ id, state: "awake.idle", class: "idle", since: 9, approvals: 0, waiting: 0, ...more }) as Row
    const spentOf = (tokens: number, reserved = 0) => ({
      budget: { granted: bound(100), spent: amount(tokens), reserved: amount(reserved) }
    })
    const rows = [
      rowOf("full", { contextShare: 0.8, since: 1 }),
      rowOf("roomy", { contextShare: 0.79 }),
      rowOf("spent", { ...spentOf(80), since: 3 }),
      rowOf("reserving", { ...spentOf(50, 30), since: 2 }),
      rowOf("thrifty", spentOf(79)),
      rowOf("retired", { ...spentOf(100), contextShare: 1, class: "retired" })
    ]
    const counting = new Counting(10)
    const choice = new Choice({ sort: "attention", isDescending: true, limit: 3 }, 10)
    for (const row of rows) {
      counting.take(row)
      choice.take(row)
    }
    const { nearlyFull, nearlySpent } = counting.counts
    assert.deepStrictEqual({ nearlyFull, nearlySpent }, { nearlyFull: 1, nearlySpent: 2 })
    assert.deepStrictEqual(
      choice.page().rows.map(({ id }) => id),
      ["spent", "reserving", "full"]
    )
  })

  it("by last error those who are halted stand where they were halted, as their row says", () => {
    const rowOf = (id: string, more: Partial<Row>) => ({ id, state: "halted", since: 5, ...more }) as Row
    const choice = new Choice({ sort: "errors", isDescending: true, limit: 3 }, 10)
    for (const row of [
      rowOf("failed", { lastError: { at: 7, message: "no" } }),
      rowOf("halted", { haltReason: "by order", since: 8, lastError: { at: 1, message: "no" } }),
      rowOf("halted-before", { haltReason: "by order", since: 6 })
    ])
      choice.take(row)
    assert.deepStrictEqual(
      choice.page().rows.map(({ id }) => id),
      ["halted", "failed", "halted-before"]
    )
  })
})
