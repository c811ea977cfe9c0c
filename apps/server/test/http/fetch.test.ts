import { later } from "@reverie/testkit/later"
import { defineTool, type Fleet } from "reverie"
import { assert, describe, test } from "vitest"
import { type FetchOptions, fetchHandler } from "../../src/fetch.ts"
import { aFleet, type Request as Asked, openRig, SECRETS, tokens } from "./rig.ts"
import { allIn, textsIn } from "../ag-ui/chat-rig.ts"
import { Sse } from "./sse.ts"

const HOST = "http://app.example"
const sink = defineTool({ name: "sink", description: "Sinks.", needsApproval: true, run: () => "sunk" })

const mounted = async (options: FetchOptions = { open: true }, asked: Asked = {}) => {
  const fleet = await aFleet(asked)
  const trouble: Array<string> = []
  const handler = fetchHandler(fleet, { onError: (line) => trouble.push(line), ...options })
  later(async () => {
    await handler.close()
    await fleet.close()
  })
  const get = (path: string, init: RequestInit = {}) => handler(new Request(`${HOST}${path}`, init))
  const post = (path: string, value: unknown, init: RequestInit = {}) =>
    get(path, {
      method: "POST",
      body: JSON.stringify(value),
      ...init,
      headers: { "content-type": "application/json", ...(init.headers as Record<string, string> | undefined) }
    })
  return { fleet, get, handler, post, trouble }
}

/** How many listen to the notices of a fleet, of one tenant and of all. */
const counted = (fleet: Fleet): (() => number) => {
  let listeners = 0
  const counting =
    <Args extends ReadonlyArray<never>>(listen: (...args: Args) => () => void) =>
    (...args: Args) => {
      listeners++
      const stop = listen(...args)
      return () => {
        listeners--
        stop()
      }
    }
  const own = fleet.forTenant(fleet.tenant, { exact: true })
  Object.assign(own, { on: counting(own.on.bind(own) as never) })
  Object.assign(fleet, { forTenant: () => own })
  return () => listeners
}

const until = async (is: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await is())) await new Promise((resolve) => setTimeout(resolve, 5))
}

const failureIn = async (response: Response, status: number, tag: string): Promise<string> => {
  const text = await response.text()
  assert.strictEqual(response.status, status, text)
  const failure = JSON.parse(text) as { _tag: string; message: string }
  assert.strictEqual(failure._tag, tag)
  return failure.message
}

const runBody = (runId: string, text: string) => ({
  threadId: "thread",
  runId,
  state: {},
  tools: [],
  context: [],
  forwardedProps: {},
  messages: [{ id: "m0", role: "user", content: text }]
})

