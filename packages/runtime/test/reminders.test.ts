import { assert, describe, it } from "@effect/vitest"
import { nextTime, type Reminder } from "@reverie/assistant/reminders"
import type { ReminderRule } from "@reverie/protocol"
import { faultPoints } from "@reverie/runtime"
import { inTurn } from "@reverie/testkit"
import { atLength } from "@reverie/testkit/length"
import { fateOf } from "@reverie/testkit/world"
import { reminderRules, selfTools } from "@reverie/tools"
import * as Effect from "effect/Effect"
import { type Life, live, type LifeOptions } from "./rig.ts"
import { dying } from "./dying.ts"

// A life is stepped: nothing in it waits for a module to be read.
await reminderRules()

const NOON = Date.parse("2026-03-20T12:00:00Z")
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const remind = (life: Life, reminder: string, rule?: Partial<ReminderRule>): void => {
  life.post(
    {
      type: "remind",
      reminder,
      ...(rule === undefined ? {} : { rule: { note: `${reminder}!`, ...rule } })
    },
    { from: "person" }
  )
  life.rest()
}

const recordOf = (life: Life, id: string): Reminder => {
  const rows = life.run(life.store.ledger.records(life.address(), ["reminder"]))
  return rows.find(({ key }) => key === id)?.value as unknown as Reminder
}

const timersOf = (life: Life) => life.disk.resident(life.address())?.state.timers ?? []
const due = (life: Life): ReadonlyArray<number> => timersOf(life).map(({ dueAt }) => dueAt)

/** What the model was told of times, with what became of each. */
const heard = (life: Life): ReadonlyArray<string> =>
  life.messages().flatMap(({ content, name }) => (name === "clock" ? [content] : []))
const settledOf = (life: Life) => life.settled().filter(({ id }) => id.startsWith("reminder/"))

const sitting = (more: LifeOptions = {}): Life => live({ startAt: NOON, model: { text: "Yes." }, ...more })

