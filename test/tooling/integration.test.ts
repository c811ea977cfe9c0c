import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { later } from "@reverie/testkit/later"
import { placeOf } from "@reverie/testkit/servers"
import { assert, describe, test } from "vitest"
import { argumentsIn } from "../integration/arguments.ts"
import { imageOf } from "../integration/docker.ts"
import { type Engine, engineOver, type Images } from "../integration/engine.ts"
import { groundOf } from "../integration/ground.ts"
import { outcomeOf } from "../integration/outcome.ts"

const report = (...tests: ReadonlyArray<readonly [group: string, status: string]>) => ({
  testResults: [
    { assertionResults: tests.map(([group, status]) => ({ title: "a", status, ancestorTitles: [group, "inner"] })) }
  ]
})

describe("a run of the integration tests", () => {
  test("O1 that found no server has failed, whatever else ran", () => {
    const { lines, ok } = outcomeOf(report(["queue [redis]", "skipped"], ["images", "passed"]))
    assert.isFalse(ok)
    assert.deepStrictEqual(lines, [
      "skipped: queue [redis], for want of that server",
      "no suite found a server to run against: nothing was proved"
    ])
    assert.isFalse(outcomeOf({ testResults: [] }).ok)
  })

  test("O2 says once what ran and what was skipped, and what that lacks", () => {
    const ran = report(["queue [redis]", "passed"], ["queue [redis]", "failed"], ["recall [qdrant]", "skipped"])
    assert.deepStrictEqual(outcomeOf(ran), {
      ok: true,
      lines: ["ran: queue [redis]", "skipped: recall [qdrant], for want of that server"]
    })
    const { lines } = outcomeOf(ran, { grounds: { redis: "redis 7", qdrant: "no qdrant (it can not be pulled)" } })
    assert.strictEqual(lines[1], "skipped: recall [qdrant], for want of that server: no qdrant (it can not be pulled)")
  })

  test("O3 what -t did not choose was not skipped for want of a server; what it chose was", () => {
    const ran = report(["queue [redis]", "skipped"], ["store [postgres]", "passed"], ["recall [qdrant]", "skipped"])
    assert.deepStrictEqual(outcomeOf(ran, { pattern: "store" }), { ok: true, lines: ["ran: store [postgres]"] })
    assert.deepStrictEqual(outcomeOf(ran, { pattern: "^(store|recall).* > inner > a$" }).lines, [
      "ran: store [postgres]",
      "skipped: recall [qdrant], for want of that server"
    ])
    const { lines, ok } = outcomeOf(ran, { pattern: "stor e" })
    assert.deepStrictEqual([ok, lines], [false, ["no suite is called stor e: nothing was proved"]])
  })

  test("what is said to it is distinguished from what is said to vitest", () => {
    assert.deepStrictEqual(argumentsIn([]), { isOnStandIns: false, pattern: undefined, ofVitest: [] })
    const said = ["laws", "-t", "recall-qdrant", "--bail", "1"]
    assert.deepStrictEqual(argumentsIn(["--stand-ins", ...said]), {
      isOnStandIns: true,
      pattern: "recall-qdrant",
      ofVitest: said
    })
    assert.strictEqual(argumentsIn(["--testNamePattern=a b"]).pattern, "a b")
  })
})

const imagesWith = (images: Partial<Images>): Images => ({
  exists: () => Promise.resolve(false),
  pull: () => Promise.resolve(),
  ...images
})

describe("an engine", () => {
  test("E2 an image that is there lacks nothing, one that comes when it is pulled neither", async () => {
    const here = engineOver(imagesWith({ exists: () => Promise.resolve(true), pull: () => assert.fail("pulled") }))
    assert.isUndefined(await here.lackOf("redis:8"))
    let isPulled = false
    const pull = () => {
      isPulled = true
      return Promise.resolve()
    }
    const there = engineOver(imagesWith({ exists: () => Promise.resolve(isPulled), pull }))
    assert.isUndefined(await there.lackOf("redis:8"))
  })

  test("E2 one that can not be had is a reason: the engine's sentence, or that the pull ended without it", async () => {
    const words = 'Get "https://images.example/v2/": dial tcp: lookup images.example: no such host'
    const pull = () => Promise.reject(new Error(`(HTTP code 500) server error - ${words} \n`))
    assert.strictEqual(await engineOver(imagesWith({ pull })).lackOf("redis:8"), words)
    assert.strictEqual(await engineOver(imagesWith({})).lackOf("redis:8"), "the pull ended without it")
  })

  test("E3 it is asked once for each image, and not at all for what is known", async () => {
    const pulled: Array<string> = []
    const pull = (image: string) => {
      pulled.push(image)
      return Promise.reject(new Error("no"))
    }
    const engine = engineOver(imagesWith({ pull }), { "redis:8": "said before" })
    for (const image of ["redis:8", "qdrant:1", "qdrant:1"]) await engine.lackOf(image)
    assert.strictEqual(await engine.lackOf("redis:8"), "said before")
    assert.deepStrictEqual(pulled, ["qdrant:1"])
  })
})

