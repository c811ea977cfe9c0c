import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { assert, describe, test } from "vitest"
import { type Coverage, enteredIn } from "../../scripts/house/call-coverage.ts"
import { pathsReportOf, pathsTableOf } from "../../scripts/house/paths.ts"
import { writeTree } from "./made-up-tree.ts"

const called = (functionName: string, count: number, startOffset = 50): Coverage["functions"][number] => ({
  functionName,
  ranges: [{ startOffset, endOffset: 90, count }]
})

describe("files entered", () => {
  test("P1 a file is entered when one of its functions was called; being loaded is no call", () => {
    const script = (path: string, ...functions: Coverage["functions"]): Coverage => ({
      url: `file:///r/${path}`,
      functions: [called("", 1, 0), ...functions]
    })
    const entered = enteredIn(
      [
        script("packages/b/src/b.ts", called("run", 0), called("", 2)),
        script("apps/a/src/a.ts", called("go", 1)),
        script("packages/b/src/idle.ts", called("run", 0)),
        script("packages/b/src/loaded.ts"),
        script("packages/testkit/src/rig.ts", called("go", 1)),
        script("packages/b/test/b.ts", called("go", 1)),
        script("node_modules/effect/src/x.ts", called("go", 1)),
        { url: "node:fs", functions: [called("read", 1)] }
      ],
      "/r"
    )
    assert.deepStrictEqual(entered, ["apps/a/src/a.ts", "packages/b/src/b.ts"])
  })

  test("P1 P2 only what is called while it is watched counts, also of what was loaded and called before", async () => {
    const root = await writeTree({
      "packages/a/src/before.ts": "export const before = (): number => 1",
      "packages/a/src/both.ts": "export const both = (): number => 2\nexport const other = (): number => 3",
      "packages/a/src/within.ts": "export const within = (): number => 4",
      "packages/a/src/late.ts": "export const late = (): number => 5\nconst now = 1 + 1",
      "watch.ts": [
        `import { watchCalls } from ${JSON.stringify(join(import.meta.dirname, "../../scripts/house/call-coverage.ts"))}`,
        "const watching = await watchCalls()",
        `const { before } = await import("./packages/a/src/before.ts")`,
        `const { both } = await import("./packages/a/src/both.ts")`,
        `const { within } = await import("./packages/a/src/within.ts")`,
        "for (let n = 0; n < 100_000; n++) before() + both()",
        "await watching.begin()",
        "both()",
        "await Promise.resolve().then(within)",
        `await import("./packages/a/src/late.ts")`,
        "process.stdout.write(JSON.stringify(await watching.entered(import.meta.dirname)))"
      ].join("\n")
    })
    const said = execFileSync(process.execPath, [join(root, "watch.ts")], { encoding: "utf8" })
    assert.deepStrictEqual(JSON.parse(said), ["packages/a/src/both.ts", "packages/a/src/within.ts"])
  })
})

describe("the report of the paths", () => {
  const files = (count: number) => Array.from({ length: count }, (_, index) => `packages/a/src/f${index}.ts`)

  test("P3 is well up to each bound, and not beyond it", () => {
    assert.deepStrictEqual(pathsReportOf({ answer: files(80), dream: files(95), task: files(120) }).missed, [])
    assert.deepStrictEqual(pathsReportOf({ answer: files(81), dream: files(96), task: files(121) }).missed, [
      "one short answer: 81, at most 80",
      "one dream: 96, at most 95",
      "one delegated task: 121, at most 120"
    ])
  })

  test("P3 is not well when a piece of work entered nothing", () => {
    const report = pathsReportOf({ answer: [], dream: files(1), task: files(1) })
    assert.isFalse(report.ok)
    assert.deepStrictEqual(report.missed, ["one short answer: examined nothing"])
  })

  test("P4 groups the files by their package", () => {
    const one = ["apps/c/src/c.ts", "packages/a/src/a.ts", "packages/a/src/deep/b.ts", "packages/adapters/d/src/d.ts"]
    const report = pathsReportOf({ answer: one, dream: one, task: one })
    assert.deepStrictEqual(report.paths["answer"]?.packages, {
      "packages/a": ["packages/a/src/a.ts", "packages/a/src/deep/b.ts"],
      "apps/c": ["apps/c/src/c.ts"],
      "packages/adapters/d": ["packages/adapters/d/src/d.ts"]
    })
    assert.strictEqual(Object.keys(report.paths["answer"]?.packages ?? {})[0], "packages/a")
    assert.include(pathsTableOf(report), "deep/b.ts")
  })
})
