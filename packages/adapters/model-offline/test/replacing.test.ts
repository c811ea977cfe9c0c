import { assert, describe, it } from "@effect/vitest"
import { rowsFor } from "./asked.ts"
import { development, heldOut, type Pair } from "./replacing-pairs.ts"

const isReplaced = ([known, learnt]: Pair): boolean =>
  rowsFor("route", `[f1] ${learnt}`, `  [k1] ${known}`)[0]?.["action"] === "UPDATE"

const figuresOf = (pairs: ReadonlyArray<Pair>) => {
  const wanted = pairs.filter(([, , replaces]) => replaces)
  const found = pairs.filter(isReplaced)
  const right = found.filter(([, , replaces]) => replaces).length
  return { precision: right / found.length, recall: right / wanted.length }
}

describe("replacing", () => {
  it("R4 R5 R6 R7 of the pairs that the rules are made by each is judged as it is labelled", () => {
    for (const pair of development) assert.strictEqual(isReplaced(pair), pair[2], pair.slice(0, 2).join(" / "))
  })

  it("R4 R5 of those held out no wrong one is replaced, and nearly all of the others are", () => {
    const { precision, recall } = figuresOf(heldOut)
    assert.strictEqual(precision, 1)
    assert.isAtLeast(recall, 0.8)
  })

  it("R4 of several that are known the one is replaced whose value is another", () => {
    const [row] = rowsFor(
      "route",
      "[f1] Correction: Nora works at the airport, not at the shipyard",
      "  [k1] Nora works at the airport",
      "  [k2] Nora works at the shipyard"
    )
    assert.deepStrictEqual([row?.["action"], row?.["target"]], ["UPDATE", "k2"])
  })
})
