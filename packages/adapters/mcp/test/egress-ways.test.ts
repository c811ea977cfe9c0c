// Names that change their mind, redirects, and listeners that no one may reach.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { createServer as createTcpServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { type EgressOptions, MAX_REDIRECTS, openEgress } from "../src/transport/egress.ts"
import { EgressRefused } from "../src/errors.ts"
import { later } from "./rig.ts"

type Reason = EgressRefused["reason"]

interface Counted {
  readonly port: number
  readonly connections: () => number
  readonly requests: ReadonlyArray<IncomingMessage>
}

const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  later(() => {
    server.closeAllConnections()
    return new Promise((done) => server.close(done))
  })
  const address = server.address()
  assert(typeof address === "object" && address !== null)
  return address.port
}

const counted = async (answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Counted> => {
  const requests: Array<IncomingMessage> = []
  let connections = 0
  const server = createServer((request, response) => {
    requests.push(request)
    answer(request, response)
  })
  server.on("connection", () => connections++)
  return { port: await listening(server), connections: () => connections, requests }
}

/** A port that must never be connected to. */
const forbidden = async (): Promise<{ readonly port: number; readonly connections: () => number }> => {
  let connections = 0
  const server = createTcpServer((socket) => {
    connections++
    socket.destroy()
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  later(() => new Promise((done) => server.close(done)))
  const address = server.address()
  assert(typeof address === "object" && address !== null)
  return { port: address.port, connections: () => connections }
}

const refusalOf = async (promise: Promise<unknown>): Promise<EgressRefused> => {
  try {
    await promise
  } catch (error) {
    assert.instanceOf(error, EgressRefused)
    return error
  }
  throw new Error("it was not refused")
}

const opening = (options: EgressOptions) => {
  const egress = openEgress(options)
  later(egress.close)
  return egress
}

describe("where connections go", () => {
  it("G2 a name that means another address at the second question reaches nothing", async () => {
    const trap = await forbidden()
    const asked: Array<string> = []
    const answers = ["93.184.215.14", "127.0.0.1"]
    const egress = opening({
      resolve: async (host) => [{ address: answers[Math.min(asked.push(host), answers.length) - 1] ?? "", family: 4 }],
      connectMillis: 2_000
    })
    assert.deepStrictEqual(await egress.judge(`http://rebind.test:${trap.port}/`), [
      { address: "93.184.215.14", family: 4 }
    ])
    const refusal = await refusalOf(egress.fetch(`http://rebind.test:${trap.port}/`))
    assert.strictEqual(refusal.reason, "address")
    assert.lengthOf(asked, 2)
    assert.strictEqual(trap.connections(), 0)
  })

  it("G2 the address that was judged is the one that is connected to: one question, one address", async () => {
    const server = await counted((_, response) => response.end("here"))
    let asked = 0
    const egress = opening({
      allowPrivate: [`once.test:${server.port}`],
      resolve: async () => [{ address: asked++ === 0 ? "127.0.0.1" : "169.254.169.254", family: 4 }]
    })
    const response = await egress.fetch(`http://once.test:${server.port}/`)
    assert.strictEqual(await response.text(), "here")
    assert.strictEqual(asked, 1)
    assert.strictEqual(server.requests[0]?.headers.host, `once.test:${server.port}`)
  })

  it("G2 forbidden addresses are never connected to, whatever they are called", async () => {
    const trap = await forbidden()
    const egress = opening({ resolve: async () => [{ address: "127.0.0.1", family: 4 }] })
    const hosts = [
      "127.0.0.1",
      "localhost",
      "2130706433",
      "0x7f000001",
      "[::ffff:127.0.0.1]",
      "0",
      "[::1]",
      "inside.test"
    ]
    for (const host of hosts) {
      assert.strictEqual((await refusalOf(egress.fetch(`http://${host}:${trap.port}/`))).reason, "address", host)
    }
    assert.strictEqual(trap.connections(), 0)
  })
})

describe("redirects", () => {
  const trapped = async (location: (trap: number, self: number) => string, status = 302) => {
    const trap = await forbidden()
    const server = await counted((_, response) => {
      response.writeHead(status, { location: location(trap.port, server.port) }).end()
    })
    const egress = opening({ allowPrivate: [`127.0.0.1:${server.port}`] })
    const refusal = await refusalOf(egress.fetch(`http://127.0.0.1:${server.port}/`))
    assert.strictEqual(trap.connections(), 0)
    return { refusal, server }
  }

  it("G3 each is judged like a new URL: none leads to a forbidden listener", async () => {
    const ways: ReadonlyArray<readonly [(trap: number) => string, Reason]> = [
      [(trap) => `http://127.0.0.1:${trap}/`, "address"],
      [(trap) => `//localhost:${trap}/`, "address"],
      [(trap) => `http://0x7f.1:${trap}/`, "address"],
      [(trap) => `http://[::ffff:127.0.0.1]:${trap}/`, "address"],
      [() => "http://169.254.169.254/", "address"],
      [() => "file:///etc/passwd", "scheme"],
      [() => "ftp://example.com/", "scheme"],
      [(trap) => `http://a:b@127.0.0.1:${trap}/`, "credentials"],
      [() => "http://[nonsense", "redirects"]
    ]
    for (const [location, reason] of ways) {
      for (const status of [301, 302, 303, 307, 308]) {
        const { refusal, server } = await trapped(location, status)
        assert.strictEqual(refusal.reason, reason, location(1))
        assert.lengthOf(server.requests, 1)
      }
    }
  })

  it("G3 a chain ends after five", async () => {
    const { refusal, server } = await trapped((_, self) => `http://127.0.0.1:${self}/next`)
    assert.strictEqual(refusal.reason, "redirects")
    assert.lengthOf(server.requests, MAX_REDIRECTS + 1)
  })

  it("G3 what is sent stays what it was, or is not sent; headers stay with their origin", async () => {
    const seen: Array<readonly [string | undefined, string | undefined, string]> = []
    const target = await counted((request, response) => {
      let body = ""
      request.on("data", (chunk: Buffer) => (body += chunk.toString("utf8")))
      request.on("end", () => {
        seen.push([request.method, request.headers.authorization, body])
        response.end("arrived")
      })
    })
    const first = await counted((request, response) => {
      const status = Number(request.url?.slice(1))
      response.writeHead(status, { location: `http://127.0.0.1:${target.port}/` }).end()
    })
    const egress = opening({ allowPrivate: [`127.0.0.1:${first.port}`, `127.0.0.1:${target.port}`] })
    const post = {
      method: "POST",
      body: "{}",
      headers: { authorization: "Bearer secret", "content-type": "application/json" }
    }
    const response = await egress.fetch(`http://127.0.0.1:${first.port}/307`, post)
    assert.strictEqual(await response.text(), "arrived")
    assert.deepStrictEqual(seen, [["POST", undefined, "{}"]])
    for (const status of [301, 302, 303]) {
      const refusal = await refusalOf(egress.fetch(`http://127.0.0.1:${first.port}/${status}`, post))
      assert.strictEqual(refusal.reason, "redirects")
    }
    assert.lengthOf(target.requests, 1)
    assert.strictEqual(first.requests[0]?.headers.authorization, "Bearer secret")
  })
})
