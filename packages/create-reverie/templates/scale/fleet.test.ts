import assert from "node:assert/strict"
import { test } from "node:test"
import { calls, expectToolCalls, scriptedModel, testFleet } from "reverie/testing"
import fleetDefinition from "./fleet.ts"

const script = () =>
  scriptedModel(({ last, tools }) => {
    if (tools.some(({ name }) => name === "hand_over")) {
      return last.includes("The worker has it") ? "Thank you." : calls("hand_over", { note: "Weigh the blue crate." })
    }
    return last.includes("grams") ? "Weighed." : calls("weigh", { crate: "blue" })
  })

test("hands a note over, and the worker works on it", async () => {
  await using fleet = await testFleet(fleetDefinition, { model: script() })
  assert.equal(await fleet.answer("intake", "A crate has arrived."), "Thank you.")
  await fleet.idle()
  await expectToolCalls(fleet, "worker", [{ tool: "weigh", result: "240 grams", ok: true }])
})

test("goes on where it was when the process is replaced, and does nothing twice", async () => {
  const before = await testFleet(fleetDefinition, { model: script(), data: "temporary" })
  await before.send("intake", "A crate has arrived.", { id: "crate-1" })
  await before.idle()
  await using fleet = await before.restart()
  await fleet.send("intake", "A crate has arrived.", { id: "crate-1" })
  await fleet.idle()
  await expectToolCalls(fleet, "intake", ["hand_over"])
  await expectToolCalls(fleet, "worker", ["weigh"])
})
