import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { assert, test } from "@effect/vitest"
import { redisSays } from "../../src/servers/redis-wire.ts"
import { postgresSays } from "../../src/servers/postgres-wire.ts"
import { sharePostgres, shareRedis } from "@reverie/testkit/shared-servers"

interface Started {
  readonly redis: string
  readonly postgres: string
  readonly directories: ReadonlyArray<string>
}

/** A process that starts both, tells where they are, and would stay for ever. */
const lines = (then: string) => `
import { startPostgres, startRedis } from "@reverie/testkit/servers"
import { postgresSays } from ${JSON.stringify(new URL("../../src/servers/postgres-wire.ts", import.meta.url).href)}
const redis = await startRedis({ own: true })
const postgres = await startPostgres({ own: true, fsync: false })
const [, dir] = await redis.send("CONFIG", "GET", "dir")
const [[data]] = await postgresSays(postgres.url, "show data_directory")
${then}
console.log(JSON.stringify({ redis: redis.url, postgres: postgres.url, directories: [dir, data] }))
`

const start = (then: string) => {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", lines(then)], {
    cwd: import.meta.dirname,
    stdio: ["ignore", "pipe", "inherit"]
  })
  const started = new Promise<Started>((resolve, reject) => {
    let text = ""
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk
      if (text.endsWith("\n")) resolve(JSON.parse(text) as Started)
    })
    child.once("exit", (code) => reject(new Error(`it ended with ${code ?? "a signal"} and told nothing`)))
  })
  const over = new Promise<NodeJS.Signals | number | null>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal ?? code))
  })
  return { child, started, over }
}

const untilAbsent = async (path: string): Promise<void> => {
  while (existsSync(path)) await sleep(20)
}

/** Both needed: one group inside of the other. */
const both = (tests: () => void) =>
  shareRedis({ own: true }).describe("anyone who starts servers", () => {
    sharePostgres({ own: true, fsync: false }).describe("and ends", tests)
  })

both(() => {
  const stays = "setInterval(() => undefined, 1_000)"
  for (const [how, then] of [
    ["", stays],
    [" with both paused", `await redis.pause(); await postgres.pause(); ${stays}`]
  ] as const) {
    test(`K1 S2 by SIGKILL${how} leaves no server and no directory`, async () => {
      const { child, over, started } = start(then)
      const { directories, postgres, redis } = await started
      assert.isTrue(directories.every((directory) => existsSync(directory)))
      child.kill("SIGKILL")
      assert.strictEqual(await over, "SIGKILL")
      for (const directory of directories) await untilAbsent(directory)
      const said = await Promise.allSettled([redisSays(redis, "PING"), postgresSays(postgres, "select 1")])
      assert.deepStrictEqual(
        said.map(({ status }) => status),
        ["rejected", "rejected"]
      )
    })
  }

  test("K1 of itself, with servers that run, leaves no server and no directory", async () => {
    const { over, started } = start("")
    const { directories } = await started
    assert.strictEqual(await over, 0)
    for (const directory of directories) await untilAbsent(directory)
  })
})
