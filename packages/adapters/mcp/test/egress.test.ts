// The table of what may be asked, names that change their mind, redirects, and listeners that nobody may reach.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { createServer as createTcpServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { type EgressOptions, openEgress, type Resolve } from "../src/egress.ts"
import { judgeAddress } from "../src/egress-address.ts"
import { EgressRefused } from "../src/errors.ts"
import { MAX_REDIRECTS } from "../src/redirect.ts"
import { later } from "./rig.ts"

/** Names of the table; whatever else is asked does not exist. */
const names: Readonly<Record<string, ReadonlyArray<string>>> = {
  "example.com": ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
  "api.example.com": ["93.184.215.15"],
  localhost: ["127.0.0.1", "::1"],
  "evil.test": ["10.0.0.7"],
  "mixed.test": ["93.184.215.14", "169.254.169.254"],
  "mapped.test": ["::ffff:192.168.0.1"],
  "xn--bcher-kva.example": ["93.184.215.16"],
  "broken.test": ["not-an-address"],
  "zone.test": ["fe80::1%eth0"],
  "inside.test": ["10.1.2.3"]
}
const resolve: Resolve = async (host) => {
  const found = names[host]
  if (found === undefined) throw new Error(`ENOTFOUND ${host}`)
  return found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
}

type Reason = EgressRefused["reason"]
const open = undefined

/** What is asked, and why not. */
const table: ReadonlyArray<readonly [string, Reason | undefined]> = [
  ["https://example.com/", open],
  ["http://example.com:8080/a?b#c", open],
  ["https://EXAMPLE.com./", open],
  ["https://bücher.example/", open],
  ["https://93.184.215.14/", open],
  ["https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/", open],
  ["http://1.1.1.1:81/", open],
  ["http://[::ffff:8.8.8.8]/", open],
  ["http://[64:ff9b::8.8.8.8]/", open],
  // What is no URL, no scheme of ours, or carries a secret.
  ["", "url"],
  ["example.com", "url"],
  ["//example.com/", "url"],
  ["http://", "url"],
  ["http://[::1", "url"],
  ["http://exa mple.com/", "url"],
  ["http://256.256.256.256/", "url"],
  ["http://[fe80::1%25eth0]/", "url"],
  ["ftp://example.com/", "scheme"],
  ["file:///etc/passwd", "scheme"],
  ["gopher://127.0.0.1:6379/_", "scheme"],
  ["data:text/plain,hello", "scheme"],
  ["javascript:alert(1)", "scheme"],
  ["ws://example.com/", "scheme"],
  ["unix:/var/run/docker.sock", "scheme"],
  ["https://user:word@example.com/", "credentials"],
  ["https://user@example.com/", "credentials"],
  ["http://example.com@127.0.0.1/", "credentials"],
  ["http://:word@example.com/", "credentials"],
  // This machine, in every notation.
  ["http://127.0.0.1/", "address"],
  ["http://127.0.0.1:8080/", "address"],
  ["http://127.1/", "address"],
  ["http://127.255.255.254/", "address"],
  ["http://2130706433/", "address"],
  ["http://0x7f000001/", "address"],
  ["http://0x7f.0.0.1/", "address"],
  ["http://0177.0.0.1/", "address"],
  ["http://017700000001/", "address"],
  ["http://127.0.0.1./", "address"],
  ["http://①②⑦.⓪.⓪.①/", "address"],
  ["http://localhost/", "address"],
  ["http://LOCALHOST./", "address"],
  ["http://[::1]/", "address"],
  ["http://[0:0:0:0:0:0:0:1]/", "address"],
  ["http://[::]/", "address"],
  ["http://[::ffff:127.0.0.1]/", "address"],
  ["http://[::ffff:7f00:1]/", "address"],
  ["http://[::127.0.0.1]/", "address"],
  ["http://0/", "address"],
  ["http://0.0.0.0/", "address"],
  ["http://0.1.2.3/", "address"],
  // Private networks and those of carriers.
  ["http://10.0.0.1/", "address"],
  ["http://10.255.255.255/", "address"],
  ["http://172.16.0.1/", "address"],
  ["http://172.31.255.255/", "address"],
  ["http://192.168.1.1/", "address"],
  ["http://0xc0a80101/", "address"],
  ["http://100.64.0.1/", "address"],
  ["http://100.127.255.255/", "address"],
  ["http://[fc00::1]/", "address"],
  ["http://[fd12:3456::1]/", "address"],
  ["http://[::ffff:10.0.0.1]/", "address"],
  ["http://[fec0::1]/", "address"],
  // Metadata of clouds, and links.
  ["http://169.254.169.254/latest/meta-data/", "address"],
  ["http://2852039166/", "address"],
  ["http://0xa9fea9fe/", "address"],
  ["http://0251.0376.0251.0376/", "address"],
  ["http://[::ffff:169.254.169.254]/", "address"],
  ["http://[fd00:ec2::254]/", "address"],
  ["http://100.100.100.200/", "address"],
  ["http://192.0.0.192/", "address"],
  ["http://169.254.0.1/", "address"],
  ["http://[fe80::1]/", "address"],
  // Tunnels and translations to what is inside.
  ["http://[64:ff9b::127.0.0.1]/", "address"],
  ["http://[64:ff9b::a9fe:a9fe]/", "address"],
  ["http://[64:ff9b:1::1]/", "address"],
  ["http://[2002:7f00:1::]/", "address"],
  ["http://[2002:a00:1::]/", "address"],
  ["http://[2001::1]/", "address"],
  ["http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/", "address"],
  ["http://[::ffff:0:127.0.0.1]/", "address"],
  // Everybody, groups, examples, what is kept for later.
  ["http://255.255.255.255/", "address"],
  ["http://224.0.0.1/", "address"],
  ["http://239.255.255.250:1900/", "address"],
  ["http://240.0.0.1/", "address"],
  ["http://198.18.0.1/", "address"],
  ["http://192.0.2.1/", "address"],
  ["http://198.51.100.1/", "address"],
  ["http://203.0.113.1/", "address"],
  ["http://192.88.99.1/", "address"],
  ["http://[ff02::1]/", "address"],
  ["http://[2001:db8::1]/", "address"],
  ["http://[100::1]/", "address"],
  ["http://[3fff::1]/", "address"],
  ["http://[5f00::1]/", "address"],
  ["http://[4000::1]/", "address"],
  // Names that lead inside, and names that lead nowhere.
  ["http://evil.test/", "address"],
  ["http://mixed.test/", "address"],
  ["http://mapped.test/", "address"],
  ["http://broken.test/", "address"],
  ["http://zone.test/", "address"],
  ["http://nowhere.test/", "unresolved"],
  ["http://localhost.nowhere.test/", "unresolved"]
]

