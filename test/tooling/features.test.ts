import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, test } from "vitest"
import { root } from "../../scripts/check/program.ts"
import { filesOfRepository } from "../architecture/repository.ts"
import { drivesFleet, provingIn } from "../../scripts/features/proving.ts"
import { citationsIn, type Results, rowsIn } from "../../scripts/features/citations.ts"
import { coverageOf, type Enforced, tableOf } from "../../scripts/features/coverage.ts"
import { enforcedRows, type Row, rows } from "../../scripts/features/rows.ts"

const row = (number: number): string => `F${number}`

const FLEET = "packages/reverie/test/a.test.ts"

type Outcomes = ReadonlyArray<readonly [path: ReadonlyArray<string>, status: string]>

/** Results of one file that drives a fleet; a title is a path of groups and the test. */
const results = (...outcomes: Outcomes): Results => resultsOf(FLEET, ...outcomes)

const resultsOf = (file: string, ...outcomes: Outcomes): Results => ({
  testResults: [
    {
      name: `/repo/${file}`,
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
    assert.deepStrictEqual(cited, [{ row: row(2), test: `${FLEET} > group ${row(2)} > works`, status: "passed" }])
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
    assert.deepStrictEqual(failed, [`${FLEET} > ${row(2)}`])
  })

  test("V2 is not well without a test of an enforced row, named alone or with its issue", () => {
    const given = results([[row(1)], "passed"])
    assert.deepStrictEqual(cover(given).missing, [row(2)])
    assert.isTrue(cover(given, { issues: [], rows: [row(1)] }).ok)
    assert.isFalse(cover(given, { issues: [], rows: [row(3)] }).ok)
    assert.deepStrictEqual(cover(given, { issues: [], rows: [] }).open, { "3": [row(2)], "4": [row(3)] })
  })

  test("V2 is not well where only a test of a room proves an enforced row, and tells which drive a fleet", () => {
    const inRoom = resultsOf("packages/runtime/test/a.test.ts", [[row(1)], "passed"], [[row(2)], "passed"])
    const both = { testResults: [...inRoom.testResults, ...results([[row(1)], "passed"]).testResults] }
    const { missing, ok, rows: covered, withoutFleet } = cover(both)
    assert.isFalse(ok)
    assert.deepStrictEqual([missing, withoutFleet], [[], [row(2)]])
    assert.deepStrictEqual(
      covered.map(({ fleet, fleetTests, tests }) => [fleet, fleetTests, tests.length]),
      [
        [true, [`${FLEET} > ${row(1)}`], 2],
        [false, [], 1],
        [false, [], 0]
      ]
    )
    assert.include(tableOf(cover(both)), `without a test of a running fleet: ${row(2)}`)
  })

  test("V2 is not well when a title cites a row that there is not", () => {
    const { faults, ok } = cover(results([[`${row(1)} ${row(2)}`], "passed"], [[row(4)], "passed"]))
    assert.isFalse(ok)
    assert.deepStrictEqual(faults, [`there is no row ${row(4)}, cited by ${FLEET} > ${row(4)}`])
  })

  test("V2 is not well when nothing was run", () => {
    assert.isFalse(cover({ testResults: [] }, { issues: [], rows: [] }).ok)
  })

  test("is reported as a table that ends with what is missing", () => {
    const table = tableOf(cover(results([[row(1)], "passed"]))).split("\n")
    assert.strictEqual(table[0], `${row(1)}    issue 3     1 tests    1 of a fleet  * one`)
    assert.deepStrictEqual(table.slice(4), [
      "* must have a test of a running fleet; 1 of 3 rows have one",
      `without a test: ${row(2)}`,
      `without a test of a running fleet: ${row(2)}`,
      `open for issue 4: ${row(3)}`
    ])
  })
})

describe("the files that prove", () => {
  const driving: ReadonlyArray<readonly [string, boolean]> = [
    ["packages/reverie/test/pattern.test.ts", true],
    ["packages/reverie/test/rows/kinds.test.ts", true],
    ["apps/cli/test/compact.test.ts", true],
    ["apps/server/test/inside/prompts.test.ts", true],
    ["examples/harbor/test/day.test.ts", true],
    ["test/journey/work.test.ts", true],
    ["test/night/day-and-night.test.ts", true],
    ["test/replay/compacting.test.ts", true],
    ["packages/reverie/test/spans.property.test.ts", false],
    ["packages/runtime/test/compact.test.ts", false],
    ["packages/context/test/builder.test.ts", false],
    ["packages/adapters/store-sqlite/test/store.laws.test.ts", false],
    ["test/tooling/features.test.ts", false],
    ["packages/reverie/src/testing/evals.ts", false]
  ]
  for (const [file, isDriving] of driving) {
    test(`P2 ${file} ${isDriving ? "drives" : "does not drive"} a running fleet`, () => {
      assert.strictEqual(drivesFleet(file), isDriving)
    })
  }

  test("P1 a file can prove what its titles cite and what the laws cite that it runs, through other lists too", () => {
    const tree = mkdtempSync(join(tmpdir(), "reverie-proving-"))
    const laws = "packages/testkit/src/laws"
    const files: Readonly<Record<string, string>> = {
      [`${laws}/store-laws.ts`]: 'import { more } from "./more-laws.ts"\nexport const storeLaws: X = [...more]',
      [`${laws}/more-laws.ts`]: `export const more: X = [{ says: "${row(7)}: kept" }]`,
      [`${laws}/other-laws.ts`]: `export const otherLaws = [{ says: "${row(8)}: other" }]`,
      "a/store.laws.test.ts": 'import { anything, storeLaws } from "@reverie/testkit"',
      "a/plain.test.ts": `it("${row(9)} works")`,
      "a/none.test.ts": 'import { otherLaw } from "@reverie/testkit"'
    }
    try {
      for (const [file, text] of Object.entries(files)) {
        mkdirSync(dirname(join(tree, file)), { recursive: true })
        writeFileSync(join(tree, file), text)
      }
      assert.deepStrictEqual(
        provingIn(tree, Object.keys(files)).map(({ file, rows: proved }) => [file, [...proved]]),
        [
          ["a/store.laws.test.ts", [row(7)]],
          ["a/plain.test.ts", [row(9)]],
          ["a/none.test.ts", []]
        ]
      )
    } finally {
      rmSync(tree, { recursive: true })
    }
  })

  test("P1 both stores prove what the laws of blocks cite", () => {
    const listed = filesOfRepository("*.ts")
    const proving = provingIn(root, listed).filter(({ rows: proved }) => proved.has(row(98)))
    const files = proving.map(({ file }) => file)
    for (const store of ["store-sqlite", "store-postgres"]) {
      assert.include(files, `packages/adapters/${store}/test/store.laws.test.ts`)
    }
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
