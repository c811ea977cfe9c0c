// Parts of messages by HTTP: sent in base64 within bounds, read back by who may read, and never run by a browser.

import { later } from "@reverie/testkit/later"
import { assert, describe, test } from "vitest"
import { fetchHandler } from "../../src/fetch.ts"
import { assertFailure, assertSecured, bearer, openRig, SECRETS, tokens } from "./rig.ts"

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const digest = "6b7fa434f92a8b80aab02d9bf1a12e49ffcae424e4013a1c4f68b67e3d2bbcd0"
const image = { type: "image", data: PNG, mediaType: "image/png", name: "berth.png" }
const page = { type: "file", data: "PHNjcmlwdD4xPC9zY3JpcHQ+", mediaType: "text/html", name: "a.html" }

describe("parts by HTTP", () => {
  test("a message brings them, its history names them, and their bytes are answered as what they are", async () => {
    const { ask, fleet, post } = await openRig()
    const sent = await post("/v1/assistants/desk/messages", { text: "", parts: [image, page] })
    assert.strictEqual(sent.status, 202, sent.text)
    await fleet.idle()
    const { items } = (await ask("/v1/assistants/desk/messages")).json
    assert.deepStrictEqual(items[0].parts[0], {
      type: "image",
      digest,
      mediaType: "image/png",
      bytes: 70,
      name: "berth.png",
      width: 1,
      height: 1
    })
    const shown = await ask(`/v1/blobs/${digest}?name=berth.png`)
    assert.strictEqual(shown.status, 200, shown.text)
    assertSecured(shown)
    assert.strictEqual(shown.headers["content-type"], "image/png")
    assert.strictEqual(shown.headers["content-length"], "70")
    assert.strictEqual(shown.headers["content-disposition"], "inline; filename*=UTF-8''berth.png")
    assert.match(String(shown.headers["content-security-policy"]), /sandbox/)

    const [, html] = items[0].parts
    const kept = await ask(`/v1/blobs/${html.digest}?type=text/html&name=${encodeURIComponent('../a"\r\nx: y.html')}`)
    assert.strictEqual(kept.text, "<script>1</script>")
    assert.strictEqual(kept.headers["content-disposition"], "attachment; filename*=UTF-8''a%22%20x%3A%20y.html")
    assert.match(String(kept.headers["content-security-policy"]), /default-src 'none'.*sandbox/)
    const posed = await ask(`/v1/blobs/${html.digest}?type=image/svg%2Bxml`)
    assert.strictEqual(posed.headers["content-type"], "application/octet-stream")
    assert.strictEqual(posed.headers["content-disposition"], "attachment")
  })

  test("a mounted handler takes and answers the same bytes", async () => {
    const { fleet } = await openRig()
    const handler = fetchHandler(fleet, { open: true })
    later(() => handler.close())
    const headers = { "content-type": "application/json" }
    const body = JSON.stringify({ text: "", parts: [image] })
    const sent = await handler(
      new Request("http://app.example/v1/assistants/desk/messages", { method: "POST", headers, body })
    )
    assert.strictEqual(sent.status, 202, await sent.text())
    const shown = await handler(new Request(`http://app.example/v1/blobs/${digest}`))
    assert.strictEqual(shown.headers.get("content-type"), "image/png")
    assert.match(shown.headers.get("content-security-policy") ?? "", /sandbox/)
    assert.strictEqual(Buffer.from(await shown.arrayBuffer()).toString("base64"), PNG)
  })

  test("only who may read the tenant reads them", async () => {
    const { ask, fleet, post } = await openRig({ tokens })
    await fleet.forTenant("north").create("desk")
    const sent = await post("/v1/assistants/desk/messages", { text: "", parts: [image] }, bearer(SECRETS.north))
    assert.strictEqual(sent.status, 202, sent.text)
    assertFailure(await ask(`/v1/blobs/${digest}`), 401, "Unauthorized")
    assertFailure(await ask(`/v1/blobs/${digest}`, { headers: bearer(SECRETS.south) }), 404, "NotFound")
    for (const secret of [SECRETS.north, "onlooker-secret-0123456789"]) {
      assert.strictEqual((await ask(`/v1/blobs/${digest}`, { headers: bearer(secret) })).status, 200)
    }
    for (const wrong of ["x", "0".repeat(64), `${digest.slice(1)}%2e`, "%00"]) {
      assert.include([400, 404], (await ask(`/v1/blobs/${wrong}`, { headers: bearer(SECRETS.north) })).status, wrong)
    }
  })

  test("what can not be kept is refused with a sentence, and a body that is too long with the bound", async () => {
    const { ask, post, trouble } = await openRig()
    const path = "/v1/assistants/desk/messages"
    const empty = await post(path, { text: "x", parts: [{ ...image, data: "" }] })
    assertFailure(empty, 400, "Malformed")
    assert.include(empty.json.message, "part 1 is empty")
    assertFailure(await post(path, { text: "x", parts: [{ ...image, url: "x" }] }), 400, "Malformed")
    assertFailure(await post(path, { text: "" }), 400, "Malformed")
    const long = await ask(path, { method: "POST", headers: { "content-length": "40000000" }, body: "" })
    assertFailure(long, 413, "TooLarge")
    assert.match(long.json.message, /the parts of a message have at most 20 MiB together, before their base64/)
    const big = { type: "file", data: Buffer.alloc(9_000_000, 7).toString("base64"), mediaType: "application/pdf" }
    const kept = await post(path, { text: "x", parts: [big] })
    assert.strictEqual(kept.status, 202, `${kept.text} ${trouble.join()}`)
  })
})
