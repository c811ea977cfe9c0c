// A fork whose client leaves: the request that the model's server holds is closed too.

import { later } from "@reverie/testkit/later"
import { saying, startModelServer } from "@reverie/testkit/model-server"
import { assert, describe, test } from "vitest"
import { openRig } from "./rig.ts"

describe("a fork whose client leaves", () => {
  test("R2 H2 the model's request is closed, the audit log says it, and the server answers on", async () => {
    const model = await startModelServer({ sequence: [{ script: saying("Good morning.") }, { serve: () => {} }] })
    later(() => model.close())
    const { fleet, post, server, trouble, ask } = await openRig({
      model: { baseURL: model.url, apiKey: "k", model: "slow" }
    })
    assert.strictEqual(await fleet.answer("desk", "Hello"), "Good morning.")
    const [asked, left] = [model.nextRequest(), model.nextDeparture()]
    const leaving = new AbortController()
    const forked = fetch(`http://127.0.0.1:${server.port}/v1/assistants/desk/forks`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ tick: 1 }),
      signal: leaving.signal
    })
    await asked
    leaving.abort()
    await forked.then(
      () => assert.fail("it was answered"),
      (error: Error) => assert.strictEqual(error.name, "AbortError")
    )
    await left
    const { items } = (await ask("/v1/audit")).json
    assert.deepInclude(items[0], { action: "replay.fork", target: "desk/1", outcome: "left" })
    const recorded = await post("/v1/assistants/desk/forks", { tick: 1, model: "recorded" })
    assert.deepStrictEqual(recorded.json.differs, [])
    assert.deepStrictEqual(trouble, [])
  })
})