/** Without what the environment names, so that Docker's turn comes. */
const unnamed = (...variables: ReadonlyArray<string>): void => {
  for (const variable of variables) {
    const before = process.env[variable]
    later(() => {
      if (before !== undefined) process.env[variable] = before
    })
    delete process.env[variable]
  }
}

describe("the ground of a suite", () => {
  const lacking: Engine = { lackOf: () => Promise.resolve("no such host") }

  test("is a container where the engine has the image", async () => {
    unnamed("QDRANT_URL")
    const { lack, says, start } = await groundOf(
      "qdrant",
      Promise.resolve({ lackOf: () => Promise.resolve(undefined) })
    )
    assert.deepStrictEqual([says, lack], [`qdrant in Docker (${imageOf("qdrant")})`, undefined])
    assert.isDefined(start)
  })

  test("G3 is skipped with a sentence where the engine can not pull the image and nothing else is here", async () => {
    unnamed("QDRANT_URL")
    const { lack, says, start } = await groundOf("qdrant", Promise.resolve(lacking))
    assert.isUndefined(start)
    assert.include(says, "QDRANT_URL is not set")
    assert.include(says, `it has no ${imageOf("qdrant")} and can not pull it: no such host`)
    assert.deepStrictEqual(lack, { image: imageOf("qdrant"), reason: "no such host" })
  })

  test("G3 falls back on a server of this machine where the engine can not pull the image", async () => {
    unnamed("REDIS_URL")
    const isHere = placeOf("redis").origin === "machine"
    const { says, start } = await groundOf("redis", Promise.resolve(lacking))
    assert.strictEqual(start !== undefined, isHere)
    assert.include(says, "can not pull it: no such host")
    assert.strictEqual((await groundOf("redis", Promise.resolve(undefined))).start !== undefined, isHere)
  })
})

const ENGINE = join(import.meta.dirname, "../integration/engine.ts")
const KEEPER = join(import.meta.dirname, "../integration/keeper-child.ts")

/** An engine that answers, has nothing and can pull nothing; what it was asked to remove. */
const poorEngine = async () => {
  const removed: Array<string> = []
  let containers = [{ Id: "left-behind", Labels: {}, State: "running" }]
  const server = createServer(({ method = "", url = "" }, response) => {
    const path = url.replace(/^\/v[\d.]+/, "").split("?")[0] ?? ""
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
    if (path === "/info") return answer(200, { OperatingSystem: "test", OSType: "linux", ServerVersion: "1", NCPU: 1 })
    if (method === "POST" && path === "/images/create") {
      return answer(500, { message: "dial tcp: lookup registry-1.docker.io: no such host" })
    }
    if (path.startsWith("/images/")) return answer(404, { message: "No such image: it" })
    if (path === "/containers/json") return answer(200, url.includes("reverie.integration") ? containers : [])
    if (method === "DELETE") {
      removed.push(path.split("/")[2] ?? "")
      containers = []
      return response.writeHead(204).end()
    }
    return answer(404, { message: "page not found" })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  later(() => {
    server.closeAllConnections()
    server.close()
  })
  return { host: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, removed }
}

describe("with the client of an engine", () => {
  const asking = `const { findEngine } = await import(${JSON.stringify(ENGINE)})
    const engine = await findEngine()
    process.stdout.write((await engine?.lackOf("qdrant/qdrant:v1")) ?? "none", () => process.exit(0))`

  const ask = async (host: string): Promise<string> => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", asking], {
      env: { ...process.env, DOCKER_HOST: host },
      stdio: ["ignore", "pipe", "inherit"]
    })
    let said = ""
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()))
    await once(child, "close")
    return said
  }

  test("E2 one that answers and can pull nothing gives its reason", async () => {
    const { host } = await poorEngine()
    assert.include(await ask(host), "lookup registry-1.docker.io: no such host")
  })

  test("D1 K1 the keeper removes what a run left, as soon as the run is gone", async () => {
    const { host, removed } = await poorEngine()
    const keeper = spawn(process.execPath, [KEEPER, "reverie.integration=a-run"], {
      env: { ...process.env, DOCKER_HOST: host },
      stdio: ["pipe", "ignore", "inherit"]
    })
    keeper.stdin.end()
    await once(keeper, "close")
    assert.deepStrictEqual(removed, ["left-behind"])
  })
})

test("E1 an engine that does not answer is passed over, though DOCKER_HOST names it", () => {
  const script = `const { findEngine } = await import(${JSON.stringify(ENGINE)})
    process.stdout.write(String(await findEngine()), () => process.exit(0))`
  const env = { ...process.env, DOCKER_HOST: "tcp://127.0.0.1:1", HOME: "/nowhere", XDG_RUNTIME_DIR: "/nowhere" }
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { env, encoding: "utf8" })
  // Where the machine has one of its own, it is that one.
  assert.strictEqual(stdout === "undefined", !existsSync("/var/run/docker.sock"), stdout)
})
