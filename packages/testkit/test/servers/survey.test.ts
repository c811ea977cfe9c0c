import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, test } from "@effect/vitest"
import { placeOf, servers } from "@reverie/testkit/servers"
import { withVariables } from "./environment.ts"

const none = { REDIS_URL: "", DATABASE_URL: "", QDRANT_URL: "" }

/** A folder with programs that say their version and nothing else. */
const withPrograms = async (said: Readonly<Record<string, string>>, use: (folder: string) => Promise<void>) => {
  const folder = mkdtempSync(join(tmpdir(), "reverie-programs-"))
  try {
    mkdirSync(join(folder, "bin"))
    for (const [name, version] of Object.entries(said)) {
      const file = join(folder, "bin", name)
      writeFileSync(file, `#!/bin/sh\necho '${version}'\n`)
      chmodSync(file, 0o755)
    }
    await use(join(folder, "bin"))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe("where servers are found", () => {
  test("P2 P3 the environment comes first, then the PATH; one to be killed is never the environment's", () =>
    withPrograms({ "redis-server": "v=9.9", postgres: "x", initdb: "x" }, (folder) =>
      withVariables({ ...none, PATH: folder, REDIS_URL: "redis://a" }, () => {
        assert.deepStrictEqual(placeOf("redis"), { origin: "environment", url: "redis://a" })
        const program = join(folder, "redis-server")
        assert.deepStrictEqual(placeOf("redis", { own: true }), { origin: "machine", program })
        assert.deepStrictEqual(placeOf("postgres"), { origin: "machine", program: join(folder, "postgres") })
        return Promise.resolve()
      })
    ))

  test("a postgres without its initdb is none", () =>
    withPrograms({ postgres: "x" }, (folder) =>
      withVariables({ ...none, PATH: folder }, () => {
        assert.notDeepEqual(placeOf("postgres"), { origin: "machine", program: join(folder, "postgres") })
        return Promise.resolve()
      })
    ))

  test("V1 P1 a run tells of each server where it is from, without passwords, or why it is not there", () =>
    withPrograms({ "redis-server": "Redis server v=9.9.1 sha=0", postgres: "", initdb: "" }, (folder) =>
      withVariables({ ...none, PATH: folder, DATABASE_URL: "postgres://me:secret@host:1/db" }, () => {
        assert.strictEqual(
          servers.describe(),
          `servers of this run: redis 9.9.1 of this machine (${folder}/redis-server); ` +
            "postgres of the environment at postgres://me:***@host:1/db; " +
            "no qdrant (QDRANT_URL is not set, and a Qdrant is not looked for on the machine)"
        )
        return Promise.resolve()
      })
    ))
})
