import type { IncomingMessage } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Guard } from "../../src/http/guard.ts"
import { Patience } from "../../src/http/patience.ts"
import { assertFailure, assertSecured, bearer, type Loose, openRig, SECRETS, tokens } from "./rig.ts"

/** Everything that is not open to anybody. */
const paths = ["/", "/v1/assistants", "/v1/events", "/v1/system", "/metrics", "/docs", "/openapi.json", "/unknown"]

describe("guard: without tokens only this machine", () => {
  it("G2 another Host is refused on every route but those of health", async () => {
    const { ask, server } = await openRig({ hosts: ["Fleet.Home"] })
    for (const host of ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "169.254.169.254", "localhost."]) {
      for (const path of paths) {
        const answer = await ask(path, { headers: { host } })
        assertFailure(answer, 403, "Forbidden")
        assertSecured(answer)
      }
      assert.strictEqual((await ask("/livez", { headers: { host } })).status, 200)
      assert.strictEqual((await ask("/readyz", { headers: { host } })).status, 200)
    }
    for (const host of [
      `localhost:${server.port}`,
      `127.0.0.1:${server.port}`,
      "[::1]:80",
      "LOCALHOST",
      "fleet.home"
    ]) {
      assert.strictEqual((await ask("/v1/assistants", { headers: { host } })).status, 200, host)
    }
  })

  it("G2 G3 a page of another site may neither look nor change", async () => {
    const { ask, post, server } = await openRig()
    const foreign = [
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: "http://localhost:1" },
      { origin: "file://" },
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" },
      { "sec-fetch-site": "same-site", "sec-fetch-mode": "cors" }
    ]
    for (const headers of foreign) {
      for (const path of paths) assertFailure(await ask(path, { headers }), 403, "Forbidden")
      assertFailure(await post("/v1/assistants/desk/messages", { text: "a" }, headers), 403, "Forbidden")
    }
    const own = [
      {},
      { origin: `http://127.0.0.1:${server.port}` },
      { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" },
      { "sec-fetch-site": "none", "sec-fetch-mode": "navigate" },
      // A link to the page, followed by a person.
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }
    ]
    for (const headers of own) assert.strictEqual((await ask("/v1/assistants", { headers })).status, 200)
    const { origin } = { origin: `http://127.0.0.1:${server.port}` }
    assert.strictEqual((await post("/v1/assistants/desk/messages", { text: "a" }, { origin })).status, 202)
  })

  it("A1 a token that no one gave out opens nothing more, and closes nothing", async () => {
    const { ask } = await openRig()
    const answer = await ask("/v1/system", { headers: bearer("whatever-it-may-be") })
    assert.deepStrictEqual([answer.status, answer.json.principal, answer.json.tenant], [200, "local", "default"])
  })

  it("G5 open without names: served under any name, and foreign pages still change nothing", async () => {
    const { ask, post } = await openRig({ open: true })
    assert.strictEqual((await ask("/v1/assistants", { headers: { host: "fleet.example" } })).status, 200)
    const headers = { host: "fleet.example", origin: "https://evil.example" }
    assertFailure(await post("/v1/assistants/desk/messages", { text: "a" }, headers), 403, "Forbidden")
  })

  it("G5 open with names: a page whose name was bound to this machine may neither look nor change", async () => {
    const { ask, post, server } = await openRig({ open: true, hosts: ["localhost", "127.0.0.1"] })
    const host = `evil.example:${server.port}`
    for (const headers of [{ host }, { host, origin: `http://${host}` }]) {
      for (const path of paths) assertFailure(await ask(path, { headers }), 403, "Forbidden")
      assertFailure(await post("/v1/assistants/desk/messages", { text: "a" }, headers), 403, "Forbidden")
      assertFailure(await post("/v1/orders", { order: "halt" }, headers), 403, "Forbidden")
      assertFailure(await post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" }, headers), 403, "Forbidden")
      assert.strictEqual((await ask("/readyz", { headers })).status, 200)
    }
    for (const name of ["localhost", "127.0.0.1", "[::1]"]) {
      const headers = { host: `${name}:${server.port}` }
      assert.strictEqual((await ask("/v1/assistants", { headers })).status, 200, name)
    }
  })

  it("G5 open with names: under these it is reached from elsewhere, as through a published port", () => {
    const guard = new Guard({ tokens: [], tenant: "default", open: true, hosts: ["localhost", "Fleet.Example"] })
    const judged = (host: string) => {
      const request = { method: "POST", headers: { host }, socket: { remoteAddress: "172.18.0.1" } }
      const answer = guard.judge(request as unknown as IncomingMessage, "fleet")
      return "_tag" in answer ? answer._tag : "served"
    }
    assert.deepStrictEqual(
      ["localhost:4000", "fleet.example", "127.0.0.1:4000", "[::1]", "evil.example", "localhost.evil.example", ""].map(
        judged
      ),
      ["served", "served", "Forbidden", "Forbidden", "Forbidden", "Forbidden", "Forbidden"]
    )
  })
})

