import { assert, describe, it } from "@effect/vitest"
import { routes } from "../../src/http/front.ts"
import { bearer, openRig, SECRETS, tokens } from "./rig.ts"

const WORDS = "words of the south"

describe("two tenants behind one server", () => {
  it("D1 D2 nothing of the one is in any answer to the other", async () => {
    const { ask, fleet, post, server } = await openRig({ tokens })
    const south = fleet.forTenant("south")
    const north = fleet.forTenant("north")
    for (const [rig, name] of [
      [south, "southern-desk"],
      [north, "northern-desk"]
    ] as const) {
      await rig.create("desk")
      await rig.create(name, "desk")
    }
    const heard = await fetch(`${server.url}/v1/events?after=0`, { headers: bearer(SECRETS.north) })
    await south.send("desk", WORDS, { id: `${WORDS} 1`, from: WORDS })
    await south.send("southern-desk", WORDS, { id: `${WORDS} 2` })
    await south.halt("southern-desk", WORDS)
    await fleet.idle()
    await south.send("southern-desk", WORDS, { id: `${WORDS} 3` })
    await south.retire("southern-desk", WORDS)
    await fleet.idle()
    await post("/v1/assistants", { id: "clerk" }, bearer(SECRETS.south))
    let looked = 0
    for (const id of ["desk", "southern-desk", "northern-desk"]) {
      for (const { method, pattern } of routes) {
        if (method !== "GET" || pattern === "/v1/events") continue
        const query = pattern.endsWith("/recall") ? "?q=words" : ""
        const path = pattern.replace(":id", id).replaceAll(/:\w+/g, "1") + query
        const answer = await ask(path, { headers: bearer(SECRETS.north) })
        assert.notInclude(answer.text.replaceAll(id, "it"), "southern", path)
        assert.notInclude(answer.text, WORDS, path)
        looked++
      }
    }
    assert.isAbove(looked, 60)
    // The same questions tell the other one a lot.
    assert.include((await ask("/v1/assistants/desk/messages", { headers: bearer(SECRETS.south) })).text, WORDS)
    assert.include((await ask("/v1/dead-letters", { headers: bearer(SECRETS.south) })).text, WORDS)
    // The stream too.
    await north.send("northern-desk", "The last one.", { id: "the last one" })
    await fleet.idle()
    let told = ""
    const reader = (heard.body as ReadableStream<Uint8Array>).getReader()
    while (!told.includes('the last one","outcome"')) {
      const { done, value } = await reader.read()
      if (done) break
      told += new TextDecoder().decode(value)
    }
    await reader.cancel()
    assert.include(told, "The last one.")
    assert.notInclude(told, WORDS)
    assert.notInclude(told, '"tenant":"south"')
    // Orders of the one do not reach the other.
    assert.strictEqual((await post("/v1/orders", { order: "halt" }, bearer(SECRETS.north))).json.matched, 2)
    await fleet.idle()
    assert.strictEqual((await south.inspect("desk"))?.state.status, "awake.idle")
  })
})
