import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

const items = ["LLM", "ASI"].flatMap((list) =>
  Array.from({ length: 10 }, (_, index) => `${list}${String(index + 1).padStart(2, "0")}`)
)

describe("docs/SECURITY.md", () => {
  it("names one test for each item of both lists, and that test is there", () => {
    const rows = [...read("docs/SECURITY.md").matchAll(/^\| ((?:LLM|ASI)\d\d) .*\| \[`(.+?)`\]\((.+?)\) \|$/gm)]
    assert.deepStrictEqual(
      rows.map(([, item]) => item),
      items
    )
    for (const [, item, named, path] of rows) {
      assert.strictEqual(named, item)
      const titles = [...read(`docs/${path ?? ""}`).matchAll(/\bit\("(\w+) /g)].filter(([, title]) => title === item)
      assert.strictEqual(titles.length, 1, `${item} in ${path}`)
    }
  })
})
