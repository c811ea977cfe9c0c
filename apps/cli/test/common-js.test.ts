// A fleet file in a package of CommonJS, which is what `npm init -y` makes.

import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, test } from "vitest"
import { assertFailure, jsonOf, run, temporary } from "./command-line.ts"

const within = async (type: string, work: (directory: string) => Promise<void>): Promise<void> => {
  await using place = await temporary()
  await writeFile(join(place.path, "package.json"), JSON.stringify({ name: "harbour", type }))
  await work(place.path)
}

describe("a package of CommonJS", () => {
  test.each(['import { join } from "node:path"\nexport default join("a", "b")\n', "export default {}\n"])(
    "X2 a fleet file that Node can not read for it says what to do: %j",
    (text) =>
      within("commonjs", async (directory) => {
        await writeFile(join(directory, "fleet.ts"), text)
        const refused = await run(["run", "--fleet", join(directory, "fleet.ts"), "--exit", "--json"])
        assertFailure(refused, 2, "fleet-invalid", '"type": "commonjs"')
        assert.include(refused.stdout + refused.stderr, "npm pkg set type=module")
        assert.include(refused.stdout + refused.stderr, "fleet.mts")
      })
  )

  test("X2 any other mistake of syntax is said as it is", () =>
    within("commonjs", async (directory) => {
      await writeFile(join(directory, "fleet.mts"), 'import { join } frm "node:path"\n')
      const refused = await run(["run", "--fleet", join(directory, "fleet.mts"), "--exit", "--json"])
      assertFailure(refused, 2, "fleet-invalid", "can not be loaded")
      assert.notInclude(refused.stdout + refused.stderr, "commonjs")
    }))

  test("I2 init writes a fleet file that Node takes as a module, and names it everywhere", () =>
    within("commonjs", async (directory) => {
      const said = jsonOf(await run(["init", "--json"], { cwd: directory }))
      assert.deepStrictEqual(said["kept"], ["package.json"])
      assert.includeMembers(said["made"] as Array<string>, ["fleet.mts", "reverie.config.json"])
      const text = (name: string) => readFile(join(directory, name), "utf8")
      assert.deepStrictEqual(JSON.parse(await text("reverie.config.json")), { fleet: "fleet.mts" })
      assert.include(await text("README.md"), "`fleet.mts`")
      assert.deepStrictEqual(jsonOf(await run(["init", "--json"], { cwd: directory }))["made"], [])
    }))

  test("I2 it is fleet.ts in a package of modules, and where one is already", async () => {
    await within("module", async (directory) =>
      assert.include(jsonOf(await run(["init", "--json"], { cwd: directory }))["made"] as Array<string>, "fleet.ts")
    )
    await within("commonjs", async (directory) => {
      await writeFile(join(directory, "fleet.ts"), "mine")
      assert.includeMembers(jsonOf(await run(["init", "--json"], { cwd: directory }))["kept"] as Array<string>, [
        "fleet.ts"
      ])
    })
  })
})
