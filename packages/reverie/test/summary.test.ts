// V2: a summary says what the view of the same record says, and restores no machine.

import { assert, describe, it } from "@effect/vitest"
import { defineAssistant, defineTool, summaryOf, viewOf } from "../src/index.ts"
import { scriptedModel, testFleet } from "../src/testing/index.ts"

const sink = defineTool({ name: "sink", description: "Sinks a ship.", needsApproval: true, run: () => "sunk" })
const desk = defineAssistant({
  id: "desk",
  instructions: "You keep the desk.",
  tools: [sink],
  budget: { calls: 5 }
})
const model = scriptedModel(({ last }) => (last.includes("sink") ? { calls: [{ tool: "sink" }] } : "Noted."))

describe("summary", () => {
  it("V2 says of every state what the view says", async () => {
    await using fleet = await testFleet(desk, { model })
    const found: Array<string> = []
    const look = async (): Promise<void> => {
      await fleet.idle()
      const record = await fleet.inspect("desk")
      if (record === undefined) throw new Error("no one is there")
      const summary = summaryOf(record)
      const view = viewOf(record)
      const same = Object.fromEntries(Object.keys(summary).map((key) => [key, Reflect.get(view, key)]))
      assert.deepStrictEqual<unknown>(summary, same)
      for (const key of ["approvals", "budget", "haltReason", "outage"] as const) {
        assert.strictEqual(key in summary, key in view, key)
      }
      found.push(summary.state, ...summary.approvals.map(({ tool }) => tool), summary.haltReason ?? "")
    }
    await look()
    await fleet.send("desk", "Now sink it.")
    await look()
    await fleet.halt("desk", "a test")
    await look()
    await fleet.retire("desk")
    await look()
    assert.includeMembers(found, ["awake.idle", "awake.awaitingApproval", "sink", "halted", "a test", "retired"])
  })

  it("V2 of a state that the chart does not have what the context tells is still told", async () => {
    await using fleet = await testFleet(desk, { model })
    await fleet.answer("desk", "Hello.")
    const record = await fleet.inspect("desk")
    if (record === undefined) throw new Error("no one is there")
    const snapshot = { ...(record.state.snapshot as object), value: { awake: "elsewhere" } }
    const strange = { ...record, state: { ...record.state, snapshot } }
    assert.deepStrictEqual([viewOf(strange).ticks, summaryOf(strange).ticks], [0, 1])
  })
})
