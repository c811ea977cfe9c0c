// A turn that a person stops: what runs ends, who waits learns it, and the assistant goes on.

import { assert, describe, test } from "vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { AnswerFailed, defineTool, type Fleet } from "../src/index.ts"
import { aDirectory, failureOf, gate, openFleet } from "./rig.ts"

const outcomesOf = async (fleet: Fleet) => (await fleet.history.ticks("desk")).ticks.map(({ outcome }) => outcome)

describe("a turn that is stopped", () => {
  test("its model call is interrupted, its asker learns it, and the next message is answered", async () => {
    const began = gate()
    let interrupted = 0
    let calls = 0
    await using fleet = await openFleet({
      says: () =>
        calls++ > 0
          ? Effect.succeed({ text: "Good morning." })
          : Effect.sync(began.open).pipe(
              Effect.andThen(Effect.never),
              Effect.onInterrupt(() => Effect.sync(() => interrupted++))
            )
    })
    const asked = failureOf(fleet.answer("desk", "Tell me everything.", { id: "long" }))
    await began.passed
    await fleet.stop("desk", { tick: 7 })
    await fleet.stop("desk", { tick: 1, reason: "enough" })
    const failure = await asked
    assert.instanceOf(failure, AnswerFailed)
    assert.include(failure.message, "a person stopped it")
    assert.strictEqual(await fleet.answer("desk", "Hello"), "Good morning.")
    assert.strictEqual(interrupted, 1)
    assert.deepStrictEqual((await outcomesOf(fleet)).toReversed(), ["stopped", "answered"])
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    assert.deepStrictEqual(await fleet.deadLetters.list(), [])
  })

  test("a tool is aborted, and what was recorded stays", async () => {
    const began = gate()
    let isAborted = false
    const slow = defineTool({
      name: "count_ships",
      description: "Counts all ships.",
      input: Schema.Struct({}),
      run: (_input, { signal }) =>
        new Promise<string>((resolve) => {
          signal.addEventListener("abort", () => {
            isAborted = true
            resolve("none")
          })
          began.open()
        })
    })
    await using fleet = await openFleet({
      says: [{ calls: [{ tool: "count_ships" }] }, { text: "Hello." }],
      tools: [slow]
    })
    await fleet.send("desk", "Count")
    await began.passed
    await fleet.stop("desk", { tick: 1 })
    await fleet.idle()
    assert.strictEqual(await fleet.answer("desk", "Hello"), "Hello.")
    assert.isTrue(isAborted)
    const said = JSON.stringify(await fleet.history.entries("desk", 1, 100))
    assert.match(said, /stopped[^"]*while this call was open/)
  })

  test("an order that comes late stops nothing, and is durable: it is heard after a restart", async () => {
    const data = aDirectory()
    {
      await using fleet = await openFleet({ data })
      await fleet.answer("desk", "Hello", {})
      await fleet.stop("desk", { tick: 1 })
      await fleet.idle()
      assert.deepStrictEqual(await outcomesOf(fleet), ["answered"])
    }
    await using again = await openFleet({ data })
    assert.strictEqual(await again.answer("desk", "Hello again"), "Good morning.")
    assert.isTrue((await again.replay.verify("desk")).equal)
  })
})
