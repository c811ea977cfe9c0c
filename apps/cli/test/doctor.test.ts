// Doctor at servers that are down, or that accept and say nothing.

import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { assert, describe, test } from "vitest"
import { assertFailure, begin, jsonOf, run, temporary } from "./command-line.ts"

/** A server that accepts and says nothing. */
const silent = async () => {
  const server = createServer((socket) => socket.on("error", () => undefined))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return { port, [Symbol.dispose]: () => void server.close() }
}

const at = (port: number) => ({ DATABASE_URL: `postgres://someone:canary@127.0.0.1:${port}/some` })

describe.concurrent("doctor without its database", () => {
  const assertAway = async (port: number): Promise<void> => {
    await using directory = await temporary()
    const said = await run(["doctor", "--deep", "--json"], { env: at(port), cwd: directory.path })
    assertFailure(said, 1, "unhealthy", "database")
    const checks = jsonOf(said)["checks"] as ReadonlyArray<{ readonly name: string; readonly ok: boolean }>
    const failed = checks.filter(({ ok }) => !ok).map(({ name }) => name)
    assert.deepStrictEqual(failed, ["database", "queue", "index"])
    assert.notInclude(`${said.stdout}${said.stderr}`, "canary")
  }

  test("D5 a port at which no one listens fails the check", () => assertAway(9), 40_000)

  test("D5 a server that accepts and says nothing fails the check", async () => {
    using server = await silent()
    await assertAway(server.port)
  }, 40_000)

  test("one SIGTERM ends it", async () => {
    using server = await silent()
    await using directory = await temporary()
    const doctor = begin(["doctor"], { env: at(server.port), cwd: directory.path })
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    doctor.child.kill("SIGTERM")
    assert.strictEqual((await doctor.ended).code, 143)
  })
})