const verdictOf = async (url: string, options: EgressOptions = {}): Promise<Reason | undefined> => {
  const egress = openEgress({ resolve, ...options })
  later(egress.close)
  try {
    await egress.judge(url)
    return undefined
  } catch (error) {
    assert.instanceOf(error, EgressRefused)
    assert.isNotEmpty(error.message)
    return error.reason
  }
}

describe("which URLs are asked", () => {
  it("G1 A1 A2 every row of the table", async () => {
    assert.isAtLeast(table.length, 60)
    for (const [url, expected] of table) assert.strictEqual(await verdictOf(url), expected, url)
  })

  it("G1 only hosts of the list, when there is one", async () => {
    const allowHosts = ["api.example.com", "*.test"]
    assert.strictEqual(await verdictOf("https://api.example.com/", { allowHosts }), undefined)
    assert.strictEqual(await verdictOf("https://API.example.com./", { allowHosts }), undefined)
    for (const url of [
      "https://example.com/",
      "https://test/",
      "https://eviltest/",
      "https://api.example.com.evil.test.com/"
    ]) {
      assert.strictEqual(await verdictOf(url, { allowHosts }), "host", url)
    }
    // Being on the list makes no address better.
    assert.strictEqual(await verdictOf("https://evil.test/", { allowHosts }), "address")
  })

  it("A3 who is named may be inside, on that port only, and never metadata, a link or a group", async () => {
    const allowPrivate = [
      "localhost:1234",
      "inside.test:443",
      "[::1]:80",
      "10.0.0.1:80",
      "169.254.169.254:80",
      "mixed.test:80"
    ]
    const may = async (url: string) => (await verdictOf(url, { allowPrivate })) === undefined
    assert.isTrue(await may("http://localhost:1234/mcp"))
    assert.isTrue(await may("https://inside.test/"))
    assert.isTrue(await may("http://[::1]/"))
    assert.isTrue(await may("http://10.0.0.1/"))
    for (const url of [
      "http://localhost/",
      "http://localhost:1235/",
      "http://127.0.0.1:1234/",
      "http://inside.test/",
      "http://10.0.0.2/",
      "http://169.254.169.254/",
      "http://mixed.test/"
    ]) {
      assert.isFalse(await may(url), url)
    }
  })

  it("A1 what is no plain address is none", () => {
    for (const text of ["", "example.com", "0x7f.1", "127.1", "1.2.3.4.5", "012.1.1.1", ":::"]) {
      assert.isUndefined(judgeAddress(text), text)
    }
  })
})

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
