// Loaded: a command that asks a server loads what speaks to one, and nothing that runs an assistant or opens a store.

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { begin, fixture, temporary } from "./command-line.ts"

/** Rooms that only a process with a fleet of its own needs, and those of a model. */
const heavy =
  /\/(?:packages\/(?:runtime|assistant|model|ledger|mailbox|adapters\/(?:store|queue|recall|model)-[a-z]+)|xstate)\//

describe("loaded", () => {
  it("a command that asks a server loads no runtime, no statechart, no model and no store", async () => {
    await using directory = await temporary()
    const file = join(directory.path, "loaded")
    const env = { NODE_OPTIONS: `--import=${fixture("loaded-modules.ts")}`, LOADED_MODULES: file }
    const { code } = await begin(["agents", "ls", "--url", "http://127.0.0.1:1"], { env }).ended
    assert.strictEqual(code, 6)
    const loaded = readFileSync(file, "utf8").split("\n")
    assert.include(loaded.join("\n"), "/apps/cli/src/backend/server.ts")
    assert.deepStrictEqual(
      loaded.filter((url) => heavy.test(url)),
      []
    )
    assert.include(loaded, "NativeModule http")
    assert.notInclude(loaded, "NativeModule internal/deps/undici/undici", "something loads the `fetch` of Node")
  })
})
