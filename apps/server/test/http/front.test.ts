import { assert, describe, it } from "@effect/vitest"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import { connect } from "node:net"
import { Api } from "../../src/api/index.ts"
import { MAX_BODY_BYTES, MAX_BODY_VALUES, MAX_MESSAGE_BYTES, MAX_PARTS_BYTES } from "../../src/http/body.ts"
import { routes } from "../../src/http/front.ts"
import { aFleet, askAt, assertFailure, assertSecured, type Loose, openRig } from "./rig.ts"
import { openServer } from "../../src/index.ts"

const JSON_TYPE = { "content-type": "application/json" }
const SEND = "/v1/assistants/desk/messages"

describe("front: every request, whatever it asks", () => {
  it("Q2 E1 what is nowhere, means nothing there, or can not be read is refused in the contract's form", async () => {
    const { ask } = await openRig()
    for (const path of [
      "/v1",
      "/v1/",
      "/v1/nothing",
      "/v1/assistants/",
      "/v1//assistants",
      "/nowhere",
      "/v1/assistants/desk/messages/"
    ]) {
      const answer = await ask(path)
      assertFailure(answer, 404, "NotFound")
      assertSecured(answer)
    }
    const wrong = await ask(SEND, { method: "PATCH" })
    assertFailure(wrong, 405, "MethodNotAllowed")
    assert.strictEqual(wrong.headers["allow"], "GET, POST")
    assertFailure(await ask("/livez", { method: "POST" }), 405, "MethodNotAllowed")
    for (const path of ["/v1/assistants/%ff", "/v1/assistants/%", "/v1/assistants?q=%c3%28", "/%zz"]) {
      assertFailure(await ask(path), 400, "Malformed")
    }
    assertFailure(await ask("http://elsewhere/v1/assistants"), 400, "Malformed")
  })

  it("B1 a body of the limit is read, one byte more is not", async () => {
    const { ask, server } = await openRig()
    const frame = JSON.stringify({ text: "", pad: "" }).length
    const bodyOf = (bytes: number) => JSON.stringify({ text: "", pad: "x".repeat(bytes - frame) })
    for (const [path, most] of [
      [SEND, MAX_PARTS_BYTES],
      ["/v1/assistants/desk/events", MAX_MESSAGE_BYTES],
      ["/v1/assistants", MAX_BODY_BYTES]
    ] as const) {
      const whole = await ask(path, { method: "POST", headers: JSON_TYPE, body: bodyOf(most) })
      assert.notStrictEqual(whole.status, 413, whole.text)
      const over = await ask(path, { method: "POST", headers: JSON_TYPE, body: bodyOf(most + 1) })
      assertFailure(over, 413, "TooLarge")
      assertSecured(over)
    }
    // No one says how long it is.
    const chunked = await fetch(`${server.url}${SEND}`, {
      method: "POST",
      headers: JSON_TYPE,
      body: new ReadableStream({
        start(controller) {
          for (let sent = 0; sent <= MAX_PARTS_BYTES; sent += 1_000_000)
            controller.enqueue(new TextEncoder().encode("x".repeat(1_000_000)))
          controller.close()
        }
      }),
      duplex: "half"
    } as RequestInit)
    assert.strictEqual(chunked.status, 413)
  })

  it("B1 a message of a million characters comes in, however many bytes they take", async () => {
    const { ask } = await openRig()
    for (const unit of ["\u6e2f", "\ud83d\ude00", "\ud800", "\u0000", '"']) {
      const body = JSON.stringify({ text: unit.repeat(1_000_000 / unit.length) })
      const answer = await ask(SEND, { method: "POST", headers: JSON_TYPE, body })
      assert.strictEqual(answer.status, 202, `${body.slice(9, 16)} ${body.length}: ${answer.text}`)
    }
  })

  it("B3 a body of very many values is refused before any schema sees it", async () => {
    const { ask } = await openRig()
    const bodyOf = (values: number) => `{"text":"a","x":[${"1,".repeat(values - 4)}1]}`
    for (const path of [SEND, "/v1/assistants/desk/events", "/v1/agui/desk"]) {
      const over = await ask(path, { method: "POST", headers: JSON_TYPE, body: bodyOf(MAX_BODY_VALUES + 1) })
      assertFailure(over, 400, "Malformed")
      assert.include(over.text, `more than ${MAX_BODY_VALUES} values`)
    }
    // One value less, and a schema sees it.
    const whole = await ask(SEND, { method: "POST", headers: JSON_TYPE, body: bodyOf(MAX_BODY_VALUES) })
    assert.include(whole.json.message, 'the body has no "x"; there are text,')
  })

  it("B2 what is no plain JSON object is refused before any schema sees it", async () => {
    const { ask } = await openRig()
    const deep = (levels: number) => `{"text":"a","x":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`
    const send = (body: string | Buffer, headers: Readonly<Record<string, string>> = JSON_TYPE) =>
      ask(SEND, { method: "POST", headers, body })
    const corpus: ReadonlyArray<string | Buffer> = [
      "{",
      "[]",
      "null",
      '"text"',
      "12",
      "{'text':'a'}",
      '{"text":"a"} trailing',
      deep(65),
      "[".repeat(100_000),
      '{"text":"a","__proto__":{"admin":true}}',
      '{"text":"a","x":{"constructor":{"prototype":1}}}',
      '{"text":"a","\\u005f_proto__":1}',
      Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])
    ]
    for (const body of corpus) assertFailure(await send(body), 400, "Malformed")
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data",
      "application/jsonp"
    ]) {
      assertFailure(await send('{"text":"a"}', { "content-type": type }), 400, "Malformed")
    }
    assert.include((await send(deep(64))).json.message, 'the body has no "x"; there are text,')
    assert.strictEqual((await send('{"text":"the word __proto__ in a text"}')).status, 202)
    assert.strictEqual((await send('{"text":"a"}', { "content-type": "application/json; charset=utf-8" })).status, 202)
  })

  it("Q2 E1 what is no HTTP at all is refused in the contract's form too", async () => {
    const { server } = await openRig()
    const say = (text: string) =>
      new Promise<string>((resolve, reject) => {
        let heard = ""
        const socket = connect(server.port, "127.0.0.1", () => socket.write(text))
        socket.on("data", (chunk) => (heard += chunk.toString()))
        socket.once("close", () => resolve(heard))
        socket.once("error", reject)
      })
    const corpus = [
      ["NONSENSE\r\n\r\n", 400, "Malformed"],
      [`GET / HTTP/1.1\r\nhost: localhost\r\nx: ${"x".repeat(100_000)}\r\n\r\n`, 431, "TooLarge"],
      ["POST /v1/assistants HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n", 400, "Malformed"],
      ["GET /v1/assistants HTTP/1.0\r\n\r\n", 403, "Forbidden"],
      ["GET /v1/assistants HTTP/1.1\r\nconnection: close\r\n\r\n", 403, "Forbidden"]
    ] as const
    for (const [text, status, tag] of corpus) {
      const heard = await say(text)
      assert.match(heard, new RegExp(`^HTTP/1.1 ${status} `), heard)
      assert.include(heard, `"_tag":"${tag}"`)
      assert.include(heard.toLowerCase(), "x-content-type-options: nosniff")
    }
  })

  it("R1 every route of the contract is found, and nothing wrong with a request makes a 500", async () => {
    const { ask, trouble } = await openRig()
    assert.isAbove(routes.length, 40)
    for (const { method, pattern } of routes) {
      const path = pattern.replaceAll(/:\w+/g, "nobody")
      if (pattern === "/v1/events") continue
      const body = method === "GET" ? {} : { body: '{"unknown":[]}', headers: JSON_TYPE }
      const answer = await ask(path, { method, ...body })
      assert.notStrictEqual(answer.status, 405, path)
      assert.notStrictEqual(answer.status, 500, `${method} ${path}: ${answer.text}`)
      assertSecured(answer)
      // The picture of the statechart is the same for everybody, and asked for by its hash.
      const kept = pattern === "/v1/machine" ? "private, no-cache" : "no-store"
      assert.strictEqual(answer.headers["cache-control"], kept, path)
    }
    assert.deepStrictEqual(trouble, [])
  })

  it("S1 S2 it tells whether it lives and is ready, and refuses to listen where it can not or must not", async () => {
    const { ask, server } = await openRig()
    assert.strictEqual((await ask("/livez")).json.ok, true)
    assert.strictEqual((await ask("/readyz")).json.ok, true)
    const fleet = await aFleet()
    const refusal = async (request: object): Promise<Loose> => {
      try {
        await openServer({ fleet, role: "all", tokens: [], ...request })
      } catch (error) {
        return error
      }
      throw new Error("it listens")
    }
    const taken = await refusal({ port: server.port })
    assert.deepStrictEqual([taken._tag, taken.code], ["ListenRefused", "EADDRINUSE"])
    assert.include(taken.message, String(server.port))
    assert.strictEqual((await refusal({ host: "0.0.0.0" })).code, "unguarded")
    const other = await openServer({ fleet, role: "all", tokens: [] })
    await other.close()
    await other.close()
    await askAt(other.port, "/livez").then(
      () => assert.fail("it still listens"),
      () => {}
    )
    // The fleet goes on.
    assert.strictEqual((await fleet.send("desk", "Still there?")).outcome, "accepted")
    await fleet.close()
  })

  it("S1 without its store it lives and is not ready", async () => {
    const { ask, fleet } = await openRig()
    await fleet.close()
    assert.strictEqual((await ask("/livez")).status, 200)
    assert.strictEqual((await ask("/readyz")).status, 503)
    assertFailure(await ask("/v1/assistants/desk"), 503, "Unavailable")
  })

  it("T1 measures by the pattern of the route, and no id is in it", async () => {
    const { ask, post } = await openRig()
    await post("/v1/assistants/desk/messages", { text: "Hello." })
    await ask("/v1/assistants/nobody-of-this-name")
    await ask("/v1/unheard-of")
    const { text } = await ask("/metrics")
    assert.include(text, 'reverie_http_requests_total{route="/v1/assistants/:id/messages",status="2xx"} 1')
    assert.include(text, 'reverie_http_requests_total{route="/v1/assistants/:id",status="4xx"} 1')
    assert.include(text, "reverie_envelopes_accepted_total 1")
    assert.notInclude(text, "nobody-of-this-name")
    assert.notInclude(text, "unheard-of")
    assert.match(text, /reverie_http_seconds_bucket\{route="\/v1\/assistants\/:id",le="0.005"\} \d/)
  })

  it("a worker answers whether it lives and what it measures, and nothing else", async () => {
    const { ask } = await openRig({ role: "worker" })
    assert.strictEqual((await ask("/livez")).status, 200)
    assert.strictEqual((await ask("/metrics")).status, 200)
    for (const path of ["/v1/assistants", "/docs", "/openapi.json", "/"])
      assertFailure(await ask(path), 404, "NotFound")
  })

  it("the contract is reported to programs and to people", async () => {
    const { ask } = await openRig()
    const contract = await ask("/openapi.json")
    assert.strictEqual(contract.json.openapi, "3.1.0")
    const told = Object.values(contract.json.paths as Record<string, object>).flatMap((path) => Object.keys(path))
    assert.strictEqual(told.length, routes.length)
    const docs = await ask("/docs")
    assert.strictEqual(docs.status, 200)
    assert.match(String(docs.headers["content-security-policy"]), /script-src 'sha256-[^']+' 'sha256-[^']+';/)
    assert.include(docs.text, "createApiReference")
  })
})

