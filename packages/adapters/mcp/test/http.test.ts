// Servers over HTTP that misbehave, and where their requests may not go.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import type { McpServerOptions } from "../src/index.ts"
import { call, everythingOverHttp, later, opened, refused } from "./rig.ts"
import { type McpHttp } from "../src/options.ts"

const rejections: Array<unknown> = []
const onRejection = (reason: unknown): void => void rejections.push(reason)
beforeAll(() => process.on("unhandledRejection", onRejection))
afterAll(async () => {
  await sleep(50)
  process.off("unhandledRejection", onRejection)
  assert.deepStrictEqual(rejections, [])
})

interface Asked {
  readonly id?: number | string
  readonly method: string
  readonly params?: { readonly name?: string }
}

type Misbehaviour = (asked: Asked, response: ServerResponse, request: IncomingMessage) => boolean

const json = (response: ServerResponse, body: object, headers: Readonly<Record<string, string>> = {}): void => {
  response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
}

const tool = (name: string) => ({ name, description: `It is ${name}.`, inputSchema: { type: "object" } })
const initialized = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: {} },
  serverInfo: { name: "web", version: "1" }
}

const ordinary = ({ id, method, params }: Asked, response: ServerResponse): void => {
  const answer = (result: object) => json(response, { jsonrpc: "2.0", id, result }, { "mcp-session-id": "s1" })
  if (id === undefined) response.writeHead(202).end()
  else if (method === "initialize") answer(initialized)
  else if (method === "tools/list") answer({ tools: ["echo", "bad"].map(tool) })
  else if (method === "tools/call") answer({ content: [{ type: "text", text: `did ${params?.name}` }] })
  else json(response, { jsonrpc: "2.0", id, error: { code: -32_601, message: "Method not found" } })
}

