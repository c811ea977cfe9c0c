import { assert, describe, test } from "vitest"
import { citationsIn, type Results, rowsIn } from "../../scripts/features/citations.ts"
import { coverageOf, type Enforced, tableOf } from "../../scripts/features/coverage.ts"
import { enforcedRows, type Row, rows } from "../../scripts/features/rows.ts"

const row = (number: number): string => `F${number}`

/** Results of one file; a title is a path of groups and the test. */
const results = (...outcomes: ReadonlyArray<readonly [path: ReadonlyArray<string>, status: string]>): Results => ({
  testResults: [
    {
      name: "/repo/packages/a/test/a.test.ts",
      assertionResults: outcomes.map(([path, status]) => ({
        ancestorTitles: path.slice(0, -1),
        title: path.at(-1) ?? "",
        status
      }))
    }
  ]
})

const planted: ReadonlyArray<Row> = [
  { id: row(1), issue: 3, title: "one" },
  { id: row(2), issue: 3, title: "two" },
  { id: row(3), issue: 4, title: "three" }
]
const all: Enforced = { issues: [3], rows: [] }
const cover = (given: Results, enforced: Enforced = all) => coverageOf(planted, citationsIn(given, "/repo/"), enforced)

describe("rows in a title", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<number>]> = [
    ["F109 the limit", [109]],
    ["the limit (F109), A29", [109]],
    ["F9, F10 and F9 again", [9, 10]],
    ["F5-F9 sets", [5, 6, 7, 8, 9]],
    ["F5–F7: sets", [5, 6, 7]],
    ["F5 - F7", [5, 6, 7]],
    ["F7-F5 backwards", [5, 7]],
    ["F5-7", [5]],
    ["F1000, XF10, F10x, f10, F, UTF8, F_1", []]
  ]
  for (const [index, [title, numbers]] of cases.entries()) {
    test(`C1 case ${index}: whole words and ranges`, () => {
      assert.deepStrictEqual(rowsIn(title), numbers.map(row))
    })
  }
})

describe("citations", () => {
  test("C2 are named by file, groups and title, and count what a group cites", () => {
    const { cited, tests } = citationsIn(
      results([["group " + row(2), "works"], "passed"], [["other"], "passed"]),
      "/repo/"
    )
    assert.strictEqual(tests, 2)
    assert.deepStrictEqual(cited, [
      { row: row(2), test: `packages/a/test/a.test.ts > group ${row(2)} > works`, status: "passed" }
    ])
  })

  test("C2 of a test that was skipped are none", () => {
    const { cited, tests } = citationsIn(
      results([[row(1)], "skipped"], [[row(1)], "pending"], [[row(1)], "todo"]),
      "/repo/"
    )
    assert.deepStrictEqual([cited.length, tests], [0, 0])
  })
})

describe("coverage", () => {
  test("V1 is well when every enforced row has a test that passed", () => {
    const { missing, ok, open, rows: covered } = cover(results([[`${row(1)}-${row(2)} both`], "passed"]))
    assert.isTrue(ok)
    assert.deepStrictEqual(missing, [])
    assert.deepStrictEqual(open, { "4": [row(3)] })
    assert.deepStrictEqual(
      covered.map(({ enforced, tests }) => [enforced, tests.length]),
      [
        [true, 1],
        [true, 1],
        [false, 0]
      ]
    )
  })

  test("V1 a test that failed proves nothing, and is named", () => {
    const { failed, missing, ok } = cover(results([[row(1)], "passed"], [[row(2)], "failed"]))
    assert.isFalse(ok)
    assert.deepStrictEqual(missing, [row(2)])
    assert.deepStrictEqual(failed, [`packages/a/test/a.test.ts > ${row(2)}`])
  })

  test("V2 is not well without a test of an enforced row, named alone or with its issue", () => {
    const given = results([[row(1)], "passed"])
    assert.deepStrictEqual(cover(given).missing, [row(2)])
    assert.isTrue(cover(given, { issues: [], rows: [row(1)] }).ok)
    assert.isFalse(cover(given, { issues: [], rows: [row(3)] }).ok)
    assert.deepStrictEqual(cover(given, { issues: [], rows: [] }).open, { "3": [row(2)], "4": [row(3)] })
  })

  test("V2 is not well when a title cites a row that there is not", () => {
    const { faults, ok } = cover(results([[`${row(1)} ${row(2)}`], "passed"], [[row(4)], "passed"]))
    assert.isFalse(ok)
    assert.deepStrictEqual(faults, [`there is no row ${row(4)}, cited by packages/a/test/a.test.ts > ${row(4)}`])
  })

  test("V2 is not well when nothing was run", () => {
    assert.isFalse(cover({ testResults: [] }, { issues: [], rows: [] }).ok)
  })

  test("is reported as a table that ends with what is missing", () => {
    const table = tableOf(cover(results([[row(1)], "passed"]))).split("\n")
    assert.strictEqual(table[0], `${row(1)}    issue 3     1 tests  * one`)
    assert.deepStrictEqual(table.slice(4), [
      "* must have a test; 1 of 3 rows have one",
      `without a test: ${row(2)}`,
      `open for issue 4: ${row(3)}`
    ])
  })
})

describe("the rows", () => {
  test("are 121, numbered without a gap, each with a title of its own", () => {
    assert.deepStrictEqual(
      rows.map(({ id }) => id),
      Array.from({ length: 121 }, (_, index) => row(index + 1))
    )
    assert.strictEqual(new Set(rows.map(({ title }) => title)).size, 121)
  })

  test("belong to the issues that deliver them", () => {
    const of = (issue: number) => rows.filter((each) => each.issue === issue).map(({ id }) => id)
    const [compaction, blocks, builder] = [`${row(47)}-${row(65)}`, `${row(89)}-${row(102)}`, [105, 106, 108].map(row)]
    assert.deepStrictEqual(of(4), rowsIn([compaction, row(83), blocks, ...builder].join(" ")))
    assert.strictEqual(of(3).length + of(4).length, 111)
  })

  test("that are enforced by name exist", () => {
    for (const id of enforcedRows)
      assert.isTrue(
        rows.some((each) => each.id === id),
        id
      )
  })
})