/** A body that fits, by the route that takes it. The run of AG-UI is open: its protocol allows whatever a client adds. */
const bodies: Readonly<Record<string, object>> = {
  "POST /v1/assistants": { id: "new" },
  "POST /v1/assistants/:id/orders": { order: "halt" },
  "PUT /v1/assistants/:id/budget": { tokens: 9_000 },
  "POST /v1/orders": { order: "halt", ids: ["desk"] },
  "POST /v1/forget": { assistant: "desk", dryRun: true },
  "POST /v1/vacuum": { dryRun: true },
  "POST /v1/assistants/:id/messages": { text: "Hello." },
  "POST /v1/assistants/:id/events": { event: { type: "message", text: "Hello." } },
  "PUT /v1/assistants/:id/reminders/:reminder": { note: "Tea.", at: "2030-01-01T00:00:00Z" },
  "POST /v1/agui/:id": { threadId: "t", runId: "r", messages: [{ id: "1", role: "user", content: "Hello." }] },
  "POST /v1/assistants/:id/chat": {
    messages: [{ id: "m-1", role: "user", parts: [{ type: "text", text: "Hello." }] }]
  },
  "POST /v1/assistants/:id/memory/facts": { text: "Berth 7 is closed." },
  "POST /v1/assistants/:id/memory/facts/:fact/correct": { text: "Berth 7 is closed." },
  "POST /v1/assistants/:id/memory/facts/:fact/retire": { reason: "It was another ship." },
  "POST /v1/assistants/:id/dreams/:dream/accept": { items: ["fact/fact_1_0"] },
  "POST /v1/assistants/:id/dreams/:dream/undo": { reason: "It was another ship." },
  "POST /v1/assistants/:id/memory/profiles/:entity": { text: "Has a boat." },
  "PUT /v1/limits": { callsPerDay: 5 },
  "POST /v1/index/restore": { snapshot: "s" },
  "POST /v1/blocks/:block/edits": { operation: { op: "set_text", text: "Hello." } },
  "POST /v1/approvals/:id/:approval": { decision: "denied" },
  "POST /v1/assistants/:id/sub-agents": { task: "Count the ships." },
  "POST /v1/assistants/:id/cancel": {},
  "POST /v1/dead-letters/:id/retry": { envelope: "e" },
  "POST /v1/dead-letters/:id/discard": { envelope: "e" },
  "POST /v1/assistants/:id/forks": { tick: 1 },
  "POST /v1/assistants/:id/eval-cases": { tick: 1 },
  "PUT /v1/prompts/:key": { name: "Ours", text: "Ours.", expected: 0 },
  "POST /v1/prompts/:key/undo": {},
  "POST /v1/prompts/:key/clone": { to: "copy" },
  "POST /v1/prompts/import": { export: {} },
  "PUT /v1/prompt-components/:key": { text: "Ours.", after: 1000, expected: 0 },
  "POST /v1/prompt-components/:key/undo": {},
  "POST /v1/prompt-components/:key/save": { to: "copy" },
  "POST /v1/prompt-components/import": { export: {} }
}