describe("reminders of an assistant", () => {
  it("M1, M2: one that is set stands as a durable timer, is heard once at its time, and is over", () => {
    const life = sitting()
    assert.deepStrictEqual(timersOf(life), [])
    remind(life, "tea", { inMs: 10 * MINUTE, note: "Pour the tea." })
    assert.approximately(due(life)[0] ?? 0, NOON + 10 * MINUTE, 5_000)
    life.pass(9 * MINUTE)
    assert.deepStrictEqual(heard(life), [])
    life.pass(3 * MINUTE)
    life.rest()
    assert.lengthOf(heard(life), 1)
    assert.match(heard(life)[0] ?? "", /^\[reminder tea, due Friday.* 20 March 2026.*12:10 \(UTC\)\] Pour the tea\.$/)
    assert.deepStrictEqual(timersOf(life), [])
    const { log, state } = recordOf(life, "tea")
    assert.strictEqual(state, "done")
    assert.deepStrictEqual(
      log.map(({ outcome }) => outcome),
      ["ran"]
    )
    assert.deepStrictEqual(life.deadLetters(), [])
  })

  it("M1: a change moves the timer, a cancellation takes it away, and both say who", () => {
    const life = sitting()
    remind(life, "tea", { cron: "0 15 * * *", timeZone: "Europe/Berlin" })
    assert.deepStrictEqual(due(life), [Date.parse("2026-03-20T14:00:00Z")])
    remind(life, "milk", { cron: "30 13 * * *" })
    assert.deepStrictEqual(due(life), [Date.parse("2026-03-20T13:30:00Z")])
    remind(life, "tea", { cron: "0 14 * * *", timeZone: "Europe/Berlin" })
    assert.deepStrictEqual(due(life), [Date.parse("2026-03-20T13:00:00Z")])
    remind(life, "tea")
    remind(life, "milk")
    assert.deepStrictEqual(due(life), [])
    assert.deepInclude(recordOf(life, "tea").log.at(-1), { reason: "cancelled by person" })
    life.pass(2 * DAY)
    assert.deepStrictEqual(heard(life), [])
    remind(life, "nothing")
    assert.match(life.settled().at(-1)?.reason ?? "", /no active reminder nothing/)
  })

  it("M3: what is no rule sets nothing, and says why", () => {
    const life = sitting()
    remind(life, "tea", { cron: "99 * * * *" })
    assert.deepInclude(life.settled().at(-1), { outcome: "ignored" })
    assert.match(life.settled().at(-1)?.reason ?? "", /not set: .*minute/)
    assert.deepStrictEqual(timersOf(life), [])
  })

  it("M3: a heartbeat that finds nothing to do asks no model; one that finds something does", () => {
    let asked = 0
    const life = sitting({
      definition: { listening: { channels: { room: "context" } } },
      model: () => Effect.sync(() => ({ text: `Look ${++asked}.` }))
    })
    remind(life, "pulse", { cron: "*/30 * * * *", onlyWhen: ["ambient", "goals"] })
    life.pass(3 * HOUR)
    assert.strictEqual(asked, 0)
    const idle = recordOf(life, "pulse")
    assert.strictEqual(idle.sent, 6)
    assert.deepStrictEqual(
      [...new Set(idle.log.map(({ outcome, reason }) => `${outcome}: ${reason}`))],
      ["skipped: nothing to do: there is nothing new of ambient, goals"]
    )
    life.post({ type: "message", text: "The kettle is on.", channel: "room" }, { from: "bo" })
    life.rest()
    assert.strictEqual(asked, 0)
    life.pass(2 * HOUR)
    assert.strictEqual(asked, 1)
    const since = recordOf(life, "pulse").log.filter(({ due }) => due > (idle.log.at(-1)?.due ?? 0))
    // Lines that ended alike are one.
    assert.deepStrictEqual(since.map(({ count, outcome }) => [outcome, count])[0], ["ran", 1])
    assert.strictEqual(
      since.reduce((sum, { count }) => sum + count, 0),
      4
    )
    assert.isTrue(since.slice(1).every(({ outcome }) => outcome === "skipped"))
  })

  it("R4, M3: one that waits while the assistant is halted is heard once, and the others say so", () => {
    const life = sitting()
    remind(life, "pulse", { cron: "0 * * * *" })
    life.post({ type: "halt", reason: "holiday" })
    life.pass(5 * HOUR)
    assert.deepStrictEqual(heard(life), [])
    life.post({ type: "resume" })
    life.rest()
    assert.lengthOf(heard(life), 1)
    const { log, sent, skipped } = recordOf(life, "pulse")
    assert.deepStrictEqual([sent, skipped], [1, 4])
    assert.match(log.at(-1)?.reason ?? "", /still waits/)
  })

  it("R5: one that waits and is cancelled meanwhile is not told", () => {
    const life = sitting()
    remind(life, "pulse", { cron: "0 * * * *" })
    life.post({ type: "halt", reason: "holiday" })
    life.pass(HOUR)
    remind(life, "pulse")
    life.post({ type: "resume" })
    life.rest()
    assert.deepStrictEqual(heard(life), [])
    assert.deepStrictEqual(
      settledOf(life).map(({ outcome }) => outcome),
      ["ignored"]
    )
  })

  it("a sleeper is woken by a time that has something to do, and by no other", () => {
    const life = sitting({ settings: { sleepMs: 6 * HOUR } as never })
    remind(life, "pulse", { cron: "0 * * * *", onlyWhen: ["goals"] })
    remind(life, "tea", { cron: "30 16 * * *" })
    life.post({ type: "sleep", forMs: 8 * HOUR })
    life.rest()
    life.until(() => life.time.now > NOON + 4 * HOUR)
    assert.match(life.status(), /^dreaming/)
    life.until(() => life.time.now > NOON + 4.6 * HOUR)
    assert.strictEqual(life.status(), "awake.idle")
  })

  it("tools: the model sets, lists and cancels, each by an order of its own that is heard once", () => {
    const model = inTurn(
      {
        calls: [
          {
            tool: "set_reminder",
            arguments: {
              name: "tea",
              note: "Tea.",
              cron: "0 15 * * *",
              time_zone: "Europe/Berlin"
            }
          }
        ]
      },
      { calls: [{ tool: "list_reminders" }] },
      { text: "It is set." },
      { calls: [{ tool: "cancel_reminder", arguments: { name: "tea" } }] },
      { calls: [{ tool: "set_reminder", arguments: { name: "x", note: "X.", in_minutes: 5, quiet_from: "22:00" } }] },
      { text: "It is gone." }
    )
    const life = sitting({ model, tools: selfTools })
    life.say("Remind me of tea at three.")
    life.rest()
    assert.match(life.toolTexts()[0] ?? "", /15:00 \(Europe\/Berlin\)/)
    assert.deepStrictEqual(due(life), [Date.parse("2026-03-20T14:00:00Z")])
    assert.strictEqual(recordOf(life, "tea").setBy, "assistant:ada")
    life.say("No tea after all.")
    life.rest()
    assert.deepStrictEqual(due(life), [])
    assert.deepInclude(recordOf(life, "tea").log.at(-1), { reason: "cancelled by assistant:ada" })
    assert.match(life.toolTexts().at(-1) ?? "", /quiet hours need both/)
  })
})