describe("a fleet mounted in a web framework", () => {
  test("W3 takes a message and tells of it on the event stream, which ends with the handler", async () => {
    const { get, handler, post } = await mounted({ open: true }, { says: [{ text: "Good morning." }] })
    const events = await get("/v1/events?after=0")
    assert.strictEqual(events.headers.get("content-type"), "text/event-stream")
    assert.strictEqual(events.headers.get("x-content-type-options"), "nosniff")
    const sent = await post("/v1/assistants/desk/messages", { text: "Hello.", id: "hello" })
    assert.strictEqual(sent.status, 202)
    const sse = new Sse()
    for await (const chunk of events.body ?? []) {
      sse.read(new TextDecoder().decode(chunk))
      if (sse.events.some(({ type }) => type === "envelope-settled")) void handler.close()
    }
    assert.includeMembers(
      sse.events.map(({ type }) => type),
      ["created", "envelope-settled"]
    )
    await failureIn(await get("/v1/assistants"), 503, "Unavailable")
  })

  test("W3 an AG-UI run is streamed to its end, a call that waits goes on with an approval by POST", async () => {
    const says = [{ text: "May I? ", calls: [{ tool: "sink" }] }, { text: "Sunk." }]
    const { get, post } = await mounted({ open: true }, { says, tools: [sink] })
    const first = await allIn(await post("/v1/agui/desk", runBody("run-1", "Sink it.")))
    assert.deepStrictEqual(textsIn(first), ["May I? "])
    const open = (await (await get("/v1/approvals")).json()) as { items: ReadonlyArray<Record<string, string>> }
    const [asked] = open.items
    const path = `/v1/approvals/desk/${encodeURIComponent(asked?.["approval"] ?? "")}`
    const decided = await post(path, { decision: "approved", seen: asked?.["arguments"] })
    assert.strictEqual(decided.status, 200, await decided.text())
    const again = await allIn(await get("/v1/assistants/desk/answers/run-1"))
    assert.strictEqual(textsIn(again).at(-1), "Sunk.")
  })

  test("W3 a signal that aborts, or a body that is cancelled, ends the stream and leaves no listener", async () => {
    const fleet = await aFleet({ says: [{ text: "May I? ", calls: [{ tool: "sink" }] }], tools: [sink] })
    const listeners = counted(fleet)
    const handler = fetchHandler(fleet, { open: true, maxStreams: 1 })
    later(async () => {
      await handler.close()
      await fleet.close()
    })
    await fleet.send("desk", "Sink it.")
    await fleet.idle()
    // Waits behind the call that asks for an approval.
    await fleet.send("desk", "And this?", { id: "waits" })
    const asked = (path: string, signal?: AbortSignal) =>
      handler(new Request(`${HOST}${path}`, signal === undefined ? {} : { signal }))
    const before = listeners()
    const leaving = new AbortController()
    const run = await asked("/v1/assistants/desk/answers/waits", leaving.signal)
    const reader = run.body?.getReader()
    await reader?.read()
    assert.strictEqual(listeners(), before + 1)
    leaving.abort()
    await until(async () => (await reader?.read())?.done === true)
    await until(() => listeners() === before)
    const cancelled = await asked("/v1/assistants/desk/answers/waits")
    assert.strictEqual(listeners(), before + 1)
    await cancelled.body?.cancel()
    await until(() => listeners() === before)
    const aborted = new AbortController()
    aborted.abort()
    assert.strictEqual((await asked("/v1/assistants/desk/answers/waits", aborted.signal)).status, 499)
    // One event stream at a time: the next one opens because the one before has let go of its place.
    for (let round = 0; round < 3; round++) {
      const left = new AbortController()
      const events = await asked("/v1/events", left.signal)
      assert.strictEqual(events.status, 200)
      await failureIn(await asked("/v1/events"), 429, "LimitReached")
      if (round === 1) await events.body?.cancel()
      else left.abort()
      await new Promise((resolve) => setImmediate(resolve))
    }
  })

  test("W1 without a word on who may come in no one does, and the answer names the options", async () => {
    const { get, post } = await mounted({})
    for (const answer of [await get("/v1/assistants"), await get("/openapi.json"), await post("/x", {})]) {
      assert.match(await failureIn(answer, 401, "Unauthorized"), /`authorize` or `tokens`, or `open: true`/)
    }
    assert.throws(() => fetchHandler(() => Promise.reject(new Error("never")), { open: true, tokens }), /say one of/)
  })

  test("W1 tokens open their tenant, and a page of another site changes nothing", async () => {
    const { get, post } = await mounted({ tokens })
    await failureIn(await get("/v1/assistants"), 401, "Unauthorized")
    await failureIn(await get("/v1/assistants", { headers: { authorization: "Bearer wrong" } }), 401, "Unauthorized")
    const north = { authorization: `Bearer ${SECRETS.north}` }
    assert.strictEqual((await get("/v1/assistants", { headers: north })).status, 200)
    const onlooker = { authorization: "Bearer onlooker-secret-0123456789" }
    await failureIn(
      await post("/v1/assistants/desk/messages", { text: "Hi." }, { headers: onlooker }),
      403,
      "Forbidden"
    )
    const foreign = { ...north, origin: "http://evil.example" }
    const refused = await post("/v1/assistants/desk/messages", { text: "Hi." }, { headers: foreign })
    assert.include(await refused.clone().text(), "`hosts` of fetchHandler")
    await failureIn(refused, 403, "Forbidden")
  })

  test("N3 a 401, a 429 and a 503 have the headers of a server's own", async () => {
    const rig = await openRig({ tokens })
    const { fleet, get } = await mounted({ tokens })
    const wrong = { authorization: "Bearer wrong" }
    const right = { authorization: `Bearer ${SECRETS.north}` }
    /** Without those that belong to the connection. */
    const own = ({ connection: _c, "content-length": _l, date: _d, ...headers }: Readonly<Record<string, unknown>>) =>
      headers
    const byServer = async (headers: Readonly<Record<string, string>>) => {
      const answer = await rig.ask("/v1/assistants", { headers })
      return [answer.status, own(answer.headers)] as const
    }
    const byHandler = async (headers: Readonly<Record<string, string>>) => {
      const answer = await get("/v1/assistants", { headers })
      return [answer.status, own(Object.fromEntries(answer.headers))] as const
    }
    // Of more guesses than may wait the rest are refused at once.
    const tooMany = (ask: typeof byServer) =>
      Promise.any(
        Array.from({ length: 80 }, async () => {
          const [status, headers] = await ask(wrong)
          assert.strictEqual(status, 429)
          return [status, headers] as const
        })
      )
    const pairs = [
      [await byServer(wrong), await byHandler(wrong), 401, { "www-authenticate": "Bearer" }],
      [await tooMany(byServer), await tooMany(byHandler), 429, { "retry-after": "60" }]
    ] as const
    await Promise.all([rig.fleet.close(), fleet.close()])
    const away = [await byServer(right), await byHandler(right), 503, { "content-type": "application/json" }] as const
    for (const [server, handler, status, expected] of [...pairs, away]) {
      assert.deepStrictEqual(handler, server)
      assert.strictEqual(handler[0], status)
      assert.deepInclude(handler[1], expected)
    }
  })

  test("W1 authorize says who asks: its tenant, whether it may only look, or no one", async () => {
    const authorize = async (request: Request) => {
      const name = request.headers.get("x-user")
      if (name === "broken") throw new Error("the session store is away: secret")
      return name === null ? undefined : { name, readOnly: name === "guest" }
    }
    const { get, post, trouble } = await mounted({ authorize })
    await failureIn(await get("/v1/assistants"), 401, "Unauthorized")
    const as = (name: string) => ({ headers: { "x-user": name } })
    const system = (await (await get("/v1/system", as("ada"))).json()) as Record<string, unknown>
    assert.deepInclude(system, { principal: "ada", tenant: "default", readOnly: false })
    assert.strictEqual((await post("/v1/assistants/desk/messages", { text: "Hi." }, as("ada"))).status, 202)
    await failureIn(await post("/v1/assistants/desk/messages", { text: "Hi." }, as("guest")), 403, "Forbidden")
    assert.notInclude(await failureIn(await get("/v1/assistants", as("broken")), 500, "Unexpected"), "secret")
    assert.include(trouble.join(), "the session store is away")
  })

  test("W1 a base path is taken away, and what lies beside it is not found", async () => {
    const { get, post } = await mounted({ open: true, basePath: "/api/reverie/" })
    assert.strictEqual((await get("/api/reverie/v1/assistants")).status, 200)
    assert.strictEqual((await get("/api/reverie/v1/assistants", { method: "HEAD" })).status, 200)
    assert.strictEqual((await post("/api/reverie/v1/assistants/desk/messages", { text: "Hi." })).status, 202)
    assert.include(await (await get("/api/reverie/openapi.json")).text(), '"/v1/agui/{id}"')
    for (const path of ["/v1/assistants", "/api/reverieX/v1/assistants", "/api/reverie", "/api/reverie/v1/nothing"]) {
      await failureIn(await get(path), 404, "NotFound")
    }
    const wrong = await get("/api/reverie/v1/assistants", { method: "PATCH" })
    assert.include(wrong.headers.get("allow"), "GET")
    await failureIn(wrong, 405, "MethodNotAllowed")
    assert.throws(() => fetchHandler(() => Promise.reject(new Error("never")), { basePath: "api" }), /must begin/)
  })

  test("W2 a body is refused when it is too large, said or not, is no JSON, or was read before", async () => {
    const { get, handler, post, trouble } = await mounted()
    const path = "/v1/approvals/desk/a"
    await failureIn(await post(path, { decision: "approved", note: "x".repeat(2_000_001) }), 413, "TooLarge")
    let pulled = 0
    const endless = new ReadableStream<Uint8Array>({
      pull: (to) => {
        pulled++
        to.enqueue(new Uint8Array(100_000).fill(32))
      }
    })
    const streamed = new Request(`${HOST}${path}`, { method: "POST", body: endless, duplex: "half" } as RequestInit)
    await failureIn(await handler(streamed), 413, "TooLarge")
    assert.isBelow(pulled, 30)
    const form = { method: "POST", body: "a=b", headers: { "content-type": "text/plain" } }
    await failureIn(await get("/v1/assistants/desk/messages", form), 400, "Malformed")
    await failureIn(await post("/v1/assistants/desk/messages", { text: 1 }), 400, "Malformed")
    const read = new Request(`${HOST}${path}`, { method: "POST", body: "{}" })
    await read.text()
    await failureIn(await handler(read), 500, "Unexpected")
    assert.include(trouble.join(), "was read before")
  })

  test("W2 facts of a state that there is none of are refused with the states, never answered as none", async () => {
    const { get } = await mounted()
    const refused = await get("/v1/assistants/desk/memory/facts?state=zzz")
    const { issues } = (await refused.clone().json()) as { readonly issues: unknown }
    assert.strictEqual(await failureIn(refused, 400, "Malformed"), "the request does not fit: query.state")
    const states = '"active" | "superseded" | "retired" | "quarantined" | "proposed"'
    assert.deepStrictEqual(issues, [{ path: ["query", "state"], message: `Expected ${states}` }])
    assert.strictEqual((await get("/v1/assistants/desk/memory/facts?state=active")).status, 200)
  })

  test("W4 a function brings the fleet with the first request, again when it failed, and again when its fleet has ended", async () => {
    const alone = await mounted()
    await alone.fleet.close()
    await failureIn(await alone.get("/v1/assistants"), 503, "Unavailable")
    const fleets: Array<Fleet> = []
    let asked = 0
    const handler = fetchHandler(
      async () => {
        if (asked++ === 0) throw new Error("not yet")
        const fleet = await aFleet()
        fleets.push(fleet)
        return fleet
      },
      { open: true }
    )
    later(async () => {
      await handler.close()
      for (const fleet of fleets) await fleet.close()
    })
    const status = async () => (await handler(new Request(`${HOST}/v1/assistants`))).status
    assert.strictEqual(asked, 0)
    assert.strictEqual(await status(), 500)
    assert.deepStrictEqual(await Promise.all([status(), status()]), [200, 200])
    await fleets[0]?.close()
    assert.strictEqual(await status(), 200)
    assert.strictEqual(fleets.length, 2)
  })
})