describe("front: names in a body", () => {
  const taking = Object.values(Api.groups).flatMap(({ endpoints }) =>
    Object.values(endpoints as Readonly<Record<string, HttpApiEndpoint.Top>>)
      .filter(({ payload }) => payload.size > 0)
      .map(({ method, path }) => `${method} ${path}`)
  )

  it("B4 a name that the route does not have is refused in one sentence with the nearest that it has", async () => {
    const { ask, fleet, post } = await openRig()
    assert.sameMembers(taking, Object.keys(bodies))
    for (const [route, body] of Object.entries(bodies)) {
      const [method = "", pattern = ""] = route.split(" ")
      const path = pattern.replaceAll(/:\w+/g, "desk")
      const answer = await ask(path, { method, headers: JSON_TYPE, body: JSON.stringify({ ...body, strangeName: 1 }) })
      // Their protocols may grow.
      if (route === "POST /v1/agui/:id" || route === "POST /v1/assistants/:id/chat") {
        assert.strictEqual(answer.status, 200, route)
        continue
      }
      assertFailure(answer, 400, "Malformed")
      assert.match(answer.json.message, /^the body has no "strangeName"; there are \w/, route)
    }
    const typo = await post(SEND, { text: "Hello.", chanel: "ops" })
    assert.strictEqual(
      typo.json.message,
      'the body has no "chanel"; there are text, id, from, channel, context, output, blocks, parts; did you mean "channel"?'
    )
    assert.deepStrictEqual(
      typo.json.issues.map(({ path }: Loose) => path),
      [["payload", "chanel"]]
    )
    const inside = await post("/v1/blocks/desk/edits", { operation: { op: "set_text", txt: "Hello.", text: "Hello." } })
    assert.strictEqual(
      inside.json.message,
      'operation in the body has no "txt"; there are op, text, section; did you mean "text"?'
    )
    // What is missing is still said of what is missing.
    assert.match((await post(SEND, { txt: "Hello." })).json.message, /payload\.text|no "txt"/)
    assert.isEmpty((await fleet.history.mailbox("desk", 10)).filter(({ from }) => from === "user"))
  })
})
