import assert from "node:assert/strict"
import { test } from "node:test"
import { calls, expectApprovals, expectToolCalls, runTool, scriptedModel, testFleet } from "reverie/testing"
import fleetDefinition, { refund } from "./fleet.ts"

const asked = [calls("find_order", { order: "A7" }), calls("refund", { order: "A7", cents: 4_200 })]

test("pays back what a person has approved", async () => {
  const model = scriptedModel([...asked, "It is paid back."])
  await using fleet = await testFleet(fleetDefinition, { model })
  let reply = ""
  for await (const part of fleet.ask("support", "I want my money for A7 back.")) {
    if (part.type === "approval") await fleet.approve("support", part.approval)
    if (part.type === "done") reply = part.reply
  }
  assert.equal(reply, "It is paid back.")
  await expectToolCalls(fleet, "support", ["find_order", { tool: "refund", result: /^paid 4200 cents back/, ok: true }])
})

test("pays nothing when no person has decided within eight hours", async () => {
  const model = scriptedModel([...asked, "It could not be decided today."])
  await using fleet = await testFleet(fleetDefinition, { model })
  const answer = fleet.answer("support", "I want my money for A7 back.")
  await fleet.idle()
  await expectApprovals(fleet, "support", ["refund"])
  await fleet.clock.advance("8h")
  assert.equal(await answer, "It could not be decided today.")
  await expectToolCalls(fleet, "support", ["find_order", { tool: "refund", ok: false }])
})

test("gives the payment the key of the call", async () => {
  const { output } = await runTool(refund, { order: "A7", cents: 100 }, { key: "k-1" })
  assert.equal(output, "paid 100 cents back for A7, payment k-1")
})

test("finds an order with the stand-in model", async () => {
  await using fleet = await testFleet(fleetDefinition, { model: "offline" })
  assert.match(await fleet.answer("support", "Where is my order A7?"), /delivered on Monday/)
})
