import { assert, describe, test } from "vitest"
import { unusedExports } from "../../scripts/house/exports.ts"
import { missedBy } from "../../scripts/house/count.ts"
import { type Files, madeUpTree, manifest } from "./made-up-tree.ts"

const room = (folder: string, name: string, index: string): Files => ({
  [`${folder}/package.json`]: manifest(name),
  [`${folder}/src/index.ts`]: index
})

const abc = room("packages/a", "@x/a", "export const one = 1\nexport interface Two {}\nexport class Three {}")
const unusedIn = async (files: Files) => unusedExports(await madeUpTree({ ...abc, ...files }))

describe("exports that nothing uses", () => {
  test("E1 each name of a barrel counts, whichever way it is exported", async () => {
    const { figures, found } = unusedExports(
      await madeUpTree({
        ...room(
          "packages/adapters/a",
          "@x/a",
          [
            `export * from "./deep/index.ts"`,
            `export * as all from "./b.ts"`,
            `export { b as renamed, type B } from "./b.ts"`,
            "export const { left, right: [other] } = f()",
            "export function call() {}",
            "export type Shape = 1",
            "export default 1"
          ].join("\n")
        ),
        "packages/adapters/a/src/deep/index.ts": `export * from "../c.ts"`,
        "packages/adapters/a/src/b.ts": "export const b = 1, hidden = 2\nexport type B = 1",
        "packages/adapters/a/src/c.ts": "export const c = 1",
        "apps/d/src/d.ts": "nothing()"
      })
    )
    const names = ["B", "Shape", "all", "c", "call", "default", "left", "other", "renamed"]
    assert.deepStrictEqual(
      found,
      names.map((name) => `@x/a ${name}`)
    )
    assert.deepStrictEqual(figures["packages"], { "@x/a": { exported: 9, used: 0, onlyByTests: 0, unused: 9 } })
  })

  test("E2 an import of another package or app is a use, its own imports and tests are none", async () => {
    const files = {
      "packages/a/src/own.ts": `import { one, Three } from "./index.ts"`,
      "packages/a/test/own.test.ts": `import { Three } from "@x/a"`,
      ...room("packages/b", "@x/b", `import { one as uno } from "@x/a"\nuno()`),
      "apps/c/src/c.tsx": `import type { Two } from "@x/a"`
    }
    const count = await unusedIn(files)
    assert.deepStrictEqual(count.found, ["@x/a Three"])
    assert.lengthOf(missedBy([count]), 1)
  })

  test("E3 what the SDK hands on is used, by name or whole", async () => {
    const named = room("packages/reverie", "reverie", `export { one, type Two } from "@x/a"`)
    assert.deepStrictEqual((await unusedIn(named)).found, ["@x/a Three"])
    assert.deepStrictEqual((await unusedIn(room("packages/reverie", "reverie", `export * from "@x/a"`))).found, [])
  })

  test("E4 other forms of import use what they name: namespaces, imports at run time, types in place", async () => {
    const seen = async (text: string) => (await unusedIn({ "apps/c/src/c.ts": text })).found
    assert.deepStrictEqual(await seen(`import * as A from "@x/a"\nconst x: A.Two = A.one`), ["@x/a Three"])
    assert.deepStrictEqual(await seen(`import * as A from "@x/a"\nlook(A)`), [])
    assert.deepStrictEqual(await seen(`const { one, Three: T } = await import("@x/a")`), ["@x/a Two"])
    assert.deepStrictEqual(await seen(`load(() => import("@x/a")).then(({ one }) => one)`), ["@x/a Three", "@x/a Two"])
    assert.deepStrictEqual(await seen(`type T = import("@x/a").Two`), ["@x/a Three", "@x/a one"])
  })

  test("E5 a name that only tests of others and the testkit use is listed apart, and is no fault", async () => {
    const count = await unusedIn({
      "packages/b/test/b.test.ts": `import { one } from "@x/a"`,
      ...room("packages/testkit", "@x/testkit", `import { Two } from "@x/a"`),
      "apps/c/src/c.ts": `import { Three } from "@x/a"`
    })
    assert.deepStrictEqual(missedBy([count]), [])
    assert.deepStrictEqual(count.figures["onlyByTests"], ["@x/a Two", "@x/a one"])
    assert.deepStrictEqual(count.figures["packages"], { "@x/a": { exported: 3, used: 1, onlyByTests: 2, unused: 0 } })
  })

  test("E5 a test that replaces a whole module uses only what it reads off it", async () => {
    const text = `import type * as A from "@x/a"\nmock(import("@x/a"), async (real) => ({ ...(await real<typeof A>()), x: y.one }))`
    const count = await unusedIn({ "packages/b/test/b.test.ts": text, "apps/c/src/c.ts": "nothing()" })
    assert.deepStrictEqual(count.found, ["@x/a Three", "@x/a Two"])
  })

  test("E6 the barrels of the SDK, of the testkit and of apps are not judged", async () => {
    const count = unusedExports(
      await madeUpTree({
        ...room("packages/reverie", "reverie", "export const a = 1"),
        ...room("packages/testkit", "@x/testkit", "export const a = 1"),
        ...room("apps/server", "@x/server", "export const a = 1")
      })
    )
    assert.deepStrictEqual(missedBy([count]), ["unused exports: examined nothing"])
  })
})
