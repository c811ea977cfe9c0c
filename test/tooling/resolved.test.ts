// Resolved (R1, R2): what one program of a check finds out about its modules, the next one is answered.

import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { later } from "@reverie/testkit/later"
import { assert, test } from "vitest"

const hook = pathToFileURL(join(import.meta.dirname, "../../scripts/check/resolved.mjs"))

const scene = () => {
  const folder = mkdtempSync(join(tmpdir(), "reverie-resolved-"))
  later(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, "main.mjs"), 'import { says } from "./one.mjs"\nconsole.log(says)\n')
  writeFileSync(join(folder, "one.mjs"), 'export const says = "one"\n')
  writeFileSync(join(folder, "two.mjs"), 'export const says = "two"\n')
  const run = (known: string): string => {
    const asked = new URL(hook)
    asked.searchParams.set("known", known)
    const said = spawnSync(process.execPath, [`--import=${asked.href}`, join(folder, "main.mjs")], { encoding: "utf8" })
    assert.strictEqual(said.status, 0, said.stderr)
    return said.stdout.trim()
  }
  return { folder, run }
}

test("R1 a program is answered what an earlier one found", () => {
  const { folder, run } = scene()
  const known = join(folder, "modules")
  assert.strictEqual(run(known), "one")
  const found = readFileSync(known, "utf8")
  assert.include(found, "one.mjs\tmodule")
  assert.strictEqual(run(known), "one")
  assert.strictEqual(readFileSync(known, "utf8"), found, "nothing is found twice")
  // Only what is asked of the file can answer with another module than the one that is named.
  writeFileSync(known, found.replaceAll("one.mjs\tmodule", "two.mjs\tmodule"))
  assert.strictEqual(run(known), "two")
})

test("R2 without a file that can be read or written nothing changes", () => {
  const { folder, run } = scene()
  assert.strictEqual(run(join(folder, "missing/modules")), "one")
  writeFileSync(join(folder, "damaged"), "no line of it\nnor this\tone")
  assert.strictEqual(run(join(folder, "damaged")), "one")
})
