import { readFile, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, test } from "vitest"
import { assertFailure, fixture, jsonOf, run, temporary } from "./command-line.ts"

const fleet = fixture("fleet.ts")

/** A data directory in which two live and one was spoken with. */
const lived = async () => {
  const directory = await temporary()
  const root = directory.path
  const data = join(root, "old")
  const said = await run([
    "run",
    "--fleet",
    fleet,
    "--data",
    data,
    "-p",
    "Good morning.",
    "--model",
    "offline",
    "--json"
  ])
  assert.strictEqual(said.code, 0, said.stderr)
  const end = () => directory[Symbol.asyncDispose]()
  return { data, file: join(root, "export.jsonl"), fresh: join(root, "new"), [Symbol.asyncDispose]: end }
}

const looks = async (data: string, id: string) => {
  const { assistant, ...rest } = jsonOf(await run(["agents", "inspect", id, "--data", data, "--json"]))
  // A claim belongs to a store, and does not move.
  return { ...rest, assistant: { ...(assistant as object), epoch: 0 } }
}

describe("export and import", () => {
  test("M1 M2 M4 a fleet moves through a file, once, and goes on in the new directory", async () => {
    await using place = await lived()
    const { data, file, fresh } = place
    const packed = await run(["export", "--all", "--data", data, "--out", file, "--json"])
    assert.strictEqual(packed.code, 0, packed.stderr)
    assert.strictEqual(jsonOf(packed)["assistants"], 2)
    assert.strictEqual((await stat(file)).mode & 0o777, 0o600)
    assertFailure(
      await run(["export", "--all", "--data", data, "--out", file, "--json"]),
      5,
      "file-exists",
      "is there already"
    )
    const database = join(data, "reverie.db")
    const before = await readFile(database)
    assertFailure(
      await run(["export", "--all", "--data", data, "--out", database, "--force", "--json"]),
      5,
      "file-exists",
      "is a file of the data directory"
    )
    assert.deepStrictEqual(await readFile(database), before, "M4 the data was replaced by an export")

    const trial = jsonOf(await run(["import", file, "--data", fresh, "--dry-run", "--json"]))
    assert.deepStrictEqual(trial["moved"], ["default/clara", "default/clerk"])
    assert.isUndefined(await stat(fresh).catch(() => undefined), "a dry run wrote something")
    const moved = jsonOf(await run(["import", file, "--data", fresh, "--json"]))
    assert.deepStrictEqual(moved["moved"], ["default/clara", "default/clerk"])
    assert.deepStrictEqual(jsonOf(await run(["import", file, "--data", fresh, "--json"]))["moved"], [])
    for (const id of ["clerk", "clara"]) assert.deepStrictEqual(await looks(fresh, id), await looks(data, id))
    const on = await run(["run", "--fleet", fleet, "--data", fresh, "-p", "And again.", "--model", "offline", "--json"])
    assert.strictEqual(on.code, 0, on.stderr)
    const taken = await run(["import", file, "--data", fresh, "--json"])
    assert.deepStrictEqual(jsonOf(taken)["moved"], [], "who has lived on since was moved in again")
  })

  test("one by name goes to stdout, comes in under another, and is remembered there", async () => {
    await using place = await lived()
    const { data, file, fresh } = place
    const { code, stdout } = await run(["export", "clerk", "--data", data, "--quiet"])
    assert.strictEqual(code, 0)
    await writeFile(file, stdout)
    const moved = jsonOf(await run(["import", file, "--data", fresh, "--rename", "clerk=twin", "--json"]))
    assert.deepStrictEqual(moved["moved"], ["default/twin"])
    // The index is no part of an export: it is made from the ledger when it is first asked.
    const found = jsonOf(await run(["memory", "twin", "recall", "morning", "--data", fresh, "--json"]))
    assert.match(JSON.stringify(found), /Good morning/)
    const beside = jsonOf(await run(["import", file, "--data", data, "--rename", "clerk=twin", "--json"]))
    assert.deepStrictEqual(beside["moved"], ["default/twin"])
  })

  test("what can not be done is said in one line", async () => {
    await using place = await lived()
    const { data, file, fresh } = place
    assertFailure(await run(["export", "--data", data, "--out", file, "--json"]), 2, "usage", "--all")
    assertFailure(
      await run(["export", "nobody", "--data", data, "--out", file, "--json"]),
      4,
      "unknown-assistant",
      "nobody"
    )
    assertFailure(
      await run(["import", join(data, "none"), "--data", fresh, "--json"]),
      4,
      "no-such-file",
      "there is no file"
    )
    await run(["export", "--all", "--data", data, "--out", file, "--json"])
    const text = await readFile(file, "utf8")
    await writeFile(file, text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1))
    assertFailure(await run(["import", file, "--data", fresh, "--json"]), 2, "export-unreadable", "cut off")
    await writeFile(file, text.replace("Good morning", "Good evening"))
    assertFailure(await run(["import", file, "--data", fresh, "--json"]), 2, "export-unreadable", "altered")
    assert.isUndefined(await stat(fresh).catch(() => undefined), "a broken file was begun")
    await writeFile(file, text)
    const other = join(fresh, "other")
    await run(["run", "--fleet", fleet, "--data", other, "-p", "Other life.", "--model", "offline"])
    assertFailure(await run(["import", file, "--data", other, "--json"]), 5, "place-taken", "another life")
  })

  test("M3 promote tells no password", async () => {
    await using place = await lived()
    const { data } = place
    const url = "postgres://reverie:hushhush@127.0.0.1:1/none"
    const said = await run(["promote", "--data", data, "--to", url, "--json"])
    assert.notStrictEqual(said.code, 0)
    assert.notInclude(said.stdout + said.stderr, "hushhush")
    assertFailure(await run(["promote", "--data", data, "--json"]), 2, "usage", "DATABASE_URL")
    const list = jsonOf(await run(["agents", "ls", "--data", data, "--json"]))
    assert.isNotEmpty(list)
    const on = await run(["run", "--fleet", fleet, "--data", data, "-p", "Still here?", "--model", "offline"])
    assert.strictEqual(on.code, 0, on.stderr)
  })
})
