import { assert, describe, it, vi } from "@effect/vitest"
import { createServer } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { defineAssistant, defineFleet, Fleet } from "reverie"
import { later } from "@reverie/testkit/later"
import { aPath, assertFailure, bearer, type Loose, openRig, SECRETS, tokens } from "./rig.ts"
import { plainOf } from "../../src/health.ts"
import { LoopWatch } from "../../src/loop-watch.ts"
import { Patience } from "../../src/http/patience.ts"
import { Traffic } from "../../src/http/traffic.ts"

const JSON_TYPE = { "content-type": "application/json" }

/** What a server answers to these bytes. */
const raw = (port: number, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.end(text))
    let said = ""
    socket.on("data", (chunk) => (said += chunk.toString()))
    socket.on("close", () => resolve(said))
    socket.on("error", reject)
  })

/** What health answers about a fleet, nothing of it remembered from one question to the next. */
const healthOf = async (fleet: Fleet) => {
  const options = {
    fleet,
    role: "all",
    traffic: new Traffic(),
    patience: new Patience(),
    watch: new LoopWatch()
  } as const
  const plain = plainOf({ ...options, knownMillis: 0, isClosing: () => false })
  const server = createServer((request, response) => {
    void plain.get((request.url ?? "").split("?")[0] ?? "")?.answer(request, response)
  })
  later(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return async (path: string): Promise<{ readonly status: number; readonly json: Loose }> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    return { status: response.status, json: await response.json() }
  }
}

describe("health", () => {
  it("L1 all who ask whether it lives learn of the same hold", async () => {
    const { ask } = await openRig()
    const until = performance.now() + 120
    while (performance.now() < until) continue
    await new Promise((resolve) => setTimeout(resolve, 30))
    const answers = [await ask("/livez"), await ask("/livez"), await ask("/livez")]
    for (const { json, status } of answers) {
      assert.strictEqual(status, 200)
      assert.isAtLeast(json.lagMs, 90)
    }
    assert.match((await ask("/metrics")).text, /reverie_event_loop_hold_max_seconds\{clock="cpu"\} 0\.\d+/)
  })

  it("L2 it is not ready while every assistant is halted, and says how many; who asks for less learns that", async () => {
    const { fleet } = await openRig()
    const health = await healthOf(fleet)
    assert.strictEqual((await health("/readyz")).status, 200)
    await fleet.halt("desk", "for a test")
    await fleet.idle()
    assert.strictEqual((await health("/readyz")).status, 200)
    await fleet.forTenant("south").create("far-off", "desk")
    await fleet.haltAll("for a test")
    await fleet.idle()
    assert.strictEqual((await health("/readyz")).status, 200)
    await fleet.forTenant("south").haltAll("for a test")
    await fleet.idle()
    const halted = await health("/readyz")
    assert.deepStrictEqual([halted.status, halted.json.says], [503, "all 3 assistants are halted"])
    assert.strictEqual((await health("/readyz?exclude=halted")).status, 200)
    await fleet.resume("clerk")
    await fleet.idle()
    assert.strictEqual((await health("/readyz")).status, 200)
    await fleet.retire("clerk")
    await fleet.idle()
    assert.strictEqual((await health("/readyz")).json.says, "all 2 assistants are halted")
  })

  it("L2 it is not ready while its store refuses to write", async () => {
    const fleet = await Fleet.open({
      data: aPath(),
      model: "offline",
      maxBytes: 600_000,
      role: "api",
      fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You are under test." })] })
    })
    later(() => fleet.close())
    const health = await healthOf(fleet)
    assert.strictEqual((await health("/readyz")).status, 200)
    for (let sent = 0; sent < 200; sent++) {
      if (!(await fleet.send("desk", "x".repeat(20_000)).then(Boolean, () => false))) break
    }
    const { json, status } = await health("/readyz")
    assert.deepStrictEqual([status, json.ok], [503, false])
    assert.strictEqual((await fleet.monitor.totals()).dead, 0)
  })

  it("L3 however often it is asked at once, the store is asked once", async () => {
    const { ask, fleet } = await openRig()
    let asked = 0
    const { monitor } = fleet
    vi.spyOn(fleet, "monitor", "get").mockReturnValue({
      ...monitor,
      readiness: () => {
        asked++
        return monitor.readiness()
      }
    })
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask("/readyz")))
    assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    assert.strictEqual(asked, 1)
  })

  it("a store that is gone is seen in the measures", async () => {
    const { ask, fleet } = await openRig()
    assert.include((await ask("/metrics")).text, "reverie_store_up 1")
    await fleet.close()
    const { status, text } = await ask("/metrics")
    assert.deepStrictEqual([status, text.includes("reverie_store_up 0")], [200, true])
  })
})

