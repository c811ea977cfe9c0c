import { assert, describe, test } from "vitest"
import { circles } from "../../scripts/house/circles.ts"
import { missedBy } from "../../scripts/house/count.ts"
import { edgesWithoutLabel } from "../../scripts/house/edges.ts"
import { folders, merges, sizes } from "../../scripts/house/files.ts"
import { measure, tableOf } from "../../scripts/house/measure.ts"
import { spreads } from "../../scripts/house/spreads.ts"
import { retiredWords } from "../../scripts/check/words.ts"
import { retiredInTree } from "../../scripts/house/retired.ts"
import { readTree } from "../../scripts/house/tree.ts"
import { asRepository, madeUpTree, manifest, writeTree } from "./made-up-tree.ts"

const lines = (count: number): string => "//\n".repeat(count)

describe("the tree", () => {
  const files = {
    "packages/ledger/src/entry.ts": lines(3),
    "packages/adapters/disk/src/disk.ts": lines(3),
    "apps/page/src/page.tsx": lines(3),
    "apps/page/test/page.test.ts": lines(3),
    "packages/ledger/test/entry.test.ts": lines(3),
    "packages/ledger/src/schema.sql": "",
    "packages/testkit/src/rig.ts": lines(3),
    "examples/hello/hello.ts": lines(3),
    "test/whole.test.ts": lines(3),
    "packages/ledger/node_modules/x/src/x.ts": lines(3),
    "packages/ledger/dist/x.ts": lines(3)
  }
  const source = ["apps/page/src/page.tsx", "packages/adapters/disk/src/disk.ts", "packages/ledger/src/entry.ts"]

  test("T1 source is what packages and apps consist of: no test, no testkit, no example", async () => {
    const tree = await madeUpTree(files)
    assert.deepStrictEqual(tree.source.map(({ path }) => path).toSorted(), source)
    assert.isEmpty([...tree.files.keys()].filter((path) => /node_modules|dist/.test(path)))
    assert.strictEqual(tree.listedBy, "walk")
  })

  test("T2 git says which files there are, and in a tree without git a walk says the same", async () => {
    const root = await writeTree({ ...files, "packages/ledger/src/secret.ts": lines(3) })
    asRepository(root, "node_modules", "dist", "secret.ts")
    const tree = readTree(root)
    assert.deepStrictEqual(tree.source.map(({ path }) => path).toSorted(), source)
    assert.strictEqual(tree.listedBy, "git")
  })
})

describe("files and folders", () => {
  test("M1 files and lines, their median and their 90th percentile", async () => {
    const sized = Array.from({ length: 10 }, (_, index) => [`packages/a/src/f${index}.ts`, lines((index + 1) * 10)])
    const { examined, figures } = sizes(await madeUpTree(Object.fromEntries(sized)))
    assert.strictEqual(examined, 10)
    assert.deepStrictEqual(figures, { files: 10, lines: 550, median: 55, p90: 90 })
  })

  test("M2 a folder with more than twelve files is named, and one with twelve is not", async () => {
    const inFolder = (folder: string, count: number) =>
      Array.from({ length: count }, (_, index) => [`packages/a/src/${folder}/f${index}.ts`, ""])
    const count = folders(
      await madeUpTree(
        Object.fromEntries([...inFolder("full", 12), ...inFolder("flat", 13), ...inFolder("flat/in", 2)])
      )
    )
    assert.strictEqual(count.value, 13)
    assert.deepStrictEqual(count.found, ["packages/a/src/flat: 13"])
    assert.lengthOf(missedBy([count]), 1)
  })

  test("M3 a small file with one importer could be merged; a long one, one with two and one with none could not", async () => {
    const count = merges(
      await madeUpTree({
        "packages/a/src/one.ts": `import "./small.ts"\nimport type { B } from "./both.ts"\nimport "./long.ts"`,
        "packages/a/src/two.ts": `export * from "./both.ts"\nconst later = import("./late.ts")`,
        "packages/a/src/small.ts": lines(60),
        "packages/a/src/late.ts": lines(1),
        "packages/a/src/long.ts": lines(61),
        "packages/a/src/both.ts": lines(2),
        "packages/a/test/small.test.ts": `import "../src/small.ts"`
      })
    )
    assert.deepStrictEqual(count.found, ["packages/a/src/late.ts", "packages/a/src/small.ts"])
    assert.deepStrictEqual(missedBy([count]), [])
  })

  test("M4 files that import each other are a circle, once: of types, of values, or of both", async () => {
    const count = circles(
      await madeUpTree({
        "packages/a/src/one.ts": `import type { Two } from "./two.ts"\nimport { three } from "./three.ts"`,
        "packages/a/src/two.ts": `import { type One } from "./one.ts"`,
        "packages/a/src/three.ts": "",
        "packages/a/src/x.ts": `import { y } from "./y.ts"`,
        "packages/a/src/y.ts": `import { z } from "./z.ts"`,
        "packages/a/src/z.ts": `import { x } from "./x.ts"`
      })
    )
    assert.deepStrictEqual(count.found, [
      "types: packages/a/src/one.ts, packages/a/src/two.ts",
      "values: packages/a/src/x.ts, packages/a/src/y.ts, packages/a/src/z.ts"
    ])
    assert.lengthOf(missedBy([count]), 1)
  })

  test("M4 a circle of types with a file that also stands in one of values is found whole, import() included", async () => {
    const count = circles(
      await madeUpTree({
        "packages/a/src/door.ts": `const later = import("./fleet.ts")`,
        "packages/a/src/fleet.ts": `import { door } from "./door.ts"\nimport { group } from "./group.ts"`,
        "packages/a/src/group.ts": `import type { Core } from "./fleet.ts"`
      })
    )
    assert.deepStrictEqual(count.found, [
      "mixed: packages/a/src/door.ts, packages/a/src/fleet.ts, packages/a/src/group.ts"
    ])
    assert.lengthOf(missedBy([count]), 1)
  })
})

