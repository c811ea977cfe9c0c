import { existsSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import * as Effect from "effect/Effect"
import { assert, describe, test } from "@effect/vitest"
import { postgresServer, startPostgres } from "@reverie/testkit/servers"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import { postgresSays } from "../../src/servers/postgres-wire.ts"
import { withVariables } from "./environment.ts"

const postgres = sharePostgres({ fsync: false })
const own = sharePostgres({ own: true, fsync: false })

const saidOf = (promise: Promise<unknown>): Promise<string> => promise.then(String, String)

/** Resolves when a statement sleeps on it. */
const untilAsleep = async (url: string): Promise<void> => {
  const sleepers = "select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'"
  while ((await postgresSays(url, sleepers)).length === 0) await sleep(10)
}

postgres.describe("a PostgreSQL", () => {
  test("G1 each database is empty and of its own", async () => {
    const { freshDatabase, url } = postgres.server()
    await postgresSays(url, "create table here (word text)", "insert into here values ('a'), (null), ('ä')")
    assert.deepStrictEqual(await postgresSays(url, "select word from here"), [["a"], [null], ["ä"]])
    const other = await freshDatabase()
    assert.include(await saidOf(postgresSays(other.url, "select word from here")), '"here" does not exist (42P01)')
    await other.drop()
    await other.drop()
    assert.include(await saidOf(postgresSays(other.url, "select 1")), "does not exist (3D000)")
  })

  test("S1 G1 on one of the environment our databases are dropped, with anyone who is still connected", () => {
    const { url } = postgres.server()
    return withVariables({ DATABASE_URL: url }, async () => {
      const named = await startPostgres()
      assert.deepStrictEqual([named.origin, named.isOwn], ["environment", false])
      const second = await named.freshDatabase()
      const asleep = saidOf(postgresSays(named.url, "select pg_sleep(600)"))
      await untilAsleep(named.url)
      assert.include(await saidOf(named.restart()), "does not own")
      await named.stop()
      assert.match(await asleep, /terminating connection|closed the connection|ECONNRESET/)
      for (const gone of [named.url, second.url]) {
        assert.include(await saidOf(postgresSays(gone, "select 1")), "does not exist (3D000)")
      }
      assert.deepStrictEqual(await postgresSays(url, "select 1"), [["1"]])
    })
  })

  test("one of the environment that does not answer, or refuses, is reported as such", async () => {
    const { url } = postgres.server()
    const named = (DATABASE_URL: string, says: RegExp) =>
      withVariables({ DATABASE_URL }, async () => {
        assert.match(await saidOf(startPostgres()), says)
      })
    await named("postgres://127.0.0.1:1/x", /the PostgreSQL of environment failed at connect: .*ECONNREFUSED/)
    const { host } = new URL(url)
    await named(`postgres://nobody-here@${host}/postgres`, /failed at make a database of its own: .*nobody-here/)
  })
})

own.describe("a PostgreSQL of our own", () => {
  const directoryOf = async (url: string) => dirname((await postgresSays(url, "show data_directory"))[0]?.[0] ?? "")

  test("S2 P2 is gone with its directory, whatever the environment names", () =>
    withVariables({ DATABASE_URL: "postgres://127.0.0.1:1/x" }, async () => {
      const server = await startPostgres({ own: true })
      const directory = await directoryOf(server.url)
      assert.strictEqual(server.origin, "machine")
      assert.isTrue(existsSync(directory))
      await server.stop()
      assert.isFalse(existsSync(directory))
      assert.include(await saidOf(postgresSays(server.url, "select 1")), "ECONNREFUSED")
    }))

  test("S3 after a kill or a restart it has what was committed", async () => {
    const { kill, restart, url } = own.server()
    await postgresSays(url, "create table kept (n int)", "insert into kept values (1)")
    await kill()
    assert.include(await saidOf(postgresSays(url, "select 1")), "ECONNREFUSED")
    await restart()
    await postgresSays(url, "insert into kept values (2)")
    await restart()
    assert.deepStrictEqual(await postgresSays(url, "select n from kept order by n"), [["1"], ["2"]])
  })

  test("a kill takes those who work for a client along", async () => {
    const { kill, restart, url } = own.server()
    const asleep = saidOf(postgresSays(url, "select pg_sleep(600)"))
    await untilAsleep(url)
    await kill()
    assert.match(await asleep, /closed the connection|ECONNRE/)
    await restart()
  })

  test("paused it answers no one, also not who was connected; resumed it does", async () => {
    const { pause, resume, url } = own.server()
    await pause()
    let answered = false
    const answer = postgresSays(url, "select 1").finally(() => (answered = true))
    await sleep(50)
    assert.isFalse(answered)
    await resume()
    assert.deepStrictEqual(await answer, [["1"]])
  })

  test("G2 it waits for the disk unless told otherwise, and takes settings", async () => {
    const earnest = await startPostgres({ own: true, settings: { max_connections: "17" } })
    const shown = async (url: string) => (await postgresSays(url, "show fsync", "show max_connections")).flat()
    assert.deepStrictEqual(await shown(earnest.url), ["on", "17"])
    await earnest.stop()
    assert.deepStrictEqual(await shown(own.server().url), ["off", "200"])
  })

  test("O1 a start that fails says what the server said", async () => {
    const said = await saidOf(startPostgres({ own: true, settings: { nonsense: "1" } }))
    assert.match(said, /PostgreSQL failed at start: [\s\S]*nonsense/)
  })

  test("W1 it is logged in to with a password in clear, MD5 and SCRAM", async () => {
    const server = await startPostgres({ own: true, fsync: false })
    const [[hba = ""] = []] = await postgresSays(server.url, "show hba_file")
    for (const [method, stored] of [
      ["password", "scram-sha-256"],
      ["scram-sha-256", "scram-sha-256"],
      ["md5", "md5"]
    ] as const) {
      const name = `reader_${method.replaceAll("-", "_")}`
      await postgresSays(
        server.url,
        `set password_encryption = '${stored}'`,
        `create role ${name} login password 'p@ss wörd'`
      )
      const rules = [`host all ${name} all ${method}`, "host all all all trust"]
      writeFileSync(hba ?? "", `${rules.join("\n")}\n`)
      await server.restart()
      const url = new URL(server.url)
      url.username = name
      url.password = encodeURIComponent("p@ss wörd")
      assert.deepStrictEqual(await postgresSays(url.href, "select current_user"), [[name]])
      url.password = "wrong"
      assert.include(await saidOf(postgresSays(url.href, "select 1")), "password authentication failed")
    }
    await server.stop()
  })

  test("as a resource it ends with its scope", async () => {
    const directory = await Effect.runPromise(
      Effect.scoped(Effect.flatMap(postgresServer({ own: true }), ({ url }) => Effect.promise(() => directoryOf(url))))
    )
    assert.isFalse(existsSync(directory))
  })
})

describe("no PostgreSQL", () => {
  test("P1 is reported with a reason that says what to do", () =>
    withVariables({ DATABASE_URL: "postgres://127.0.0.1:1/x" }, async () => {
      const failure = await Effect.runPromise(Effect.flip(Effect.scoped(postgresServer())))
      assert.strictEqual(failure._tag, "ServerFailed")
    }))
})
