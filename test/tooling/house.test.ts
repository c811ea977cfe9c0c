import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { assert, describe, test } from "vitest"
import { type Files, manifest, writeTree } from "./made-up-tree.ts"

const main = join(import.meta.dirname, "../../scripts/house.ts")
const run = (...args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], { encoding: "utf8" })

const chart = (guard: string): string =>
  `export const chartOf = () => ({ edges: [{ from: "a", event: "b", guard: ${JSON.stringify(guard)}, actions: [] }] })`

const treeWith = (guard: string): Files => ({
  "packages/assistant/package.json": manifest("@x/assistant"),
  "packages/assistant/src/index.ts": chart(guard),
  "apps/a/src/a.ts": `import { chartOf } from "@x/assistant"\nchartOf()`
})

describe("the command", () => {
  test("M8 ends with 0 and one JSON object where every bound holds", async () => {
    const { status, stdout } = run("--json", "--root", await writeTree(treeWith("isOpen")))
    const report = JSON.parse(stdout) as { readonly ok: boolean; readonly missed: ReadonlyArray<string> }
    assert.deepStrictEqual(report.missed, [])
    assert.isTrue(report.ok)
    assert.strictEqual(status, 0)
  })

  test("M8 ends with 1 and a line for each missed bound, the chart's included", async () => {
    const { status, stdout } = run("--root", await writeTree(treeWith("guard")))
    assert.include(stdout, "unlabelled edges: 1, at most 0")
    assert.strictEqual(status, 1)
  })

  test("M9 ends with 1 where there is nothing to measure, and with 2 where it is asked wrongly", async () => {
    const { status, stdout } = run("--root", await writeTree({ "README.md": "" }))
    assert.include(stdout, "source: examined nothing")
    assert.strictEqual(status, 1)
    assert.strictEqual(run("--bounds").status, 2)
  })
})