// Accounting: a reminder through many lives.

const rules: Readonly<Record<string, Partial<ReminderRule>>> = {
  once: { cron: "*/20 * * * *", timeZone: "Europe/Berlin" },
  skip: { cron: "5 * * * *", catchUp: "skip", timeZone: "America/New_York" },
  all: { rrule: "FREQ=HOURLY;INTERVAL=3", catchUp: "all", timeZone: "Asia/Kolkata" },
  calm: {
    cron: "*/30 * * * *",
    quiet: { from: "22:00", until: "07:00", policy: "later" },
    timeZone: "Australia/Lord_Howe"
  }
}

/** Lives one after the other on one disk, each killed at a place of its own; some of them come thirty days late. */
const livesOf = (count: number, seed: number) => {
  const fate = fateOf(seed)
  const first = sitting({ quiet: true })
  for (const [id, rule] of Object.entries(rules)) remind(first, id, rule)
  const { disk } = first
  const began = Object.fromEntries(Object.keys(rules).map((id) => [id, recordOf(first, id)]))
  first.dead = true
  let { now } = first.time
  let outages = 0
  let killed = 0
  for (let life = 0; life < count; life++) {
    const isOutage = life % 100 === 99
    if (isOutage) outages++
    now += isOutage ? 30 * DAY : fate.between(1, 5) * MINUTE
    const each = sitting({
      disk,
      quiet: true,
      startAt: now,
      seed: life + 1,
      assistants: [],
      ...dying(fate.pick(faultPoints), fate.between(1, 3))
    })
    each.pass(fate.between(5, 30) * MINUTE)
    if (each.dead) killed++
    each.dead = true
    now = each.time.now
  }
  const last = sitting({ disk, quiet: true, startAt: now, assistants: [] })
  last.pass(2 * HOUR)
  last.rest()
  return { began, killed, last, outages }
}

const emittedOf = (life: Life, id: string) =>
  life
    .entries()
    .flatMap(({ emitted = [] }) =>
      emitted.filter((event) => event.type === "reminder-due" && event["reminder"] === id)
    ) as unknown as ReadonlyArray<{
    due: number
    until?: number
    count: number
    outcome: string
    reason?: string
  }>

/** Each of them killed somewhere, and one of a hundred after an outage of thirty days. */
const LIVES = atLength(300, 1_000)
const OUTAGES = LIVES / 100

describe("reminders through kills and outages", () => {
  it(
    "M2, M3: after many kills and outages of thirty days each time ran once or says why not",
    { timeout: 300_000 },
    () => {
      const { began, killed, last, outages } = livesOf(LIVES, 7)
      assert.strictEqual(outages, OUTAGES)
      assert.isAbove(killed, 0.4 * LIVES)
      for (const id of Object.keys(rules)) {
        const before = began[id] as Reminder
        const after = recordOf(last, id)
        const expected: Array<number> = []
        for (let at = nextTime(before, before.after); at !== undefined && at <= after.after; at = nextTime(before, at))
          expected.push(at)
        const lines = emittedOf(last, id)
        assert.strictEqual(
          lines.reduce((sum, { count }) => sum + count, 0),
          expected.length,
          id
        )
        assert.strictEqual(after.sent + after.skipped, expected.length, id)
        assert.isTrue(
          lines.every(({ outcome, reason }) => outcome === "sent" || (reason ?? "") !== ""),
          id
        )
        const sent = lines.filter(({ outcome }) => outcome === "sent").map((line) => line.due)
        assert.isTrue(
          sent.every((at) => expected.includes(at)),
          id
        )
        const settled = settledOf(last).filter((each) => each.id.startsWith(`reminder/${id}/`))
        // Each time that was sent has ended once: in a tick, or among the dead with its reason.
        assert.deepStrictEqual(
          settled.map((each) => Date.parse(each.id.split("/").at(-1) ?? "")).toSorted((a, b) => a - b),
          sent,
          id
        )
        assert.isAbove(sent.length, 0.1 * LIVES, id)
      }
      assert.isAtLeast(recordOf(last, "once").skipped, OUTAGES * 30 * 24)
      assert.isAtLeast(recordOf(last, "all").sent, OUTAGES * 30 * 8)
    }
  )
})
