// Backups and what is said of a store that has lost something, as a person has them.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { defineAssistant, defineFleet, Fleet } from "reverie"
import { assert, test } from "vitest"
import { assertFailure, fixture, run, temporary } from "./command-line.ts"

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

test("doctor fails of a store that no fleet would open, and backup keeps the one of before", async () => {
  await using place = await temporary()
  const [data, monday] = [join(place.path, "data"), join(place.path, "monday")]
  await lived(data)
  const older = readFileSync(join(data, "reverie.db"))
  await lived(data)
  const of = (command: string, ...more: ReadonlyArray<string>) => run([command, ...more, "--data", data, "--json"])
  assert.strictEqual((await of("backup", monday)).code, 0)
  const list = readFileSync(join(monday, "backup.json"), "utf8")

  const lost = async (words: string) => {
    for (const deep of [[], ["--deep"]]) {
      const said = await of("doctor", ...deep)
      assert.strictEqual(said.code, 1, said.stdout)
      const { checks, error } = JSON.parse(said.stdout)
      assert.strictEqual(error.code, "unhealthy")
      const { ok, says } = checks.find(({ name }: { readonly name: string }) => name === "format")
      assert.isFalse(ok)
      assert.include(says, words)
    }
    assertFailure(await of("backup", monday, "--force"), 5, "backup-refused", words)
    assert.strictEqual(readFileSync(join(monday, "backup.json"), "utf8"), list)
  }
  writeFileSync(join(data, "reverie.db"), older)
  await lost("it ends after 1 messages and")
  const flaws = await of("doctor", "--deep")
  assert.include(flaws.stdout, "1 damage found")
  for (const harm of [() => writeFileSync(join(data, "reverie.db"), ""), () => rmSync(join(data, "reverie.db"))]) {
    harm()
    await lost("reverie.db is missing or empty, though 2 messages and")
    assertFailure(await of("agents", "ls"), 5, "data-shortened", "reverie.db is missing or empty")
  }

  assert.strictEqual((await of("restore", monday)).code, 0)
  assert.strictEqual((await of("doctor", "--deep")).code, 0)
})

test("V2 vacuum --dry-run makes no directory, admits no one and works beside who works there", async () => {
  await using place = await temporary()
  const data = join(place.path, "data")
  const due = (dir: string) =>
    run(["vacuum", "--dry-run", "--data", dir, "--fleet", fixture("fleet.ts"), "--model", "offline", "--json"])
  const missing = join(place.path, "te")
  assertFailure(await due(missing), 4, "data-not-found", "there is no Reverie data in it")
  assert.isFalse(existsSync(missing))

  const open = await Fleet.open({ data, fleet, model: "offline" })
  await open.answer("desk", "The Aurora comes at noon.")
  const said = await due(data)
  assert.strictEqual(said.code, 0, said.stderr)
  assert.deepInclude(JSON.parse(said.stdout), { dryRun: true, assistants: 1, deleted: { entries: 0, envelopes: 0 } })
  assert.deepStrictEqual(
    (await open.list()).map(({ address }) => String(address.assistant)),
    ["desk"]
  )
  await open.close()
})
