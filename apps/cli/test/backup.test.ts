// Backups and what is said of a store that has lost something, as a person has them.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { defineAssistant, defineFleet, Fleet } from "reverie"
import { assert, test } from "vitest"
import { assertFailure, run, temporary } from "./command-line.ts"

const fleet = defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You are under test." })] })

/** A data directory with a little in it, in which no one works. */
const lived = async (data: string): Promise<void> => {
  const open = await Fleet.open({ data, fleet, model: "offline" })
  await open.answer("desk", "The Aurora comes at noon.")
  await open.close()
}

test("T1 backup --force replaces a backup and nothing else; an empty name is no directory", async () => {
  await using place = await temporary()
  const data = join(place.path, "data")
  await lived(data)
  const other = join(place.path, "other")
  mkdirSync(other)
  writeFileSync(join(other, "thesis.txt"), "years")
  const backup = (to: string, cwd = place.path) => run(["backup", to, "--data", data, "--force", "--json"], { cwd })

  assertFailure(await backup(other), 5, "backup-refused", "so it is no backup")
  assertFailure(await backup(data), 5, "backup-refused", "it is the data directory itself")
  assertFailure(await backup(".", other), 5, "backup-refused", "it holds other things (thesis.txt)")
  for (const empty of ["", " "]) assertFailure(await backup(empty, other), 2, "usage", "is empty")
  assertFailure(await run(["restore", "", "--data", data, "--force", "--json"]), 2, "usage", "is empty")
  assert.strictEqual(readFileSync(join(other, "thesis.txt"), "utf8"), "years")

  for (const _ of ["made", "replaced"]) assert.strictEqual((await backup(join(place.path, "monday"))).code, 0)
  assert.deepStrictEqual(readdirSync(place.path).toSorted(), ["data", "monday", "other"])
})
