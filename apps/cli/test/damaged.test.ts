import { readdir, readFile, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Fleet } from "reverie"
import { assert, test } from "vitest"
import { assertFailure, jsonOf, temporary } from "./command-line.ts"
import fleet from "./fixtures/fleet.ts"
import { said } from "./in-process.ts"

const MESSAGES = 6

/** A data directory with one leaf of the ledger overwritten, so that not even SQLite's own check comes to its end. */
const damaged = async (data: string): Promise<void> => {
  await using open = await Fleet.open({ fleet, data, model: "offline" })
  for (let no = 0; no < MESSAGES; no++) await open.answer("clerk", `Message ${no}. ${"A long story. ".repeat(20)}`)
  await open.close()
  const file = join(data, "reverie.db")
  const database = new DatabaseSync(file, { readOnly: true })
  const sql = "SELECT pageno FROM dbstat WHERE name = 'ledger' AND pagetype = 'leaf' ORDER BY pageno LIMIT 1 OFFSET 1"
  const page = Number(database.prepare(sql).get()?.["pageno"])
  const size = Number(database.prepare("PRAGMA page_size").get()?.["page_size"])
  database.close()
  const bytes = await readFile(file)
  await writeFile(file, bytes.fill(0xff, (page - 1) * size, page * size))
}

test("a damaged page: commands point to doctor and to a backup, and doctor --deep reads on behind it", async () => {
  await using folder = await temporary()
  const at = ["--data", join(folder.path, "data")]
  await damaged(join(folder.path, "data"))
  for (const command of [
    ["replay", "clerk"],
    ["export", "clerk", "--out", join(folder.path, "x.jsonl")]
  ]) {
    const failed = await said([...command, ...at, "--json"])
    assertFailure(failed, 5, "data-damaged", "the file is damaged")
    assert.match(failed.stdout, /reverie doctor --deep names what is damaged, and reverie restore/)
  }
  const looked = await said(["doctor", ...at, "--json"])
  assertFailure(looked, 1, "unhealthy", "ledger")
  const deep = await said(["doctor", "--deep", ...at, "--json"])
  assertFailure(deep, 1, "unhealthy", "damage")
  const checks = jsonOf(deep)["checks"] as ReadonlyArray<{ readonly name: string; readonly says: string }>
  const found = checks.filter(({ name }) => name === "damage").map(({ says }) => says)
  assert.include(found[0], "the file is damaged")
  assert.match(found[1] ?? "", /^default\/clerk: entry \d+: /)
  assert.match(
    checks.find(({ name }) => name === "deep")?.says ?? "",
    /^2 assistants and \d+ events read, \d+ damages found$/
  )
})

test("an export onto a full disk names the file, and leaves nothing of it", async () => {
  await using folder = await temporary()
  const data = join(folder.path, "data")
  await (await Fleet.open({ fleet, data, model: "offline" })).close()
  const out = join(folder.path, "x.jsonl")
  // What is written there finds no room.
  await symlink("/dev/full", `${out}.partial`)
  const failed = await said(["export", "clerk", "--out", out, "--data", data, "--json"])
  assertFailure(failed, 6, "disk-full", `${out} can not be written: no space is left`)
  assert.include(failed.stdout, "free space on the disk")
  assert.deepStrictEqual(await readdir(folder.path), ["data"])
})
