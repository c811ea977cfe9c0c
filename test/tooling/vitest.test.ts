import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { stripVTControlCharacters } from "node:util"
import { assert, test } from "vitest"

const root = join(import.meta.dirname, "../..")

test("files of several projects run with one command, as the READMEs name it", () => {
  const files = ["packages/runtime/test/poison.test.ts", "packages/runtime/test/turn.test.ts"]
  const vitest = join(root, "node_modules/vitest/vitest.mjs")
  const said = spawnSync(process.execPath, [vitest, "run", ...files], { cwd: root, encoding: "utf8" })
  assert.strictEqual(said.status, 0, said.stderr)
  assert.match(stripVTControlCharacters(said.stdout), /Test Files {2}2 passed \(2\)/)
})
