// What is shown of forgotten turns: neither prompts nor recall hold what stands in their place.

import { assert, test } from "vitest"
import { defineAssistant, memoryTools } from "../src/index.ts"
import { testFleet } from "../src/testing/index.ts"

const MARK = "[forgotten]"

test("no prompt and no answer of recall holds a forgotten turn, what others said and were answered stays", async () => {
  const desk = defineAssistant({ id: "desk", instructions: "You keep the harbour book.", tools: memoryTools })
  await using fleet = await testFleet(desk, { model: "offline" })
  const told = [
    ["ann", "The lamp at the harbour is broken."],
    ["ben", "The harbour lamp costs ninety."],
    ["ann", 'Please store in your memory: "the lamp needs oil"'],
    ["ann", "The harbour master is late."]
  ] as const
  for (const [from, text] of told) await fleet.answer("desk", text, { from })
  await fleet.forget({ person: "ann" })
  assert.include(JSON.stringify(await fleet.history.entries("desk", 1, 100)), MARK)

  await fleet.answer("desk", "What of the harbour?", { from: "ben" })
  const last = fleet.modelCalls.at(-1)
  const shown = last?.messages.map(({ content }) => content) ?? []
  assert.include(shown.join("\n"), "The harbour lamp costs ninety.")
  assert.notInclude(JSON.stringify(last), MARK)
  assert.deepStrictEqual(
    last?.messages.filter(({ role }) => role !== "system").map(({ name, role }) => (role === "user" ? name : role)),
    ["ben", "assistant", "ben"]
  )

  for (const question of ["harbour lamp", "forgotten", "the lamp needs oil"]) {
    const { hits } = await fleet.memory.recall("desk", question, { limit: 50 })
    assert.isEmpty(hits.filter(({ entry }) => entry.text.includes(MARK)))
  }
  await fleet.sleep("desk")
  await fleet.idle()
  assert.isEmpty((await fleet.memory.facts("desk")).filter(({ text }) => text.includes("forgotten")))
  assert.deepInclude(await fleet.replay.verify("desk"), { equal: true })
})
