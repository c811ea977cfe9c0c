import { readFileSync } from "node:fs"
import { assert, describe, test } from "vitest"
import { linted } from "../../scripts/check/linted.ts"
import { judge, lineOf, type Outcome } from "../../scripts/check/step.ts"

const step = (outcome: Outcome) => ({ name: "planted", unit: "files", prove: () => Promise.resolve(outcome) })

describe("a step of the check", () => {
  test("S1 that examined nothing fails, and says so", async () => {
    const verdict = await judge(step({ ok: true, count: 0, output: "all is well" }))
    assert.isFalse(verdict.passed)
    assert.include(verdict.output, "planted examined no files")
  })

  test("S1 that found a fault fails, and one that found none passes", async () => {
    assert.isFalse((await judge(step({ ok: false, count: 3, output: "" }))).passed)
    assert.isTrue((await judge(step({ ok: true, count: 3, output: "" }))).passed)
  })

  test("prints its name, its time and its count on one line", async () => {
    const verdict = await judge(step({ ok: true, count: 312, output: "" }))
    assert.strictEqual(lineOf({ ...verdict, millis: 4_100 }), "planted        4.1 s    312 files")
    assert.match(lineOf({ ...verdict, passed: false }), /FAILED$/)
    assert.match(lineOf({ ...verdict, remark: "all of them" }), /312 files: all of them$/)
  })
})

test("npm run lint reads what the step lint reads, by the same rules", () => {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    readonly scripts: { readonly lint: string }
  }
  assert.strictEqual(manifest.scripts.lint.replaceAll("'", ""), ["oxlint", ...linted].join(" "))
})
