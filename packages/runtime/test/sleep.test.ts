import { assert, describe, it } from "@effect/vitest"
import { DEFAULT_SCHEDULE } from "@reverie/assistant"
import { inTurn, type Line } from "@reverie/testkit"
import { selfTools } from "@reverie/tools"
import * as Effect from "effect/Effect"
import { aTool, type Life, live } from "./rig.ts"

const HOUR_MILLIS = 3_600_000
const NOON = Date.UTC(2026, 4, 1, 12)
const NIGHT = Date.UTC(2026, 4, 2, 2)

const schedule = { ...DEFAULT_SCHEDULE, enabled: true, tickRateSleepSeconds: 0 }
const sleeper = (more: Parameters<typeof live>[0] = {}): Life =>
  live({ startAt: NOON, definition: { sleep: schedule }, model: { text: "Good morning." }, ...more })

const timersOf = (life: Life) => life.disk.resident(life.address())?.state.timers ?? []
const orders = (life: Life) => life.settled().filter(({ id }) => id.startsWith("sleepTimer"))

describe("sleep schedule", () => {
  it("sleep timer I1: there is a timer for the next night from creation on, and a tick does not touch it", () => {
    const life = sleeper()
    const expected = [["sleepTimer", NIGHT]]
    const told = () => timersOf(life).map(({ dueAt, name }) => [name, dueAt])
    assert.deepStrictEqual(told(), expected)
    life.say("Hello.")
    life.rest()
    assert.deepStrictEqual(told(), expected)
  })

  it("falls asleep at its hour, dreams, wakes when the night is over, and so every day", () => {
    const life = sleeper()
    for (const day of [0, 1, 2]) {
      const night = NIGHT + day * 24 * HOUR_MILLIS
      life.until(() => life.time.now > night + 60_000)
      assert.strictEqual(life.status(), "dreaming.resting")
      life.until(() => life.status() === "awake.idle")
      assert.strictEqual(life.entries().at(-1)?.at, night + 4 * HOUR_MILLIS)
    }
    assert.deepStrictEqual(
      orders(life).map(({ outcome }) => outcome),
      ["handled", "handled", "handled"]
    )
  })

  it("sleep timer I2, skip rules S4: a night that was slept through elsewhere means nothing, one that still lasts is shorter", () => {
    const created = sleeper()
    const late = live({
      disk: created.disk,
      startAt: NIGHT + 9 * HOUR_MILLIS,
      definition: { sleep: schedule }
    })
    late.rest()
    late.pass(60_000)
    assert.deepStrictEqual(
      orders(late).map(({ outcome, reason }) => [outcome, reason]),
      [["ignored", "the night it was meant for is over"]]
    )
    assert.strictEqual(late.status(), "awake.idle")
    const inTime = live({ disk: sleeper().disk, startAt: NIGHT + HOUR_MILLIS, definition: { sleep: schedule } })
    inTime.pass(60_000)
    assert.strictEqual(inTime.status(), "dreaming.resting")
    inTime.until(() => inTime.status() === "awake.idle")
    assert.strictEqual(inTime.entries().at(-1)?.at, NIGHT + 4 * HOUR_MILLIS)
  })

  it("sleep timer I1: told to refresh, an assistant takes up hours that it did not have, and gives up those it has not", () => {
    const restless = live({ startAt: NOON })
    assert.deepStrictEqual(timersOf(restless), [])
    const settled = live({ disk: restless.disk, startAt: NOON, definition: { sleep: schedule } })
    settled.post({ type: "refresh" })
    settled.rest()
    assert.deepStrictEqual(
      timersOf(settled).map(({ dueAt }) => dueAt),
      [NIGHT]
    )
    const again = live({ disk: settled.disk, startAt: NOON })
    again.post({ type: "refresh" }, { id: "refresh-2" })
    again.rest()
    assert.deepStrictEqual(timersOf(again), [])
  })
})

describe("waking", () => {
  const asleep = (): Life => {
    const life = live({
      model: { text: "Yes?" },
      definition: { listening: { channels: { harbour: "trigger" } } }
    })
    life.post({ type: "sleep", forMs: 8 * HOUR_MILLIS })
    life.rest()
    assert.strictEqual(life.status(), "dreaming.resting")
    return life
  }

  it("message filter I2: a direct message and a mention wake a sleeper", () => {
    for (const event of [
      { type: "message", text: "Are you there?" } as const,
      { type: "message", text: "Ask @ada about it.", channel: "harbour" } as const
    ]) {
      const life = asleep()
      life.post(event, { id: "m-1", from: "Ann" })
      life.rest()
      assert.strictEqual(life.status(), "awake.idle")
      assert.deepInclude(life.ends().at(-1), { envelope: "m-1", outcome: "answered" })
    }
  })

  it("message filter I2: what triggers a tick by day is only overheard by night", () => {
    const life = asleep()
    const said = { type: "message", text: "The ferry is late.", channel: "harbour" } as const
    life.post(said, { id: "m-1", from: "Ann" })
    life.rest()
    assert.strictEqual(life.status(), "dreaming.resting")
    assert.deepInclude(life.settled().at(-1), { id: "m-1", outcome: "handled" })
    life.post({ type: "wake" })
    life.post(said, { id: "m-2", from: "Ann" })
    life.rest()
    assert.deepInclude(life.ends().at(-1), { envelope: "m-2", outcome: "answered" })
  })
})

describe("go_to_sleep", () => {
  const sleepy: Line = { calls: [{ tool: "go_to_sleep", arguments: { hours: 2 } }] }

  it("on its own initiative, it falls asleep after the tick, for as long as it said", () => {
    const life = live({ tools: selfTools, model: inTurn(sleepy, { text: "Good night." }) })
    life.post({ type: "timer", name: "evening" })
    life.rest()
    assert.strictEqual(life.status(), "dreaming.resting")
    assert.deepStrictEqual(
      life.ends().map(({ outcome }) => outcome),
      ["answered", "slept"]
    )
    const slept = life.entries().find(({ tickEnd }) => tickEnd?.outcome === "slept")?.at ?? 0
    life.until(() => life.status() === "awake.idle")
    assert.strictEqual(life.entries().at(-1)?.at, slept + 2 * HOUR_MILLIS)
    assert.deepStrictEqual(
      life.entries().flatMap(({ records = [] }) => records.filter(({ key }) => key === "sleep-order")),
      []
    )
  })

  it("bed B1: not while a person waits for an answer", () => {
    const life = live({ tools: selfTools, model: inTurn(sleepy, { text: "Here is your answer." }) })
    life.say("How deep is the basin?", { from: "Ann" })
    life.rest()
    assert.strictEqual(life.status(), "awake.idle")
    assert.include(life.toolTexts()[0] ?? "", "Ann is waiting for an answer")
  })

  it("bed B1: not over a dangerous call that has not ended", () => {
    const life = live({
      tools: [
        ...selfTools,
        aTool("demolish", { category: "dangerous", effect: () => Effect.delay(Effect.succeed("down"), 1_000) })
      ],
      settings: { confirmDangerous: false },
      model: inTurn(
        {
          calls: [
            { tool: "demolish", arguments: {} },
            { tool: "go_to_sleep", arguments: {} }
          ]
        },
        { text: "Not yet." }
      )
    })
    life.post({ type: "timer", name: "evening" })
    life.rest()
    assert.strictEqual(life.status(), "awake.idle")
    assert.include(life.toolTexts().join(), "Not before this has ended: demolish")
  })
})
