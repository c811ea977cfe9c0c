// Budget: how much JavaScript comes before the first page is seen.

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { expect, test } from "vitest"
import { builtPage } from "./browser.ts"

interface Chunk {
  readonly file: string
  readonly isEntry?: boolean
  readonly imports?: ReadonlyArray<string>
}

const FIRST_LOAD_KB = 140

/** What the entry can not do without: itself and everything that it imports at once. */
const firstOf = (manifest: Readonly<Record<string, Chunk>>): ReadonlySet<string> => {
  const names = new Set(Object.keys(manifest).filter((name) => manifest[name]?.isEntry === true))
  for (const name of names) for (const each of manifest[name]?.imports ?? []) names.add(each)
  return new Set([...names].map((name) => manifest[name]?.file ?? name))
}

test(`first load is at most ${FIRST_LOAD_KB} KB of gzipped JavaScript`, async () => {
  const { folder, remove } = await builtPage()
  const manifest = JSON.parse(readFileSync(join(folder, ".vite/manifest.json"), "utf8")) as Record<string, Chunk>
  const first = firstOf(manifest)
  const sizes = [...new Set(Object.values(manifest).map(({ file }) => file))]
    .filter((file) => file.endsWith(".js"))
    .map((file) => ({ file, kb: gzipSync(readFileSync(join(folder, file)), { level: 9 }).length / 1_000 }))
    .toSorted((one, other) => other.kb - one.kb)
  remove()
  const total = sizes.filter(({ file }) => first.has(file)).reduce((sum, { kb }) => sum + kb, 0)
  const lines = sizes.map(
    ({ file, kb }) => `${kb.toFixed(1).padStart(7)} KB ${first.has(file) ? "first" : "later"} ${file}`
  )
  process.stdout.write(`${lines.join("\n")}\n${total.toFixed(1).padStart(7)} KB first load\n`)
  expect(first.size).toBeGreaterThan(2)
  // React alone is more than half of it: less would mean that the wrong thing was measured.
  expect(total).toBeGreaterThan(60)
  expect(total).toBeLessThanOrEqual(FIRST_LOAD_KB)
})
