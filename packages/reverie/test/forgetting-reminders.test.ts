// Reminders of someone who is forgotten: also what was said when they were due.

import { assert, test } from "vitest"
import { defineAssistant, selfTools } from "../src/index.ts"
import { testFleet } from "../src/testing/index.ts"
import { aDirectory, filesWith } from "./rig.ts"

const NOTE = "walrus-4711"
const HOUR = 3_600_000

test("K6 a reminder that has come goes with who set it, what was answered to it too; another one's stays", async () => {
  const data = aDirectory()
  const desk = defineAssistant({ id: "desk", instructions: "You keep the harbour book.", tools: selfTools })
  const fleet = await testFleet(desk, { model: "offline", data })
  await fleet.answer("desk", "Good morning.", { from: "ann" })
  await fleet.reminders.set("desk", "tide", { inMs: HOUR, note: `Look for the ${NOTE}.` }, { from: "ann" })
  await fleet.reminders.set("desk", "lamp", { inMs: HOUR, note: "Light the lamp." }, { from: "ben" })
  await fleet.idle()
  await fleet.clock.advance(2 * HOUR)
  await fleet.idle()
  assert.include(JSON.stringify(await fleet.history.entries("desk", 1, 1_000)), NOTE)
  await fleet.forget({ person: "ann" })
  const left = JSON.stringify(await fleet.history.entries("desk", 1, 1_000))
  assert.notInclude(left, NOTE)
  assert.include(left, "Light the lamp.")
  assert.deepInclude(await fleet.replay.verify("desk"), { equal: true })
  await fleet.close()
  assert.isEmpty(filesWith(data, NOTE))
})
