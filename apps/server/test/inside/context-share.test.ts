// The share of the context window in a list: what an operator acts upon.

import { assert, describe, it } from "@effect/vitest"
import type { OutboxRow } from "reverie"
import { lookBackInto, type Row, shownOf, tellRow } from "../../src/board/row.ts"

const entry = (no: number, step: object | undefined): OutboxRow =>
  ({ entry: { no, at: no, tick: 1, epoch: 1, status: "awake.idle", messages: [], step } }) as unknown as OutboxRow

const call = (no: number, tokens: number): OutboxRow =>
  entry(no, { kind: "infer", ok: true, detail: { context: { tokens, share: tokens / 10_000 } } })

const compaction = (no: number, before: number, after: number): OutboxRow =>
  entry(no, { kind: "compact", ok: true, detail: { tokens_before: before, tokens_after: after } })

const row = (): Row => ({ state: "awake.idle", commits: 0, toldNo: 0, toldState: "", toldSince: 0, since: 0 }) as Row

const shareAfter = (...told: ReadonlyArray<OutboxRow>): number | undefined => {
  const one = row()
  for (const each of told) tellRow(one, each)
  return shownOf(one).contextShare
}

describe("context share of a row", () => {
  it("falls with the compaction, not with the next prompt", () => {
    assert.strictEqual(shareAfter(call(1, 9_200)), 0.92)
    assert.closeTo(shareAfter(call(1, 9_200), compaction(2, 4_800, 1_600)) ?? 1, 0.6, 1e-9)
    assert.strictEqual(shareAfter(call(1, 9_200), compaction(2, 4_800, 1_600), call(3, 5_200)), 0.52)
    assert.strictEqual(shareAfter(call(1, 1_000), compaction(2, 4_800, 1_600)), 0)
  })

  it("other steps of a compaction, and of one that no prompt came before, tell nothing", () => {
    assert.strictEqual(shareAfter(call(1, 9_200), entry(2, { kind: "compact", ok: true, detail: {} })), 0.92)
    assert.strictEqual(shareAfter(compaction(1, 4_800, 1_600)), undefined)
  })

  it("is the same for one who looks back", () => {
    const one = row()
    lookBackInto(one, [call(1, 9_200), compaction(2, 4_800, 1_600)])
    assert.closeTo(shownOf(one).contextShare ?? 1, 0.6, 1e-9)
  })
})
