import { calls, expectCostAtMost, scriptedModel, slow, testFleet } from "reverie/testing"
import { assert, describe, it } from "vitest"
import { researcher } from "../researcher.ts"

const handOn = (...tasks: ReadonlyArray<string>) => ({
  calls: tasks.map((task) => ({ tool: "delegate_task", arguments: { task } })),
  usage: { inputTokens: 900, outputTokens: 100 }
})

describe("researcher", () => {
  it("hands two parts on at once, joins what comes back, and keeps what was not spent", async () => {
    const model = scriptedModel(({ messages, text, tools }) => {
      if (tools.some(({ name }) => name === "finish_task")) {
        const found = text.includes("Count the ships") ? "Nine ships." : "Four tugs."
        return { ...calls("finish_task", { summary: found }), usage: { inputTokens: 900, outputTokens: 100 } }
      }
      const reports = messages.filter(({ content }) => /Nine ships|Four tugs/.test(content)).length
      return reports === 0 ? handOn("Count the ships", "Count the tugs") : "Nine ships and four tugs."
    })
    await using fleet = await testFleet(researcher, { model })
    assert.strictEqual(await fleet.answer("researcher", "What is in the harbour?"), "Nine ships and four tugs.")
    const { spent, subAgents } = (await fleet.subAgents.tree("researcher")) ?? {}
    assert.deepStrictEqual(
      subAgents?.map(({ granted, phase, returned }) => [phase, granted?.tokens, returned?.tokens]),
      [
        ["completed", 2_500, 1_500],
        ["completed", 2_500, 1_500]
      ]
    )
    assert.strictEqual(spent?.tokens, 3_002)
    await expectCostAtMost(fleet, "researcher", { modelCalls: 2, tokens: 1_002 })
  })

  it("a sub-agent that takes longer than its minute is ended, and the answer does without it", async () => {
    const model = scriptedModel(({ number, tools }) => {
      if (tools.some(({ name }) => name === "finish_task")) return slow("2 min", "Too late.")
      return number === 1 ? handOn("Count the ships") : "No one could count them in time."
    })
    await using fleet = await testFleet(researcher, { model })
    const begun = fleet.clock.now()
    assert.strictEqual(await fleet.answer("researcher", "How many ships?"), "No one could count them in time.")
    assert.isBelow(fleet.clock.now() - begun, 120_000)
    assert.isAtLeast(fleet.clock.now() - begun, 60_000)
  })
})
