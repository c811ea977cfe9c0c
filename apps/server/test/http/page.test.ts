import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { aPath, assertFailure, assertSecured, openRig, tokens } from "./rig.ts"

const SECRET = "not for anybody"

const aPage = (): string => {
  const outside = aPath()
  mkdirSync(join(outside, "page", "assets"), { recursive: true })
  const page = join(outside, "page")
  writeFileSync(join(outside, "secret.txt"), SECRET)
  writeFileSync(join(page, "index.html"), "<!doctype html><title>Fleet</title>")
  writeFileSync(join(page, "assets", "index-1a2B_c4d.js"), "console.log(1)")
  writeFileSync(join(page, "assets", "index-1a2B_c4d.js.gz"), gzipSync("console.log(1)"))
  writeFileSync(join(page, "plain.txt"), "plain")
  symlinkSync(join(outside, "secret.txt"), join(page, "link.txt"))
  symlinkSync(outside, join(page, "up"))
  return page
}

const html = { accept: "text/html,application/xhtml+xml" }

describe("the page", () => {
  it("P2 P3 serves its files, and itself under every address of its own", async () => {
    const { ask } = await openRig({ page: aPage() })
    const itself = await ask("/")
    assert.deepStrictEqual([itself.status, itself.headers["content-type"]], [200, "text/html; charset=utf-8"])
    assert.strictEqual(itself.headers["cache-control"], "no-cache")
    assertSecured(itself)
    assert.strictEqual(
      itself.headers["content-security-policy"],
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' blob:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    for (const path of ["/agents/desk/context?tick=4", "/queues", "/index.html"]) {
      assert.strictEqual((await ask(path, { headers: html })).text, itself.text, path)
    }
    assertFailure(await ask("/queues"), 404, "NotFound")
    assertFailure(await ask("/v1/queue", { headers: html }), 404, "NotFound")
    const script = await ask("/assets/index-1a2B_c4d.js")
    assert.deepStrictEqual([script.status, script.text], [200, "console.log(1)"])
    assert.strictEqual(script.headers["cache-control"], "public, max-age=31536000, immutable")
    const etag = String(itself.headers["etag"])
    assert.strictEqual((await ask("/", { headers: { "if-none-match": etag } })).status, 304)
    assert.strictEqual((await ask("/", { method: "HEAD" })).text, "")
    assertFailure(await ask("/", { method: "POST", headers: html }), 404, "NotFound")
  })

  it("serves what was packed before to anyone who takes it", async () => {
    const { server } = await openRig({ page: aPage() })
    const url = `${server.url}/assets/index-1a2B_c4d.js`
    const packed = await fetch(url, { headers: { "accept-encoding": "br, gzip" } })
    assert.strictEqual(packed.headers.get("content-encoding"), "gzip")
    assert.strictEqual(await packed.text(), "console.log(1)")
    const plain = await fetch(url, { headers: { "accept-encoding": "gzip;q=0" } })
    assert.isNull(plain.headers.get("content-encoding"))
    assert.isNotEmpty(gunzipSync(gzipSync("x")))
  })

  it("P1 no path leads out of the folder", async () => {
    const { ask } = await openRig({ page: aPage() })
    const corpus = [
      "/../secret.txt",
      "/..%2fsecret.txt",
      "/%2e%2e/secret.txt",
      "/%2e%2e%2fsecret.txt",
      "/..%5csecret.txt",
      "/..\\secret.txt",
      "/assets/../../secret.txt",
      "/assets/..%2f..%2fsecret.txt",
      "//secret.txt",
      "/./../secret.txt",
      "/....//secret.txt",
      "/%252e%252e/secret.txt",
      "/link.txt",
      "/up/secret.txt",
      "/plain.txt%00.html",
      "/secret.txt%00",
      "/etc/passwd",
      "/%2fetc%2fpasswd",
      "/file:///etc/passwd"
    ]
    for (const path of corpus) {
      for (const headers of [{}, html]) {
        const answer = await ask(path, { headers })
        assert.notInclude(answer.text, SECRET, path)
        assert.notInclude(answer.text, "root:", path)
        if (headers !== html) assert.include([400, 404], answer.status, path)
      }
    }
    assert.strictEqual((await ask("/plain.txt")).text, "plain")
  })

  it("G1 is no part of the fleet: with tokens it is served without one, and shows nothing by itself", async () => {
    const { ask } = await openRig({ page: aPage(), tokens })
    assert.strictEqual((await ask("/")).status, 200)
    assert.strictEqual((await ask("/v1/assistants")).status, 401)
  })

  it("P4 until it is built it says so and asks again, and the API is not kept waiting", async () => {
    const page = aPath()
    const { ask } = await openRig({ page })
    for (const path of ["/", "/a/desk"]) {
      const coming = await ask(path, { headers: html })
      assert.deepStrictEqual([coming.status, coming.headers["retry-after"]], [503, "1"])
      assert.match(coming.text, /<meta http-equiv="refresh" content="1">/)
      assertSecured(coming)
      assert.strictEqual(coming.headers["cache-control"], "no-store")
    }
    assertFailure(await ask("/assets/index-1a2B_c4d.js"), 404, "NotFound")
    assert.strictEqual((await ask("/v1/assistants")).status, 200)
    mkdirSync(page)
    writeFileSync(join(page, "index.html"), "<!doctype html><title>Fleet</title>")
    const opened = async () => (await ask("/", { headers: html })).status === 200
    while (!(await opened())) await new Promise((resolve) => setTimeout(resolve, 50))
  })

  it("without a folder there is no page", async () => {
    const { ask } = await openRig()
    assertFailure(await ask("/", { headers: html }), 404, "NotFound")
  })
})
