import { chmod, mkdir, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, test } from "vitest"
import { directoryChecks, type Room } from "../src/commands/data/directory-checks.ts"
import { assertFailure, jsonOf, temporary } from "./command-line.ts"
import { said } from "./in-process.ts"

const room =
  (bavail: number, blocks = 100): (() => Promise<Room>) =>
  () =>
    Promise.resolve({ bsize: 4_096, blocks, bavail })

const named = async (data: string, name: string, roomOf = room(1_000)) =>
  (await directoryChecks(data, roomOf)).find((each) => each.name === name)

/** A directory as `cp -r` leaves one, with a file that others may read and one that they may not. */
const openData = async (parent: string): Promise<string> => {
  const data = join(parent, "data")
  await mkdir(data)
  await writeFile(join(data, "reverie.db"), "")
  await writeFile(join(data, "reverie.mark"), "")
  await Promise.all([
    chmod(data, 0o755),
    chmod(join(data, "reverie.db"), 0o644),
    chmod(join(data, "reverie.mark"), 0o600)
  ])
  return data
}

describe("a data directory from outside", () => {
  test("a full disk is said, and space is what helps; D2 one that says nothing of its room is not called full", async () => {
    await using folder = await temporary()
    const full = await named(folder.path, "data", room(3))
    assert.deepStrictEqual([full?.ok, full?.says], [false, `the disk of ${folder.path} is full: 12288 bytes are free`])
    assert.include(full?.fix, "free space on it")
    const unmade = await named(join(folder.path, "none"), "data", room(3))
    assert.deepStrictEqual([unmade?.ok, unmade?.says], [false, full?.says])
    for (const roomOf of [room(1_000), room(0, 0), () => Promise.reject(new Error("ENOSYS"))]) {
      assert.isTrue((await named(folder.path, "data", roomOf))?.ok)
    }
  })

  test("D1 what others may read is named, and nothing of it is corrected", async () => {
    await using folder = await temporary()
    const data = await openData(folder.path)
    const rights = await named(data, "rights")
    assert.deepStrictEqual(
      [rights?.ok, rights?.says],
      [false, `others may enter ${data} (755), and read reverie.db (644)`]
    )
    assert.include(rights?.fix, `chmod 700 ${data}`)
    assert.strictEqual((await stat(data)).mode & 0o777, 0o755)
    await chmod(data, 0o700)
    assert.isUndefined(await named(data, "rights"))
  })

  test("an empty directory is closed by the first start, and is no fault", async () => {
    await using folder = await temporary()
    await chmod(folder.path, 0o755)
    assert.isUndefined(await named(folder.path, "rights"))
  })
})

test("doctor fails where others may read what is stored", async () => {
  await using folder = await temporary()
  const failed = await said(["doctor", "--data", await openData(folder.path), "--json"])
  assertFailure(failed, 1, "unhealthy", "rights")
  assert.include(JSON.stringify(jsonOf(failed)["checks"]), "read reverie.db (644)")
})
