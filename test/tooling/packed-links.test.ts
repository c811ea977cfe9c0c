import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { later } from "@reverie/testkit/later"
import { assert, test } from "vitest"
import { deadLinks, packedReadme } from "../../scripts/pack/links.ts"
import { copies } from "../../scripts/pack/parts.ts"
import { slugOf } from "../../scripts/docs/pages.ts"
import { readText } from "../architecture/repository.ts"

/** A folder with such files. */
const folderOf = (files: Readonly<Record<string, string>>): string => {
  const folder = mkdtempSync(join(tmpdir(), "reverie-links-"))
  later(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

const pages = ["security", "guides/operating"]

test("R1 links of the README lead into the package, and what only the repository has becomes its words", () => {
  const text = [
    "[Security](docs/SECURITY.md), [keys](docs/guides/operating.md#encrypt-it), [the map](ARCHITECTURE.md),",
    "[docs/](docs/README.md), [out](https://example.org/a.md), [here](#a-picture), `[no](link.md)`",
    "![A picture](apps/dashboard/context.png)",
    "```",
    "[no](link.md)",
    "```"
  ]
  assert.deepStrictEqual(packedReadme(text.join("\n"), new Set(pages)).split("\n"), [
    "[Security](docs/security.md), [keys](docs/guides/operating.md#encrypt-it), the map,",
    "docs/, [out](https://example.org/a.md), [here](#a-picture), `[no](link.md)`",
    "![A picture](docs/context.png)",
    ...text.slice(3)
  ])
})

test("R2 a link that leads to no file of the package is found with the file that it stands in", () => {
  const folder = folderOf({
    "README.md": "[a](docs/a.md) [b](docs/b.md#c) [up](../elsewhere.md) [web](https://example.org) [top](#top)",
    "docs/a.md": "[readme](../README.md) ![picture](picture.png)\n\n```\n[no](link.md)\n```\n",
    "docs/llms.txt": "- [A](a.md): a\n- [B](b.md): b"
  })
  assert.sameMembers(
    [...deadLinks(folder)],
    ["README.md: docs/b.md#c", "README.md: ../elsewhere.md", "docs/a.md: picture.png", "docs/llms.txt: b.md"]
  )
})

test("R1 R2 the README of this repository has no dead link in the package", () => {
  const text = readText("README.md")
  const named = [...text.matchAll(/\]\((docs\/[^)#\s]+\.md)/g)].map(([, path = ""]) => slugOf(path))
  const known = named.filter((slug) => slug !== "readme")
  assert.include(known, "security")
  const files = [...known.map((slug) => `docs/${slug}.md`), ...Object.values(copies)]
  const folder = folderOf({
    ...Object.fromEntries(files.map((name) => [name, ""])),
    "README.md": packedReadme(text, new Set(known))
  })
  assert.deepStrictEqual(deadLinks(folder), [])
  assert.isAbove(deadLinks(folderOf({ "README.md": text })).length, 2, "as it lies in the repository")
})
