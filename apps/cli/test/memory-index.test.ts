// The index of memories by the command line: through the store, with a Qdrant server and without one.

import { join } from "node:path"
import { contractIfThere, startQdrantServer } from "@reverie/testkit/qdrant-server"
import { assert, describe, test, vi } from "vitest"
import { assertFailure, fixture, temporary } from "./command-line.ts"
import { said } from "./in-process.ts"

/** A data directory in which something was said, with an index at a double of Qdrant. */
const withQdrant = async (
  use: (run: (...args: ReadonlyArray<string>) => ReturnType<typeof said>) => Promise<void>
): Promise<void> => {
  await using directory = await temporary()
  const server = await startQdrantServer({ contract: contractIfThere() })
  vi.stubEnv("QDRANT_URL", server.url)
  try {
    const at = ["--data", join(directory.path, "data"), "--fleet", fixture("fleet.ts"), "--model", "offline"]
    const sent = await said(["agents", "send", "clara", "The ferry leaves at nine.", ...at, "--wait", "--json"])
    assert.strictEqual(sent.code, 0, sent.stderr)
    await use((...args) => said([...args, "--data", join(directory.path, "data")]))
    assert.deepStrictEqual(server.faults, [])
  } finally {
    vi.unstubAllEnvs()
    await server.close()
  }
}

describe("the index of memories", () => {
  test("tells how it is, also in doctor, is copied, put back, and brought up to the ledger", () =>
    withQdrant(async (run) => {
      const caught = JSON.parse((await run("index", "catch-up", "--json")).stdout)
      assert.isTrue(caught.ok)
      const told = JSON.parse((await run("index", "status", "--json")).stdout)
      assert.deepStrictEqual([told.kind, told.state, told.format, told.lag.entries], ["qdrant", "green", 2, 0])
      assert.match(
        (await run("index")).stdout,
        /^the index: qdrant is green, \d+ memor.*, format 2, nothing is missing\n$/
      )
      assert.match((await run("index", "snapshots")).stdout, /there are no snapshots/)
      const { snapshot } = JSON.parse((await run("index", "snapshot", "--json")).stdout)
      assert.include((await run("index", "snapshots")).stdout, snapshot.name)
      assertFailure(await run("index", "restore", "no-such", "--yes", "--json"), 4, "not-found", "no-such")
      assertFailure(await run("index", "restore", snapshot.name, "--json"), 9, "consent-needed", snapshot.name)
      const restored = JSON.parse((await run("index", "restore", snapshot.name, "--yes", "--json")).stdout)
      assert.deepStrictEqual([restored.ok, restored.snapshot, restored.erased], [true, snapshot.name, 0])
      assert.strictEqual(JSON.parse((await run("index", "status", "--json")).stdout).lag.entries, 0)
      const { checks } = JSON.parse((await run("doctor", "--json")).stdout)
      const index = checks.find(({ name }: { readonly name: string }) => name === "index")
      assert.isTrue(index.ok)
      assert.match(index.says, /^qdrant is green, .*format 2, nothing is missing$/)
    }))
})
