import { assert, describe, it } from "@effect/vitest"
import { defineAssistant, ReminderInvalid, ReminderUnknown, selfTools } from "../src/index.ts"
import { scriptedModel, testFleet } from "../src/testing/index.ts"

const desk = defineAssistant({ id: "desk", instructions: "You keep the desk.", tools: [...selfTools] })

const HOUR = 3_600_000

describe("fleet.reminders", () => {
  it("R2, M2: what is set is heard at its time, once, and stands in the list with what became of it", async () => {
    await using fleet = await testFleet(desk, { model: "offline" })
    await fleet.reminders.set("desk", "tide", { inMs: HOUR, note: "Look at the tide." })
    await fleet.idle()
    const [set] = await fleet.reminders.list("desk")
    assert.strictEqual(set?.state, "active")
    await fleet.clock.advance(2 * HOUR)
    const [done] = await fleet.reminders.list("desk")
    assert.deepStrictEqual([done?.state, done?.sent, done?.log.map(({ outcome }) => outcome)], ["done", 1, ["ran"]])
    const said = (await fleet.history.entries("desk", 1, 100)).flatMap(({ entry }) => entry.messages)
    assert.lengthOf(
      said.filter(({ content }) => content.endsWith("Look at the tide.")),
      1
    )
  })

  it("R1: what is no rule is refused with one sentence, and nothing is sent", async () => {
    await using fleet = await testFleet(desk, { model: "offline" })
    for (const rule of [
      { cron: "61 * * * *" },
      { at: "soon" },
      {},
      { at: 0 },
      { cron: "* * * * *", timeZone: "Mars" }
    ]) {
      const refused = await fleet.reminders
        .set("desk", "tide", { note: "Tide.", ...rule })
        .catch((error: unknown) => error)
      assert.instanceOf(refused, ReminderInvalid)
    }
    const quiet = { from: "25:00", until: "07:00", policy: "later" } as const
    for (const [rule, says] of [
      [{ inMs: 50, note: " " }, "reminder tide: note must not be empty"],
      [{ inMs: 50, note: "Tide.", quiet }, "reminder tide: quiet.from must be a clock time from 00:00 to 23:59"]
    ] as const) {
      const refused: unknown = await fleet.reminders.set("desk", "tide", rule).catch((error: unknown) => error)
      assert.strictEqual((refused as Error).message, says)
    }
    const none = await fleet.reminders.cancel("desk", "tide").catch((error: unknown) => error)
    assert.instanceOf(none, ReminderUnknown)
    assert.deepStrictEqual(await fleet.reminders.list("desk"), [])
  })

  it("R3: what is cancelled before the order to set it was taken up never comes", async () => {
    await using fleet = await testFleet(desk, { model: "offline" })
    await fleet.reminders.set("desk", "tide", { inMs: HOUR, note: "Look at the tide." })
    const cancelled = await fleet.reminders.cancel("desk", "tide")
    assert.strictEqual(cancelled.outcome, "accepted")
    await fleet.idle()
    await fleet.clock.advance(2 * HOUR)
    assert.deepStrictEqual(
      (await fleet.reminders.list("desk")).map(({ sent, state }) => [state, sent]),
      [["cancelled", 0]]
    )
    const none = await fleet.reminders.cancel("desk", "tide").catch((error: unknown) => error)
    assert.instanceOf(none, ReminderUnknown)
  })

  it("R1: a change moves it, a cancellation ends it", async () => {
    await using fleet = await testFleet(desk, { model: "offline" })
    const note = "Tide."
    await fleet.reminders.set("desk", "tide", { cron: "0 9 * * *", timeZone: "Europe/Berlin", note })
    await fleet.reminders.set("desk", "tide", { cron: "0 8 * * *", timeZone: "Europe/Berlin", note })
    await fleet.idle()
    const [changed] = await fleet.reminders.list("desk")
    assert.strictEqual(changed?.revision, 2)
    await fleet.reminders.cancel("desk", "tide")
    await fleet.idle()
    await fleet.clock.advance(72 * HOUR)
    const [over] = await fleet.reminders.list("desk")
    assert.deepStrictEqual([over?.state, over?.sent], ["cancelled", 0])
  })

  it("the assistant sets one itself, and is heard when the time has come", async () => {
    const model = scriptedModel([
      { calls: [{ tool: "set_reminder", arguments: { name: "tide", note: "Look at the tide.", in_minutes: 30 } }] },
      "I shall look at the tide.",
      "The tide is high."
    ])
    await using fleet = await testFleet(desk, { model })
    assert.strictEqual(await fleet.answer("desk", "Remind yourself of the tide."), "I shall look at the tide.")
    await fleet.clock.advance(HOUR)
    const [done] = await fleet.reminders.list("desk")
    assert.deepStrictEqual([done?.setBy, done?.state, done?.sent], ["assistant:desk", "done", 1])
  })
})