/** A server that does what `misbehave` leaves to it. */
const served = async (misbehave: Misbehaviour, transport: Partial<McpHttp> = {}) => {
  const heard: Array<Asked> = []
  const requests: Array<IncomingMessage> = []
  const server = createServer((request, response) => {
    requests.push(request)
    if (request.method !== "POST") return void response.writeHead(405).end()
    let body = ""
    request.on("data", (chunk: Buffer) => (body += chunk.toString("utf8")))
    request.on("end", () => {
      const asked = JSON.parse(body) as Asked
      heard.push(asked)
      if (!misbehave(asked, response, request)) ordinary(asked, response)
    })
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  later(() => {
    server.closeAllConnections()
    return new Promise((done) => server.close(done))
  })
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const options: McpServerOptions = {
    name: "web",
    transport: { url: `http://127.0.0.1:${port}/mcp`, allowPrivate: [`127.0.0.1:${port}`], ...transport },
    allow: ["echo", "bad"],
    timeoutMs: 3_000,
    startMs: 30_000
  }
  return { options, heard, requests, port }
}

const isBad = ({ method, params }: Asked): boolean => method === "tools/call" && params?.name === "bad"
const stream = { "content-type": "text/event-stream" }

const misbehaviours: ReadonlyArray<readonly [string, (response: ServerResponse, id: Asked["id"]) => void, RegExp]> = [
  ["hangs", () => {}, /did not answer within \d+ ms; whether the call took effect is unknown/],
  ["begins and hangs", (response) => void response.writeHead(200, stream).write(": so\n\n"), /did not answer within/],
  [
    "goes away",
    (response) => void response.destroy(),
    /(socket|other side|closed).*; whether the call took effect is unknown/i
  ],
  ["fails", (response) => void response.writeHead(500).end("\u001b[2Jno"), /it answered with HTTP status 500; whether/],
  [
    "answers in HTML",
    (response) => void response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
    /content type/i
  ],
  [
    "answers garbage",
    (response) => void response.writeHead(200, { "content-type": "application/json" }).end("{{"),
    /failed: MCP/
  ],
  [
    "answers 50 MB",
    (response, id) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"`)
      response.end(`${"x".repeat(50_000_000)}"}]}}`)
    },
    /it sent a message of over 8 MiB; whether/
  ],
  [
    "streams 50 MB in one event",
    (response) => void response.writeHead(200, stream).write(`data: ${"x".repeat(50_000_000)}`),
    /it sent a message of over 8 MiB; whether/
  ],
  [
    "floods with events",
    (response) => {
      response.writeHead(200, stream)
      const notice = JSON.stringify({
        jsonrpc: "2.0",
        method: "notifications/message",
        params: { level: "info", data: 1 }
      })
      const more = (): void => {
        if (response.destroyed) return
        response.write(`data: ${notice}\r\n\r\n`.repeat(500))
        setImmediate(more)
      }
      more()
    },
    /it sent over 2000 messages in 10 s that answer nothing; whether/
  ]
]

describe("a server over HTTP that misbehaves in a call", () => {
  it.each(misbehaviours)(
    "T3 H2 C3 %s: one plain failure, and the next call is answered",
    async (name, misbehave, words) => {
      const { heard, options } = await served((asked, response) => {
        if (isBad(asked)) misbehave(response, asked.id)
        return isBad(asked)
      })
      // Short only where time is what ends the call.
      const source = await opened({ ...options, timeoutMs: name.endsWith("hangs") ? 3_000 : 30_000 })
      const result = await call(source, "web__bad")
      assert.isFalse(result.ok)
      assert.match(result.content, words)
      assert.isBelow(result.content.length, 1_000)
      // oxlint-disable-next-line no-control-regex -- it looks for control characters
      assert.notMatch(result.content, /[\u0000-\u0008\u001b]/)
      assert.strictEqual((await call(source, "web__echo")).content, "did echo")
      assert.lengthOf(heard.filter(isBad), 1, "it was not sent twice")
    }
  )
})

describe("a server over HTTP that misbehaves at the start", () => {
  it("T3 one that never answers is refused in bounded time", async () => {
    const { options } = await served(() => true)
    const error = await refused({ ...options, startMs: 1_500 })
    assert.match(error.message, /MCP server web: it can not be used: .*(did not answer|timed out)/)
  })

  it("T3 no one there, and no such name", async () => {
    const gone = await refused({
      name: "web",
      transport: { url: "http://127.0.0.1:9/mcp", allowPrivate: ["127.0.0.1:9"] },
      allow: ["echo"],
      startMs: 10_000
    })
    assert.match(gone.message, /MCP server web: it can not be used: /)
    const nameless = await refused({ name: "web", transport: { url: "http://nowhere.invalid/" }, allow: ["echo"] })
    assert.match(nameless.message, /nowhere\.invalid has no address/)
  })

  it("G1 G2 H1 this machine is asked only when the user names it", async () => {
    const { heard, options, port } = await served(() => false)
    const error = await refused({ ...options, transport: { url: `http://127.0.0.1:${port}/mcp` } })
    assert.match(error.message, /127\.0\.0\.1, which is loopback, and is not asked; to allow it, say allowPrivate/)
    assert.isEmpty(heard)
  })

  it("G3 H1 a redirect does not lead to a host that was not named, nor carry headers there", async () => {
    const trap = await served(() => false)
    const { options } = await served(
      (_, response) => {
        response.writeHead(307, { location: `http://localhost:${trap.port}/mcp` }).end()
        return true
      },
      { headers: { authorization: "Bearer secret" } }
    )
    const transport = options.transport as McpHttp
    const allowPrivate = [...(transport.allowPrivate ?? []), `localhost:${trap.port}`]
    const error = await refused({ ...options, transport: { ...transport, allowPrivate } })
    assert.match(error.message, /localhost is not among the allowed hosts/)
    assert.isEmpty(trap.requests)
    const allowed = await opened({ ...options, transport: { ...transport, allowPrivate, allowHosts: ["localhost"] } })
    assert.strictEqual((await call(allowed, "web__echo")).content, "did echo")
    assert.isNotEmpty(trap.requests)
    for (const { headers } of trap.requests) assert.isUndefined(headers.authorization)
  })

  it("G3 headers go to the server that they were written for", async () => {
    const { options, requests } = await served(() => false, { headers: { authorization: "Bearer secret" } })
    const source = await opened(options)
    assert.isTrue((await call(source, "web__echo")).ok)
    for (const { headers } of requests) assert.strictEqual(headers.authorization, "Bearer secret")
  })
})

describe("a session that the server forgot", () => {
  it("C3 the call fails, and the next one has a session again", async () => {
    let isForgotten = false
    const { options, heard } = await served((asked, response, request) => {
      if (asked.method === "initialize") isForgotten = false
      if (!isForgotten || request.headers["mcp-session-id"] === undefined) return false
      response.writeHead(404).end()
      return true
    })
    const source = await opened(options)
    assert.isTrue((await call(source, "web__echo")).ok)
    isForgotten = true
    assert.match((await call(source, "web__echo")).content, /HTTP status 404/)
    assert.strictEqual((await call(source, "web__echo")).content, "did echo")
    assert.lengthOf(
      heard.filter(({ method }) => method === "initialize"),
      2
    )
  })

  it("C1 calls at the same time share one connection", async () => {
    const port = await everythingOverHttp()
    const source = await opened({
      name: "everything",
      transport: { url: `http://localhost:${port}/mcp`, allowPrivate: [`localhost:${port}`] },
      allow: ["echo"],
      startMs: 60_000
    })
    const many = Array.from({ length: 20 }, (_, at) =>
      call(source, "everything__echo", { message: String(at) }, `key-${at}`)
    )
    const said = (await Promise.all(many)).map(({ content }) => content)
    assert.deepStrictEqual(
      said,
      said.map((_, at) => `Echo: ${at}`)
    )
  })
})
