// A fork that is stopped: the call of the model in flight ends with it, and nothing of it stays.

import { later } from "@reverie/testkit/later"
import { startModelServer } from "@reverie/testkit/model-server"
import * as Effect from "effect/Effect"
import { assert, describe, test } from "vitest"
import { failureOf, gate, openFleet } from "../rig.ts"

describe("a fork that is stopped", () => {
  test("K3 the call of the model is interrupted, and it rejects with the reason; forked again it is answered", async () => {
    const began = gate()
    let interrupted = 0
    let calls = 0
    await using fleet = await openFleet({
      says: () =>
        ++calls !== 2
          ? Effect.succeed({ text: "Good morning." })
          : Effect.sync(began.open).pipe(
              Effect.andThen(Effect.never),
              Effect.onInterrupt(() => Effect.sync(() => interrupted++))
            )
    })
    await fleet.answer("desk", "Hello")
    const stop = new AbortController()
    const forked = failureOf(fleet.replay.fork({ assistant: "desk", tick: 1, signal: stop.signal }))
    await began.passed
    stop.abort(new Error("enough"))
    assert.strictEqual((await forked).message, "enough")
    assert.strictEqual(interrupted, 1)
    const late = failureOf(fleet.replay.fork({ assistant: "desk", tick: 1, signal: stop.signal }))
    assert.strictEqual((await late).message, "enough")
    assert.strictEqual(calls, 2, "one that is stopped before it begins asks no one")
    const again = await fleet.replay.fork({ assistant: "desk", tick: 1, signal: new AbortController().signal })
    assert.deepStrictEqual(again.differs, [])
  })

  test("K3 the request that the model's server holds is closed", async () => {
    const server = await startModelServer({ serve: () => {} })
    later(() => server.close())
    await using fleet = await openFleet()
    await fleet.answer("desk", "Hello")
    const stop = new AbortController()
    const [asked, left] = [server.nextRequest(), server.nextDeparture()]
    const model = { baseURL: server.url, apiKey: "k", model: "slow" }
    const forked = failureOf(fleet.replay.fork({ assistant: "desk", tick: 1, model, signal: stop.signal }))
    await asked
    stop.abort()
    assert.strictEqual((await forked).name, "AbortError")
    await left
  })
})