describe("what is written", () => {
  test("M5 a conditional spread is found in each of its forms, and no other spread is", async () => {
    const text = [
      "const a = { ...(x === undefined ? {} : { x }) }",
      "const b = { ...(x ? { x } : {}), ...(x && { x }) }",
      "const c = { ...((x ? {} : { x }) as Y), ...(x ? y : {}) }",
      "const d = <P {...(x ? {} : { x })} />",
      "const no = { ...x, ...(x ? { y } : { z }), ...(x ?? {}), ...f(x ? {} : { x }) }",
      "const list = [...(x ? [] : [x])]",
      "// ...(x ? {} : { x })",
      'const text = "...(x ? {} : { x })"'
    ].join("\n")
    const count = spreads(
      await madeUpTree({
        "apps/a/src/all.tsx": text,
        "packages/b/src/one.ts": "f({ ...(x && { x }) })",
        "packages/b/test/one.test.ts": "f({ ...(x && { x }) })"
      })
    )
    assert.strictEqual(count.value, 7)
    assert.strictEqual(count.figures["files"], 2)
    assert.deepStrictEqual(missedBy([count]), [])
  })

  test("M5 forty conditional spreads are one too many", async () => {
    const many = await madeUpTree({ "packages/a/src/a.ts": "f({ ...(x && { x }) })\n".repeat(40) })
    assert.lengthOf(missedBy([spreads(many)]), 1)
    const few = await madeUpTree({ "packages/a/src/a.ts": "f({ ...(x && { x }) })\n".repeat(39) })
    assert.deepStrictEqual(missedBy([spreads(few)]), [])
  })

  test("M6 a retired word is found in source and in tests, but not in the list of them", async () => {
    const word = retiredWords[0]?.forms[0] ?? ""
    const count = retiredInTree(
      await madeUpTree({
        "packages/a/src/a.ts": `const ${word} = 1`,
        "test/b.test.ts": `const next_${word} = 2`,
        "scripts/check/words.ts": `const ${word} = 3`
      })
    )
    assert.strictEqual(count.value, 2)
    assert.lengthOf(missedBy([count]), 1)
    assert.include(count.found[0], "packages/a/src/a.ts:1")
  })

  test("M7 an edge whose guard or action has no name of its own is found", () => {
    const edge = (event: string, guard: string | undefined, ...actions: ReadonlyArray<string>) =>
      guard === undefined ? { from: "a", event, actions } : { from: "a", event, guard, actions }
    const count = edgesWithoutLabel([
      edge("one", "isRetryable", "recordReply"),
      edge("two", "guard"),
      edge("three", "hasCalls", "remember"),
      edge("four", undefined, "assign"),
      edge("five", undefined),
      edge("six", "hasCalls", "")
    ])
    assert.strictEqual(count.examined, 6)
    assert.strictEqual(count.value, 4)
    assert.lengthOf(missedBy([count]), 1)
    assert.include(count.found[0], "two")
  })
})

describe("the measure", () => {
  const clean = {
    "packages/a/package.json": manifest("@x/a"),
    "packages/a/src/index.ts": `export { a } from "./a.ts"`,
    "packages/a/src/a.ts": "export const a = 1",
    "packages/b/package.json": manifest("@x/b"),
    "packages/b/src/index.ts": `import { a } from "@x/a"\nexport const b = a`,
    "apps/c/src/c.ts": `import { b } from "@x/b"\nb()`
  }
  const edges = [{ from: "a", event: "b", guard: "isOpen", actions: [] }]

  test("M8 is well where every bound holds and every count examined something", async () => {
    const report = measure(await madeUpTree(clean), edges)
    assert.deepStrictEqual(report.missed, [])
    assert.isTrue(report.ok)
    assert.deepStrictEqual(report.bounds, {
      "flat folders": 12,
      "unused exports": 0,
      "conditional spreads": 39,
      "retired words": 0,
      "unlabelled edges": 0,
      circles: 0
    })
  })

  test("M8 is not well where one bound is missed, and a line says which", async () => {
    const tree = await madeUpTree({ ...clean, "packages/a/src/index.ts": `export const a = 1\nexport const c = 1` })
    const report = measure(tree, edges)
    assert.isFalse(report.ok)
    assert.deepStrictEqual(report.missed, ["unused exports: 1, at most 0"])
    assert.include(tableOf(report), "unused exports: 1, at most 0")
  })

  test("M9 is not well where a count examined nothing", async () => {
    const empty = measure(await madeUpTree({ "README.md": "" }), edges)
    assert.isFalse(empty.ok)
    assert.include(empty.missed, "source: examined nothing")
    assert.deepStrictEqual(measure(await madeUpTree(clean), []).missed, ["unlabelled edges: examined nothing"])
  })
})
