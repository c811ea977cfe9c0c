import assert from "node:assert/strict"
import { test } from "node:test"
import { expectFacts, expectRecall, expectRequest, runTool, scriptedModel, testClock, testFleet } from "reverie/testing"
import fleetDefinition, { addTask } from "./fleet.ts"

test("knows after a night what it heard by day, and from whom", async () => {
  const model = scriptedModel(["Welcome, Ann.", "In Bergen."])
  await using fleet = await testFleet(fleetDefinition, { model })
  await fleet.answer("assistant", "My name is Ann and I sail the Aurora out of Bergen.", { from: "ann" })
  assert.deepEqual(await fleet.memory.facts("assistant"), [])
  await fleet.clock.advanceTo("07:00")
  await expectFacts(fleet, "assistant", [{ text: /Bergen/, origin: { type: "person", name: "ann" } }])
  await expectRecall(fleet, "assistant", "Where does Ann sail from?", ["Bergen"])
  await fleet.answer("assistant", "Where do I sail from?", { from: "ann" })
  expectRequest(model.requests.at(-1), { shows: ["Quiet after 20:00."], offers: ["add_task"], purpose: "tick" })
})

test("sleeps every night of a week", async () => {
  await using fleet = await testFleet(fleetDefinition, { model: "offline" })
  await fleet.answer("assistant", "I live in Bergen.", { from: "ann" })
  await fleet.clock.advance("7 days")
  assert.equal((await fleet.memory.dreams("assistant")).length, 7)
})

test("adds a task with the day on which it was added", async () => {
  const clock = testClock("2026-03-01T12:00")
  const { output } = await runTool(addTask, { what: "Call the dentist" }, { clock })
  assert.equal(output, "added on 2026-03-01: Call the dentist")
})