describe("ids in a path", () => {
  it("are that id, letter by letter, whatever is read or changed", async () => {
    const { ask, fleet, post } = await openRig()
    const bodies = { messages: { text: "Hello." }, events: { event: { type: "wake" } }, orders: { order: "halt" } }
    for (const [path, body] of Object.entries(bodies)) {
      const answer = await post(`/v1/assistants/DESK/${path}`, body)
      assertFailure(answer, 404, "NotFound")
    }
    assertFailure(await ask("/v1/assistants/DESK"), 404, "NotFound")
    assertFailure(
      await post("/v1/agui/DESK", { threadId: "t", runId: "r", messages: [{ role: "user", content: "Hi." }] }),
      404,
      "NotFound"
    )
    await fleet.create("DESK", "desk")
    assert.strictEqual(
      (await post("/v1/assistants/DESK/messages", { text: "Hello.", id: "to-the-big-one" })).status,
      202
    )
    await fleet.idle()
    const heard = async (id: string) => (await ask(`/v1/assistants/${id}/messages`)).text.includes("Hello.")
    assert.deepStrictEqual([await heard("DESK"), await heard("desk")], [true, false])
  })
})

describe("the key of idempotency", () => {
  it("C4 two of them are refused, the same one too, on either way", async () => {
    const { ask, server } = await openRig()
    const send = (keys: ReadonlyArray<string>, path = "/v1/assistants/desk/messages", body = '{"text":"Hello."}') =>
      raw(
        server.port,
        [
          `POST ${path} HTTP/1.1`,
          "host: localhost",
          "connection: close",
          "content-type: application/json",
          `content-length: ${body.length}`,
          ...keys.map((key) => `Idempotency-Key: ${key}`),
          "",
          body
        ].join("\r\n")
      )
    assert.include(await send(["a"]), "202 Accepted")
    for (const keys of [
      ["a", "b"],
      ["a", "a"]
    ]) {
      assert.match(await send(keys), /^HTTP\/1\.1 400 .*stands more than once/s)
      const event = '{"event":{"type":"wake"}}'
      assert.match(await send(keys, "/v1/assistants/desk/events", event), /^HTTP\/1\.1 400 .*stands more than once/s)
    }
    assert.strictEqual((await ask("/v1/assistants/desk/mailbox", { headers: JSON_TYPE })).status, 200)
  })
})

describe("the system page", () => {
  const config = [{ name: "data", value: "/srv/reverie", origin: "environment" }]
  const rigTokens = [
    ...tokens,
    { name: "operator", tenant: "default", secret: "operator-secret-0123456789", readOnly: false },
    { name: "visitor", tenant: "default", secret: "visitors-secret-0123456789", readOnly: true }
  ]

  it("V1 V2 V3 shows each what is theirs: prompts and configuration are no tenant's but the operator's", async () => {
    const { ask, fleet } = await openRig({ tokens: rigTokens, config })
    await fleet.forTenant("south").create("front", "clerk")
    const seen = async (secret: string): Promise<Loose> => (await ask("/v1/system", { headers: bearer(secret) })).json
    const prompts = (json: Loose) => json.definitions.map(({ name, systemPrompt }: Loose) => [name, systemPrompt])
    const operator = await seen("operator-secret-0123456789")
    assert.deepStrictEqual(operator.config, config)
    assert.deepStrictEqual(prompts(operator), [
      ["desk", "You are under test."],
      ["clerk", "You are under test."]
    ])
    const visitor = await seen("visitors-secret-0123456789")
    assert.deepStrictEqual(visitor.config, [])
    assert.notInclude(JSON.stringify(visitor), "You are under test.")
    assert.isArray(visitor.definitions[0].tools)
    const south = await seen(SECRETS.south)
    assert.deepStrictEqual(south.config, [])
    assert.deepStrictEqual(prompts(south), [
      ["desk", undefined],
      ["clerk", "You are under test."]
    ])
    assert.deepStrictEqual(south.definitions[0], { name: "desk", isTeam: false })
    const onlooker = await seen("onlooker-secret-0123456789")
    assert.notInclude(JSON.stringify(onlooker), "You are under test.")
    assert.deepStrictEqual(onlooker.definitions, [
      { name: "desk", isTeam: false },
      { name: "clerk", isTeam: false }
    ])
  })
})
