import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { root } from "../../scripts/check/program.ts"
import { mutants } from "../../scripts/features/mutants/index.ts"
import { flawOf, mutated } from "../../scripts/features/mutants/mutant.ts"
import { rows } from "../../scripts/features/rows.ts"

describe("the mutants of the rows", () => {
  it("M1 each row has one, and each can be made of the tree as it is", () => {
    assert.isAbove(mutants.length, 0)
    assert.deepStrictEqual(
      mutants.flatMap((mutant) => flawOf(mutant, root) ?? []),
      []
    )
    const broken = new Set(mutants.map(({ row }) => row))
    assert.deepStrictEqual(
      rows.flatMap(({ id }) => (broken.delete(id) ? [] : [id])),
      []
    )
    assert.deepStrictEqual([...broken], [])
  })

  it("M1 no two of them are one", () => {
    const breaks = mutants.map(({ file, find, put }) => JSON.stringify([file, find, put]))
    assert.deepStrictEqual(
      breaks.filter((each, at) => breaks.indexOf(each) !== at),
      []
    )
  })

  it("M1 what stands nowhere or twice, changes nothing, or is in no file is a flaw", () => {
    const folder = mkdtempSync(join(tmpdir(), "reverie-mutant-"))
    try {
      writeFileSync(join(folder, "a.ts"), "one two two")
      const mutant = { row: "F1", file: "a.ts", find: "one", put: "$&" }
      assert.isUndefined(flawOf(mutant, folder))
      assert.strictEqual(mutated(mutant, "one two two"), "$& two two")
      for (const flawed of [{ find: "three" }, { find: "two" }, { find: "" }, { put: "one" }, { file: "b.ts" }]) {
        assert.match(flawOf({ ...mutant, ...flawed }, folder) ?? "", /^F1: /)
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
