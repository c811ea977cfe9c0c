// PlainFetch at a real server.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { plainFetch } from "../src/backend/plain-fetch.ts"

type Answering = (request: IncomingMessage, response: ServerResponse) => void

const served = async <A>(answer: Answering, ask: (url: string) => Promise<A>): Promise<A> => {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    return await ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}/here`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const failureOf = async (asked: Promise<unknown>): Promise<Error> => {
  try {
    await asked
  } catch (error) {
    if (error instanceof Error) return error
  }
  return assert.fail("it did not fail")
}

describe("plain fetch", () => {
  it("sends what it is given, and reads what comes", async () => {
    const echo: Answering = (request, response) => {
      let said = ""
      request.on("data", (chunk) => (said += String(chunk)))
      request.on("end", () => {
        response.writeHead(422, { "x-seen": `${request.method} ${request.headers["x-own"]}` })
        response.end(`${said}, with an ä in it`)
      })
    }
    await served(echo, async (url) => {
      const asked = { method: "POST", headers: { "x-own": "yes" }, body: new TextEncoder().encode("a message") }
      const response = await plainFetch(new URL(url), asked)
      assert.deepInclude(response, { status: 422, ok: false, url })
      assert.strictEqual(new Map(response.headers).get("x-seen"), "POST yes")
      assert.strictEqual(new TextDecoder().decode(await response.arrayBuffer()), "a message, with an ä in it")
    })
  })

  it("P1 goes to no other place", async () => {
    let asked = 0
    const away: Answering = (_, response) => {
      asked++
      response.writeHead(302, { location: "/there" }).end()
    }
    const failure = await served(away, (url) => failureOf(plainFetch(url)))
    assert.match(failure.message, /here redirects, which is not followed/)
    assert.strictEqual(asked, 1)
  })

  it("P3 ends with the reason of who stops it: before, while it waits, and in the body", async () => {
    const silent: Answering = () => undefined
    const [early, late] = await served(silent, async (url) => [
      await failureOf(plainFetch(url, { signal: AbortSignal.abort(new Error("not now")) })),
      await failureOf(plainFetch(url, { signal: AbortSignal.timeout(50) }))
    ])
    assert.strictEqual(early?.message, "not now")
    assert.strictEqual(late?.name, "TimeoutError")
    const half: Answering = (_, response) => void response.write("half of it")
    await served(half, async (url) => {
      const stop = new AbortController()
      const { body } = await plainFetch(url, { signal: stop.signal })
      const read = failureOf(
        (async () => {
          for await (const chunk of body) if (chunk.length > 0) stop.abort()
        })()
      )
      assert.strictEqual((await read).name, "AbortError")
    })
  })

  it("says that no one is there, and that what came broke off", async () => {
    assert.strictEqual(Reflect.get(await failureOf(plainFetch("http://127.0.0.1:1/")), "code"), "ECONNREFUSED")
    const cut: Answering = (_, response) => {
      response.writeHead(200, { "content-length": "100" })
      response.write("less", () => response.destroy())
    }
    const failure = await served(cut, async (url) => failureOf((await plainFetch(url)).arrayBuffer()))
    assert.match(failure.message, /aborted|hang up/)
  })
})
