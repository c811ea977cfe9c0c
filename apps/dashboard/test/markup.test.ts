// Markup: nothing in the sources reads text as markup or code, and nothing is fetched from elsewhere.

import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { expect, test } from "vitest"

const root = join(import.meta.dirname, "..")
/** The one module of another package whose code comes along: data as words, as the terminal has it. */
const spoken = "../../packages/protocol/src/spoken.ts"
const files = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
const sources = [join(root, "index.html"), join(root, spoken), ...files].map((path) => ({
  path: relative(root, path),
  text: readFileSync(path, "utf8")
}))

const forbidden = [
  [/dangerously\w*HTML|\b(inner|outer)HTML\b|insertAdjacentHTML|document\.write|srcdoc/i, "reads text as markup"],
  [/\beval\s*\(|new Function\b/, "runs text"],
  [/https?:\/\//, "names a remote place"],
  [/<script(?![^>]*\bsrc=)[^>]*>/, "holds an inline script"],
  [/from "@reverie\/(server|protocol(?!\/spoken"))/, "may import types of it only"]
] as const

test("no source reads text as markup, runs it, or fetches from elsewhere (V1, C1)", () => {
  expect(sources.length).toBeGreaterThan(40)
  const found = sources.flatMap(({ path, text }) =>
    forbidden
      .filter(([pattern]) =>
        text.split("\n").some((line) => pattern.test(line) && !/^import type|^export type/.test(line))
      )
      .map(([, what]) => `${path} ${what}`)
  )
  // `import { type A } from` would be emptied too, but says less clearly that nothing comes along.
  expect(found).toEqual([])
})

test("each of these is found where it is planted", () => {
  const planted = [
    `<p dangerouslySetInnerHTML={{ __html: text }} />`,
    `eval("1")`,
    `fetch("https://example.org")`,
    `<script>1</script>`,
    `import { Api } from "@reverie/server/api"`
  ]
  expect(planted.map((line) => forbidden.findIndex(([pattern]) => pattern.test(line)))).toEqual([0, 1, 2, 3, 4])
})

test("what comes along of another package takes nothing along", () => {
  const taken = readFileSync(join(root, spoken), "utf8")
    .split("\n")
    .filter((line) => /\bfrom "|\bimport\(|^import "/.test(line))
  expect(taken.filter((line) => !line.startsWith("import type "))).toEqual([])
})
