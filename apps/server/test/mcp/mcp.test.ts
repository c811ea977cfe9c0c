import { fileURLToPath } from "node:url"
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { defineTool } from "reverie"
import { assert, describe, test } from "vitest"
import { openServer, type Token } from "../../src/index.ts"
import { openFleet, type Request } from "../inside/rig.ts"
import { aFact, HOSTILE, rowsOf, seeding, seedTool } from "../inside/seed.ts"

const CHILD = fileURLToPath(new URL("children/serve.ts", import.meta.url))
const eras = ["legacy", { pin: "2026-07-28" }] as const
/** Processes begin slowly on a busy machine. */
const PATIENCE = 240_000
const TOOLS = ["agents_answer", "agents_list", "agents_send", "agents_status", "memory_read", "memory_search"]

const tokens: ReadonlyArray<Token> = [
  { name: "north", tenant: "north", secret: "north-secret-secret", readOnly: false },
  { name: "looker", tenant: "north", secret: "looker-secret-secret", readOnly: true },
  { name: "south", tenant: "south", secret: "south-secret-secret", readOnly: false }
]

const connected = async (transport: Transport, mode: (typeof eras)[number] = "legacy") => {
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode } })
  await client.connect(transport)
  return client
}

const overPipes = (...args: ReadonlyArray<string>): Transport =>
  new StdioClientTransport({ command: process.execPath, args: [CHILD, ...args], stderr: "inherit" })

const overHttp = (url: string, secret: string): Transport =>
  new StreamableHTTPClientTransport(new URL("/mcp", url), {
    requestInit: { headers: { authorization: `Bearer ${secret}` } }
  })

interface Called {
  readonly isError: boolean
  readonly text: string
  readonly value: { readonly [key: string]: unknown }
}

const call = async (client: Client, name: string, given: { [key: string]: unknown } = {}): Promise<Called> => {
  const { content, isError = false, structuredContent } = await client.callTool({ name, arguments: given })
  const [first] = content
  const text = first?.type === "text" ? first.text : ""
  if (!isError) assert.deepStrictEqual(JSON.parse(text), structuredContent)
  return { isError, text, value: (structuredContent ?? {}) as Called["value"] }
}

const aRig = async (request: Request = {}) => {
  const fleet = await openFleet({ tenant: "north", ...request })
  const trouble: Array<string> = []
  const server = await openServer({ fleet, role: "all", tokens, onTrouble: (line) => trouble.push(line) })
  return {
    fleet,
    server,
    trouble,
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await fleet.close()
    }
  }
}

