import { assert, describe, it } from "@effect/vitest"
import { effectiveMode } from "../src/index.ts"
import { DEFAULT_SEARCH_OPTIONS, searchModes, searchOptions } from "../src/search-options.ts"

describe("search options", () => {
  it("F107 mode, kinds of content and limit, each with a default", () => {
    assert.deepStrictEqual(searchOptions(), { mode: "fts", contentTypes: [], limit: 10 })
    assert.deepStrictEqual(searchOptions(), DEFAULT_SEARCH_OPTIONS)
    assert.deepStrictEqual(searchOptions({ mode: "hybrid", contentTypes: ["messages"], limit: 20 }), {
      mode: "hybrid",
      contentTypes: ["messages"],
      limit: 20
    })
    assert.deepStrictEqual(
      [0, -3, 2.9, NaN, Infinity].map((limit) => searchOptions({ limit }).limit),
      [1, 1, 2, 10, 10]
    )
  })

  it("F107 without an embedder every mode is words; with one, auto is the fusion of both", () => {
    assert.deepStrictEqual([...searchModes], ["fts", "vector", "hybrid", "auto"])
    assert.deepStrictEqual(
      searchModes.map((mode) => effectiveMode(mode, false)),
      ["fts", "fts", "fts", "fts"]
    )
    assert.deepStrictEqual(
      searchModes.map((mode) => effectiveMode(mode, true)),
      ["fts", "vector", "hybrid", "hybrid"]
    )
  })
})
