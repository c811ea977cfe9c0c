import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import * as Effect from "effect/Effect"
import { assert, describe, test } from "@effect/vitest"
import { redisServer, startRedis } from "@reverie/testkit/servers"
import { shareRedis } from "@reverie/testkit/shared-servers"
import { withVariables } from "./environment.ts"

const redis = shareRedis()
const own = shareRedis({ own: true })

redis.describe("a Redis", () => {
  test("R1 gives each start a prefix of its own", async () => {
    const other = await startRedis()
    assert.notStrictEqual(other.prefix, redis.server().prefix)
    await other.stop()
  })

  test("answers, refuses, and knows bytes from characters", async () => {
    const { prefix, send } = redis.server()
    assert.strictEqual(await send("PING"), "PONG")
    assert.strictEqual(await send("GET", `${prefix}:none`), null)
    await send("RPUSH", `${prefix}:list`, "ä", "")
    assert.strictEqual(await send("STRLEN", `${prefix}:list:none`), 0)
    assert.deepStrictEqual(await send("LRANGE", `${prefix}:list`, "0", "-1"), [Buffer.from("ä").toString("latin1"), ""])
    const refused = await send("NONSENSE").catch((cause: unknown) => String(cause))
    assert.include(String(refused), "unknown command")
  })

  test("S1 R1 one of the environment keeps what others wrote, and is not ours to kill", () => {
    const { prefix, send, url } = redis.server()
    return withVariables({ REDIS_URL: url }, async () => {
      const named = await startRedis()
      assert.deepStrictEqual([named.origin, named.isOwn, named.url], ["environment", false, url])
      await send("SET", `${prefix}:others`, "1")
      for (let key = 0; key < 1_200; key += 200) {
        const pairs = Array.from({ length: 200 }, (_, index) => [`${named.prefix}:${key + index}`, "1"])
        await named.send("MSET", ...pairs.flat())
      }
      const refused = await named.kill().catch((cause: unknown) => String(cause))
      assert.include(String(refused), "does not own")
      await named.stop()
      await named.stop()
      assert.strictEqual(await send("GET", `${prefix}:others`), "1")
      assert.deepStrictEqual(await send("KEYS", `${named.prefix}*`), [])
    })
  })

  test("S1 on one of the environment a process that ends of itself leaves no keys", async () => {
    const { send, url } = redis.server()
    const lines = `
      import { startRedis } from "@reverie/testkit/servers"
      const { prefix, send } = await startRedis()
      await send("SET", prefix + ":mine", "1")
      process.stdout.write(prefix)`
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", lines], {
      cwd: import.meta.dirname,
      env: { ...process.env, REDIS_URL: url },
      encoding: "utf8"
    })
    assert.match(stdout, /^reverie-test-/)
    assert.strictEqual(await send("GET", `${stdout}:mine`), null)
  })

  test("one of the environment that does not answer is reported as such", () =>
    withVariables({ REDIS_URL: "redis://127.0.0.1:1" }, async () => {
      const said = await startRedis().catch((cause: unknown) => String(cause))
      assert.match(String(said), /the Redis of environment failed at connect: .*ECONNREFUSED/)
    }))
})

own.describe("a Redis of our own", () => {
  const directoryOf = async (send: (...words: ReadonlyArray<string>) => Promise<unknown>) =>
    String(((await send("CONFIG", "GET", "dir")) as ReadonlyArray<string>)[1])

  test("S2 P2 is gone with its directory, whatever the environment names", () =>
    withVariables({ REDIS_URL: "redis://127.0.0.1:1" }, async () => {
      const server = await startRedis({ own: true })
      const directory = await directoryOf(server.send)
      assert.strictEqual(server.origin, "machine")
      assert.isTrue(existsSync(directory))
      await server.stop()
      assert.isFalse(existsSync(directory))
      const said = await server.send("PING").catch((cause: unknown) => String(cause))
      assert.include(String(said), "ECONNREFUSED")
    }))

  test("S3 durable, it has after a kill what it was told before; else it begins with nothing", async () => {
    for (const durable of [true, false]) {
      const server = await startRedis({ own: true, durable })
      await server.send("SET", "kept", "yes")
      await server.kill()
      const said = await server.send("PING").catch((cause: unknown) => String(cause))
      assert.include(String(said), "ECONNREFUSED")
      await server.restart()
      assert.strictEqual(await server.send("GET", "kept"), durable ? "yes" : null)
      await server.restart()
      assert.strictEqual(await server.send("GET", "kept"), durable ? "yes" : null)
      await server.stop()
    }
  })

  test("paused it takes a connection and does not answer; resumed it does", async () => {
    const { pause, resume, send } = own.server()
    await pause()
    let answered = false
    const answer = send("PING").finally(() => (answered = true))
    await sleep(50)
    assert.isFalse(answered)
    await resume()
    assert.strictEqual(await answer, "PONG")
  })

  test("stopped while it is paused or dead it is gone as well", async () => {
    for (const hurt of ["pause", "kill"] as const) {
      const server = await startRedis({ own: true })
      const directory = await directoryOf(server.send)
      await server[hurt]()
      await server.stop()
      assert.isFalse(existsSync(directory))
    }
  })

  test("O1 a start that fails says what the server said", async () => {
    const said = await startRedis({ own: true, args: ["--nonsense", "1"] }).catch((cause: unknown) => String(cause))
    assert.match(String(said), /Redis failed at start: [\s\S]*nonsense/)
  })

  test("as a resource it ends with its scope", async () => {
    const directory = await Effect.runPromise(
      Effect.scoped(Effect.flatMap(redisServer({ own: true }), ({ send }) => Effect.promise(() => directoryOf(send))))
    )
    assert.isFalse(existsSync(directory))
  })
})

describe("no Redis", () => {
  test("P1 is reported with a reason that says what to do", () =>
    withVariables({ REDIS_URL: "", PATH: "" }, async () => {
      const said = await startRedis().catch((cause: unknown) => String(cause))
      assert.include(String(said), "no Redis for tests: REDIS_URL is not set, and no redis-server is on the PATH")
      const failure = await Effect.runPromise(Effect.flip(Effect.scoped(redisServer())))
      assert.strictEqual(failure._tag, "ServerAbsent")
    }))
})