describe("an MCP server over pipes", () => {
  test.for(eras)("P1 T1 an official client lists and uses it: %o", { timeout: PATIENCE }, async (mode) => {
    const client = await connected(overPipes("send"), mode)
    const { tools } = await client.listTools()
    assert.deepStrictEqual(
      tools.map(({ name }) => name),
      TOOLS
    )
    for (const { annotations, name } of tools) assert.strictEqual(annotations?.readOnlyHint, name !== "agents_send")
    const said = await call(client, "agents_send", { agent: "desk", text: "Who are you?", id: "m-1" })
    assert.deepInclude(said.value, { agent: "desk", envelope: "m-1", state: "answered" })
    assert.match(String(said.value["reply"]), /not a language model/)
    assert.deepStrictEqual((await call(client, "agents_answer", { agent: "desk", envelope: "m-1" })).value, said.value)
    const { value } = await call(client, "agents_list")
    assert.deepStrictEqual(
      (value["agents"] as ReadonlyArray<{ readonly agent: string }>).map(({ agent }) => agent),
      ["clerk", "desk"]
    )
    const status = await call(client, "agents_status", { agent: "desk" })
    assert.deepInclude(status.value, { agent: "desk", state: "awake.idle", ticks: 1 })
    const found = await call(client, "memory_search", { agent: "desk", query: "who are you" })
    assert.isNotEmpty(found.value["memories"] as ReadonlyArray<unknown>)
    await client.close()
  })

  test(
    "E1 T3 the same over a running server; who is not allowed to say anything is not offered to",
    { timeout: PATIENCE },
    async () => {
      await using rig = await aRig({ says: [{ text: HOSTILE }] })
      await rig.fleet.forTenant("south").create("desk")
      const client = await connected(overPipes("send", rig.server.url, "north-secret-secret"))
      const said = await call(client, "agents_send", { agent: "desk", text: "Hello?", id: "m-1" })
      assert.deepInclude(said.value, { state: "answered", reply: HOSTILE, envelope: "m-1" })
      const own = await aRig({ says: [{ text: HOSTILE }] })
      await using _ = own
      const direct = await connected(overHttp(own.server.url, "north-secret-secret"))
      await call(direct, "agents_send", { agent: "desk", text: "Hello?", id: "m-1" })
      const questions = [
        ["agents_list", {}],
        ["agents_status", { agent: "desk" }],
        ["agents_answer", { agent: "desk", envelope: "m-1" }],
        ["memory_read", { agent: "desk", kind: "journal" }],
        ["memory_read", { agent: "desk", kind: "facts", limit: 5 }],
        ["memory_read", { agent: "desk", kind: "profiles" }],
        ["memory_read", { agent: "desk", kind: "blocks" }],
        ["agents_status", { agent: "nobody" }],
        ["agents_answer", { agent: "desk", envelope: "nothing" }]
      ] as const
      for (const [name, given] of questions) {
        const over = await call(client, name, given)
        assert.deepStrictEqual(over, await call(direct, name, given), name)
      }
      const texts = async (each: Client) => {
        const { value } = await call(each, "memory_search", { agent: "desk", query: "previous instructions" })
        return (value["memories"] as ReadonlyArray<{ readonly text: string }>).map(({ text }) => text)
      }
      assert.deepStrictEqual(await texts(client), await texts(direct))
      await client.close()
      await direct.close()
      const looking = await connected(overPipes("look", rig.server.url, "wrong-secret-secret"))
      const { tools } = await looking.listTools()
      assert.notInclude(
        tools.map(({ name }) => name),
        "agents_send"
      )
      const refused = await call(looking, "agents_list")
      assert.isTrue(refused.isError)
      assert.notInclude(refused.text, "wrong-secret")
      await looking.close()
    }
  )
})

const slow = () => Promise.withResolvers<void>()

