// Approvals of tools that were asked for before something is forgotten: whatever came of them, the life replays.

import { assert, describe, it } from "@effect/vitest"
import { defineAssistant, defineTool, type Forgettable, type Fleet } from "../src/index.ts"
import { calls, scriptedModel, testFleet } from "../src/testing/index.ts"

const MINUTE = 60_000
const START = Date.UTC(2026, 0, 5, 9)

const pay = defineTool({
  name: "pay",
  description: "Pays.",
  needsApproval: true,
  input: { type: "object", properties: { to: { type: "string" } } },
  run: () => "Paid to Marzipan."
})

const desk = defineAssistant({
  id: "desk",
  instructions: "You pay.",
  tools: [pay],
  settings: { approvalMs: 20 * MINUTE }
})

const ways: Readonly<Record<string, Forgettable>> = {
  person: { person: "eve" },
  topic: { topic: "Marzipan" },
  message: { messages: ["m/2/0"], assistant: "desk" },
  text: { text: "Marzipan" },
  "span of time": { since: START - MINUTE, until: START + 60 * MINUTE }
}

const askedOf = async (fleet: Fleet): Promise<string> => (await fleet.approvals.list("desk"))[0]?.approval ?? ""

const ends: Readonly<Record<string, (fleet: Awaited<ReturnType<typeof testFleet>>) => Promise<unknown>>> = {
  waits: () => Promise.resolve(),
  "was approved": async (fleet) => fleet.approve("desk", await askedOf(fleet), { from: "ben" }),
  "was declined": async (fleet) => fleet.deny("desk", await askedOf(fleet), { from: "ben" }),
  "timed out": (fleet) => fleet.clock.advance("30m")
}

const noticesOf = async (fleet: Fleet) =>
  (await fleet.history.entries("desk", 1, 100)).flatMap(({ entry }) => entry.emitted ?? [])

describe("forgetting where an approval was asked for", () => {
  for (const [end, comeTo] of Object.entries(ends)) {
    for (const [way, what] of Object.entries(ways)) {
      it(`U1 of a ${way}, with an approval that ${end}, the life replays, then and later`, async () => {
        const model = scriptedModel([calls("pay", { to: "Marzipan" }), "Marzipan it is.", "Good morning."])
        await using fleet = await testFleet(desk, { model })
        await fleet.send("desk", "Pay Marzipan please.", { from: "eve" })
        await fleet.idle()
        const asked = await noticesOf(fleet)
        assert.deepInclude(asked[0], { type: "approval-asked", tool: "pay", approval: await askedOf(fleet) })
        await comeTo(fleet)
        await fleet.clock.advance("1m")
        await fleet.idle()
        const waits = await askedOf(fleet)
        await fleet.forget(what)
        assert.deepStrictEqual(await noticesOf(fleet), asked)
        assert.notInclude(JSON.stringify(await fleet.history.entries("desk", 1, 100)), "Marzipan")
        assert.deepInclude(await fleet.replay.verify("desk"), { equal: true, mismatches: [] })
        assert.strictEqual(await askedOf(fleet), waits)
        if (waits !== "") await fleet.approve("desk", waits, { from: "ben" })
        await fleet.idle()
        await fleet.answer("desk", "Hello.", { from: "ben" })
        assert.deepInclude(await fleet.replay.verify("desk"), { equal: true, mismatches: [] })
      })
    }
  }
})
