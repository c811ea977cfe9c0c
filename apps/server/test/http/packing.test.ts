// K1-K3: what is answered is packed in a form that its client reads, wherever it comes from.

import { assert, describe, it } from "@effect/vitest"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { fetchHandler } from "../../src/fetch.ts"
import { later } from "@reverie/testkit/later"
import { aFleet, openRig } from "./rig.ts"

const unpack: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync
}

/** A client that unpacks nothing by itself. */
const rawly = async (url: string, accepted: string, method = "GET") => {
  const { get } = await import("node:http")
  return new Promise<{
    readonly headers: Readonly<Record<string, string | string[] | undefined>>
    readonly bytes: Buffer
  }>((resolve, reject) => {
    const asked = get(url, { method, headers: accepted === "" ? {} : { "accept-encoding": accepted } }, (answer) => {
      const chunks: Array<Buffer> = []
      answer.on("data", (chunk: Buffer) => chunks.push(chunk))
      answer.once("error", reject)
      answer.once("end", () => resolve({ headers: answer.headers, bytes: Buffer.concat(chunks) }))
    })
    asked.once("error", reject)
  })
}

describe("packing", () => {
  it("K1 K3 an answer of the contract is packed as its client reads it, and says so", async () => {
    const { server } = await openRig()
    const url = `${server.url}/v1/pulse`
    const plain = await rawly(url, "")
    assert.isAbove(plain.bytes.length, 10_000)
    assert.deepStrictEqual([plain.headers["content-encoding"], plain.headers["vary"]], [undefined, "accept-encoding"])
    for (const [accepted, name] of [
      ["gzip", "gzip"],
      ["gzip, deflate, br", "br"],
      ["gzip, deflate, br, zstd", "br"],
      ["zstd;q=0, br;q=0.0, gzip;q=0.5", "gzip"]
    ] as const) {
      const { bytes, headers } = await rawly(url, accepted)
      assert.deepStrictEqual([headers["content-encoding"], headers["vary"]], [name, "accept-encoding"], accepted)
      assert.strictEqual(headers["content-type"], "application/json")
      assert.strictEqual(headers["content-length"], String(bytes.length))
      assert.isBelow(bytes.length, plain.bytes.length / 5, name)
      const { hour } = JSON.parse(unpack[name]?.(bytes).toString() ?? "") as { hour: ReadonlyArray<unknown> }
      assert.lengthOf(hour, 60)
    }
    for (const accepted of ["identity", "gzip;q=0", "snappy"]) {
      assert.isUndefined((await rawly(url, accepted)).headers["content-encoding"], accepted)
    }
    const head = await rawly(url, "gzip", "HEAD")
    assert.deepStrictEqual([head.headers["content-encoding"], head.bytes.length], ["gzip", 0])
  })

  it("K1 what is short, and what flows, is left as it is", async () => {
    const { ask, server } = await openRig()
    const accept = { "accept-encoding": "gzip, br, zstd" }
    for (const path of ["/v1/approvals", "/v1/nothing", "/livez"]) {
      const { headers, text } = await ask(path, { headers: accept })
      assert.isBelow(text.length, 1_400)
      assert.deepStrictEqual([headers["content-encoding"], headers["vary"]], [undefined, undefined], path)
    }
    const leaving = new AbortController()
    const stream = await fetch(`${server.url}/v1/events`, { headers: accept, signal: leaving.signal })
    assert.deepStrictEqual([stream.status, stream.headers.get("content-encoding")], [200, null])
    leaving.abort()
  })

  it("K1 the contract, the figures and a fleet that is mounted elsewhere are packed too", async () => {
    const { server } = await openRig()
    for (const path of ["/openapi.json", "/metrics"]) {
      const plain = await rawly(server.url + path, "")
      const { bytes, headers } = await rawly(server.url + path, "gzip")
      assert.strictEqual(headers["content-encoding"], "gzip", path)
      assert.isBelow(bytes.length, plain.bytes.length / 3, path)
    }
    const fleet = await aFleet()
    const handler = fetchHandler(fleet, { open: true })
    later(async () => {
      await handler.close()
      await fleet.close()
    })
    const answer = await handler(new Request("http://app.example/v1/pulse", { headers: { "accept-encoding": "br" } }))
    assert.deepStrictEqual(
      [answer.headers.get("content-encoding"), answer.headers.get("vary")],
      ["br", "accept-encoding"]
    )
    const { hour } = JSON.parse(brotliDecompressSync(Buffer.from(await answer.arrayBuffer())).toString()) as {
      hour: ReadonlyArray<unknown>
    }
    assert.lengthOf(hour, 60)
  })

  it("K4 what was packed is known again by its tag, which is a weak one", async () => {
    const { ask } = await openRig()
    const path = "/v1/machine?view=overview"
    const plain = await ask(path)
    const packed = await ask(path, { headers: { "accept-encoding": "br" } })
    assert.strictEqual(packed.headers["etag"], `W/${String(plain.headers["etag"])}`)
    for (const tag of [plain.headers["etag"], packed.headers["etag"]]) {
      const again = await ask(path, { headers: { "accept-encoding": "br", "if-none-match": String(tag) } })
      assert.deepStrictEqual([again.status, again.text, again.headers["vary"]], [304, "", "accept-encoding"])
    }
  })

  it("K2 a long answer is packed beside the event loop", async () => {
    const { packed } = await import("../../src/http/packing.ts")
    const bytes = Buffer.from(
      JSON.stringify(Array.from({ length: 400_000 }, (_, at) => ({ at, name: `a${at * 7919}` })))
    )
    let isPacked = false
    const packing = packed(bytes, "application/json", "br").then((done) => {
      isPacked = true
      return done
    })
    let turns = 0
    while (!isPacked) {
      await new Promise((resolve) => setImmediate(resolve))
      turns++
    }
    assert.isAbove(turns, 10)
    assert.isBelow((await packing).bytes.length, bytes.length / 3)
  })
})