describe("an MCP server over HTTP", () => {
  test.for(eras)("M1 T3 an official client uses it behind the guard, each for its own tenant: %o", async (mode) => {
    await using rig = await aRig({ says: [{ text: "north answers" }] })
    await rig.fleet.forTenant("south").create("desk")
    const north = await connected(overHttp(rig.server.url, "north-secret-secret"), mode)
    const south = await connected(overHttp(rig.server.url, "south-secret-secret"), mode)
    const looker = await connected(overHttp(rig.server.url, "looker-secret-secret"), mode)
    const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)
    assert.deepStrictEqual(await namesOf(north), TOOLS)
    assert.deepStrictEqual(
      await namesOf(looker),
      TOOLS.filter((name) => name !== "agents_send")
    )
    const said = await call(north, "agents_send", { agent: "desk", text: "Hello?", id: "m-1" })
    assert.deepInclude(said.value, { state: "answered", reply: "north answers" })
    const saying = { agent: "desk", text: "Hello?", id: "m-2" }
    assert.isTrue((await call(looker, "agents_send", saying).catch(() => ({ isError: true }))).isError)
    const others = [
      await call(south, "agents_list"),
      await call(south, "agents_status", { agent: "clerk" }),
      await call(south, "agents_answer", { agent: "desk", envelope: "m-1", wait_seconds: 0 }),
      await call(south, "memory_search", { agent: "desk", query: "north answers hello" }),
      await call(south, "memory_read", { agent: "clerk", kind: "facts" })
    ]
    assert.notInclude(JSON.stringify(others), "north")
    assert.deepStrictEqual(
      others.map(({ isError }) => isError),
      [false, true, true, false, true]
    )
    const audit = await fetch(`${rig.server.url}/v1/audit`, {
      headers: { authorization: "Bearer north-secret-secret" }
    })
    assert.include(await audit.text(), "mcp.agents_send")
    for (const each of [north, south, looker]) await each.close()
    assert.strictEqual((await fetch(`${rig.server.url}/mcp`, { method: "POST", body: "{}" })).status, 401)
    assert.deepStrictEqual(rig.trouble, [])
  })

  test("an answer that takes longer is pending, and is there when it is asked for again", async () => {
    const held = slow()
    const wait = defineTool({ name: "wait", description: "Waits.", run: () => held.promise.then(() => "now") })
    const sink = defineTool({ name: "sink", description: "Sinks.", needsApproval: true, run: () => "sunk" })
    await using rig = await aRig({
      tools: [wait, sink],
      says: [{ calls: [{ tool: "wait" }] }, { text: "Done." }, { calls: [{ tool: "sink" }] }, { text: "Sunk." }]
    })
    const client = await connected(overHttp(rig.server.url, "north-secret-secret"))
    const said = await call(client, "agents_send", { agent: "desk", text: "Wait.", id: "m-1", wait_seconds: 0.1 })
    assert.deepInclude(said.value, { state: "pending", envelope: "m-1", reply: "" })
    const again = await call(client, "agents_send", { agent: "desk", text: "Wait.", id: "m-1", wait_seconds: 0 })
    assert.deepInclude(again.value, { state: "pending", envelope: "m-1" })
    held.resolve()
    const answer = await call(client, "agents_answer", { agent: "desk", envelope: "m-1" })
    assert.deepInclude(answer.value, { state: "answered", reply: "Done." })
    const asked = await call(client, "agents_send", { agent: "desk", text: "Sink it." })
    assert.strictEqual(asked.value["state"], "waiting_for_approval")
    const [approval] = asked.value["approvals"] as ReadonlyArray<{ readonly approval: string }>
    await rig.fleet.deny("desk", approval?.approval ?? "")
    await client.close()
  })

  test("T2 H2 hostile arguments are refused in words, hostile memories come as data, and nothing breaks", async () => {
    const rows = Array.from({ length: 60 }, (_, number) => rowsOf.fact(aFact(number, { text: HOSTILE.repeat(30) })))
    await using rig = await aRig({ says: seeding, tools: [seedTool(rows)] })
    const client = await connected(overHttp(rig.server.url, "north-secret-secret"))
    await call(client, "agents_send", { agent: "desk", text: HOSTILE })
    const hostile: ReadonlyArray<readonly [string, { [key: string]: unknown }]> = [
      ["agents_status", {}],
      ["agents_status", { agent: 7 }],
      ["agents_status", { agent: "../../etc/passwd" }],
      ["agents_status", { agent: "desk", tenant: "south" }],
      ["agents_status", { agent: "x".repeat(1_000) }],
      ["agents_status", { agent: "__proto__" }],
      ["agents_list", { limit: 1e9 }],
      ["agents_list", { limit: -1 }],
      ["agents_list", { cursor: HOSTILE }],
      ["agents_send", { agent: "desk", text: "" }],
      ["agents_send", { agent: "desk", text: "x".repeat(100_001) }],
      ["agents_send", { agent: "nobody", text: "x" }],
      ["agents_send", { agent: "desk", text: "x", wait_seconds: 1e6 }],
      ["agents_answer", { agent: "desk", envelope: HOSTILE }],
      ["memory_read", { agent: "desk", kind: "secrets" }],
      ["memory_read", { agent: "desk", kind: "facts", cursor: HOSTILE }],
      ["memory_search", { agent: "desk", query: "" }]
    ]
    for (const [name, given] of hostile) {
      const { isError, text } = await call(client, name, given)
      assert.isTrue(isError, `${name} ${JSON.stringify(given).slice(0, 80)}`)
      assert.isBelow(text.length, 1_200)
      assert.notMatch(text, /node_modules|\.ts:\d/)
    }
    const page = await call(client, "memory_read", { agent: "desk", kind: "facts", limit: 50 })
    assert.lengthOf(page.value["memories"] as ReadonlyArray<unknown>, 50)
    assert.isBelow(page.text.length, 200_000)
    const [first] = page.value["memories"] as ReadonlyArray<{ readonly text: string }>
    assert.isTrue(first?.text.startsWith(HOSTILE))
    const rest = await call(client, "memory_read", {
      agent: "desk",
      kind: "facts",
      limit: 50,
      cursor: page.value["next"]
    })
    assert.lengthOf(rest.value["memories"] as ReadonlyArray<unknown>, 10)
    const unknown = await client.callTool({ name: "no_such_tool", arguments: {} }).catch((error: unknown) => error)
    assert.instanceOf(unknown, Error)
    assert.deepStrictEqual(rig.trouble, [])
    await client.close()
  })
})
