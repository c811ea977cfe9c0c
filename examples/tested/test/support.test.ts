import {
  calls,
  expectApprovals,
  expectRequest,
  expectToolCalls,
  runTool,
  scriptedModel,
  testClock,
  testFleet
} from "reverie/testing"
import { assert, describe, it } from "vitest"
import { openTicket, support } from "../support.ts"

const asked = [calls("find_order", { order: "A-7" }), calls("refund", { cents: 4_200 })]

describe("support", () => {
  it("pays back what a person has approved, and tells the customer", async () => {
    const model = scriptedModel([...asked, "It is paid back."])
    await using fleet = await testFleet(support, { model })
    const parts = []
    for await (const part of fleet.ask("support", "I want my money for A-7 back.", { from: "ann" })) {
      parts.push(part.type)
      if (part.type !== "approval") continue
      await expectApprovals(fleet, "support", [{ tool: "refund", arguments: { cents: 4_200 } }])
      await fleet.approve("support", part.approval)
    }
    const shown = parts.filter((type) => ["tool-result", "approval", "approval-decided", "text", "done"].includes(type))
    assert.deepStrictEqual([...new Set(shown)], ["tool-result", "approval", "approval-decided", "text", "done"])
    await expectToolCalls(fleet, "support", ["find_order", { tool: "refund", result: "paid back", ok: true }])
    expectRequest(model.requests[1], { shows: ["delivered"], offers: ["refund", "open_ticket"] })
  })

  it("pays nothing when no one has decided within the eight hours of a working day", async () => {
    const model = scriptedModel([...asked, "No one could decide today."])
    await using fleet = await testFleet(support, { model })
    const answer = fleet.answer("support", "I want my money for A-7 back.")
    await fleet.idle()
    await fleet.clock.advance("8h")
    assert.strictEqual(await answer, "No one could decide today.")
    await expectApprovals(fleet, "support", [])
    await expectToolCalls(fleet, "support", [
      "find_order",
      { tool: "refund", result: /Nobody approved this call in time/, ok: false }
    ])
  })

  it("an approval survives a restart", async () => {
    const model = scriptedModel([...asked, "It is paid back."])
    const before = await testFleet(support, { model, data: "temporary" })
    await before.send("support", "I want my money for A-7 back.")
    await before.idle()
    await using fleet = await before.restart()
    const [open] = await expectApprovals(fleet, "support", ["refund"])
    await fleet.approve("support", open?.approval ?? "")
    await fleet.idle()
    await expectToolCalls(fleet, "support", ["find_order", { tool: "refund", result: "paid back" }])
  })

  it("a tool by itself: what it gives, and what the model is shown", async () => {
    const clock = testClock("2026-03-01T12:00")
    const { content, output } = await runTool(openTicket, { about: "A-7" }, { clock, key: "k-1" })
    assert.deepStrictEqual([output, content], ["ticket k-1 of 2026-03-01", "ticket k-1 of 2026-03-01"])
  })
})
