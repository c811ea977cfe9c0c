import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, test } from "vitest"
import { assertFailure, jsonOf, run, temporary } from "./command-line.ts"

const older = fileURLToPath(new URL("../../../packages/reverie/test/letta/fixtures/older.af", import.meta.url))

test("an agent file comes in, with a fleet file that defines it and a word on what was left behind", async () => {
  await using directory = await temporary()
  const data = join(directory.path, "data")
  const fleet = join(directory.path, "fleet.ts")
  const said = await run([
    "import",
    older,
    "--data",
    data,
    "--fleet-out",
    fleet,
    "--rename",
    "Mira-of-the-harbor=mira",
    "--json"
  ])
  const { left, moved } = jsonOf(said) as {
    readonly left: ReadonlyArray<{ readonly what: string }>
    readonly moved: unknown
  }
  assert.deepStrictEqual(moved, ["default/mira"])
  assert.include(
    left.map(({ what }) => what),
    "the code of tool tide_table"
  )
  assert.include(await readFile(fleet, "utf8"), "defineAssistant")
  const again = await run([
    "import",
    older,
    "--data",
    data,
    "--rename",
    "Mira-of-the-harbor=mira",
    "--fleet-out",
    fleet,
    "--json"
  ])
  assertFailure(again, 5, "file-exists", "is there already")
  const plain = await run(["import", older, "--data", data, "--dry-run"])
  assert.match(plain.stdout, /1 assistant would move in\n.*to be written: tide_table\nleft behind:/)
})