describe("guard: with tokens", () => {
  it("G1 nothing of a fleet without the right one, whatever is tried", async () => {
    const { ask } = await openRig({ tokens })
    const wrong = [
      {},
      { authorization: "" },
      { authorization: SECRETS.north },
      { authorization: "Bearer" },
      { authorization: "Bearer " },
      { authorization: `Basic ${SECRETS.north}` },
      { authorization: `Bearer ${SECRETS.north}x` },
      { authorization: `Bearer ${SECRETS.north.slice(0, -1)}` }
    ]
    for (const path of ["/v1/unknown", "/v1/events", "/metrics"]) {
      const answer = await ask(path)
      assertFailure(answer, 401, "Unauthorized")
      assert.strictEqual(answer.headers["www-authenticate"], "Bearer")
    }
    for (const headers of wrong) assertFailure(await ask("/v1/assistants", { headers }), 401, "Unauthorized")
    for (const name of ["Bearer", "bearer"]) {
      const headers = { authorization: `${name} ${SECRETS.north}` }
      assert.strictEqual((await ask("/v1/assistants", { headers })).status, 200)
    }
    // What is no part of any fleet.
    for (const path of ["/livez", "/readyz", "/openapi.json"]) assert.strictEqual((await ask(path)).status, 200)
  })

  it("D1 A1 a token acts for its tenant and under its name; one that may only look changes nothing", async () => {
    const { ask, post } = await openRig({ tokens })
    const seen = await ask("/v1/system", { headers: bearer(SECRETS.south) })
    assert.deepStrictEqual([seen.json.tenant, seen.json.principal, seen.json.readOnly], ["south", "southerner", false])
    const onlooker = bearer("onlooker-secret-0123456789")
    assert.strictEqual((await ask("/v1/assistants", { headers: onlooker })).status, 200)
    assertFailure(await post("/v1/assistants", { id: "desk" }, onlooker), 403, "Forbidden")
    assertFailure(await post("/v1/orders", { order: "halt" }, onlooker), 403, "Forbidden")
    assert.strictEqual((await post("/v1/orders", { order: "halt", dryRun: true }, onlooker)).status, 200)
    const audit = await ask("/v1/audit", { headers: onlooker })
    assert.deepStrictEqual(
      audit.json.items.map(({ action, outcome, who }: Loose) => [who, action, outcome]),
      [
        ["onlooker", "assistants.orderAll", "refused: this token may only look"],
        ["onlooker", "assistants.create", "refused: this token may only look"]
      ]
    )
  })

  it("G3 a foreign page changes nothing, even with a token", async () => {
    const { post } = await openRig({ tokens })
    const headers = { ...bearer(SECRETS.north), origin: "https://evil.example" }
    assertFailure(await post("/v1/assistants", { id: "desk" }, headers), 403, "Forbidden")
  })

  it("G4 P1 P2 who guesses waits longer each time, in bounded memory; the right token never waits", () => {
    const patience = new Patience()
    const waits = Array.from({ length: 40 }, () => patience.after("guesser", 0) ?? -1)
    assert.deepStrictEqual(waits.slice(0, 5), [0, 0, 0, 0, 0])
    assert.deepStrictEqual(
      waits.toSorted((a, b) => a - b),
      waits
    )
    assert.strictEqual(waits.at(-1), 2_000)
    assert.strictEqual(patience.after("guesser", 120_000), 0, "after a while it is forgotten")
    for (let place = 0; place < 5_000; place++) patience.after(`place ${place}`, 0)
    assert.isAtMost(patience.places, 1_000)
    assert.strictEqual(patience.failed, 5_041)
  })
})
