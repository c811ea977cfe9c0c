import assert from "node:assert/strict"
import { test } from "node:test"
import { calls, runTool, scriptedModel, slow, testFleet } from "reverie/testing"
import fleetDefinition, { searchNotes } from "./fleet.ts"

const handOn = (...tasks: ReadonlyArray<string>) => ({
  calls: tasks.map((task) => ({ tool: "delegate_task", arguments: { task } }))
})

test("hands two parts on, joins the reports, and gets back what was not spent", async () => {
  const model = scriptedModel(({ messages, text, tools }) => {
    if (tools.some(({ name }) => name === "finish_task")) {
      const summary = text.includes("Count the ships") ? "Nine ships." : "Four tugs."
      return { ...calls("finish_task", { summary }), usage: { inputTokens: 900, outputTokens: 100 } }
    }
    const reports = messages.filter(({ content }) => /Nine ships|Four tugs/.test(content)).length
    return reports === 0 ? handOn("Count the ships", "Count the tugs") : "Nine ships and four tugs."
  })
  await using fleet = await testFleet(fleetDefinition, { model })
  assert.equal(await fleet.answer("researcher", "What is in the harbour?"), "Nine ships and four tugs.")
  const { subAgents } = (await fleet.subAgents.tree("researcher")) ?? {}
  assert.deepEqual(
    subAgents?.map(({ granted, phase, returned }) => [phase, granted?.tokens, returned?.tokens]),
    [
      ["completed", 5_000, 4_000],
      ["completed", 5_000, 4_000]
    ]
  )
})

test("ends a sub-agent that takes longer than its minute, and answers without it", async () => {
  const model = scriptedModel(({ number, tools }) => {
    if (tools.some(({ name }) => name === "finish_task")) return slow("2 min", "Too late.")
    return number === 1 ? handOn("Count the ships") : "They could not be counted in time."
  })
  await using fleet = await testFleet(fleetDefinition, { model })
  assert.equal(await fleet.answer("researcher", "How many ships?"), "They could not be counted in time.")
})

test("finds a note by its words", async () => {
  assert.match((await runTool(searchNotes, { words: "about tugs" })).content, /four are in service/)
})
