import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Result from "effect/Result"
import type { ReminderRule } from "@reverie/protocol"
import {
  cancelReminder,
  fire,
  nextTime,
  quietUntil,
  type Reminder,
  setReminder,
  timesOf
} from "../src/reminders/reminder.ts"

const NOW = Date.parse("2026-03-20T12:00:00Z")
const HOUR = 3_600_000
const DAY = 24 * HOUR

const setting = { now: NOW, by: "person", timeZone: "UTC" }
const set = (rule: Partial<ReminderRule>, now = NOW): Reminder =>
  Result.getOrThrow(setReminder("tea", { note: "Tea.", ...rule }, { ...setting, now }))
const refused = (rule: Partial<ReminderRule>): string =>
  Result.match(timesOf({ note: "Tea.", ...rule }, rule.timeZone ?? "UTC", NOW), {
    onSuccess: () => "",
    onFailure: (problem) => problem
  })
const iso = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString())

/** Every time of a rule within a span, by the rule alone. */
const timesIn = (reminder: Reminder, from: number, to: number): ReadonlyArray<number> => {
  const found: Array<number> = []
  for (let at = nextTime(reminder, from); at !== undefined && at <= to; at = nextTime(reminder, at)) found.push(at)
  return found
}

const rules: ReadonlyArray<Partial<ReminderRule>> = [
  { cron: "0 9 * * 1-5", timeZone: "Europe/Berlin" },
  { cron: "*/30 * * * *", timeZone: "Australia/Lord_Howe" },
  { cron: "30 2 * * *", timeZone: "America/New_York" },
  { rrule: "FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=22", timeZone: "Pacific/Auckland", start: "2026-03-01T08:00" },
  { rrule: "FREQ=HOURLY;INTERVAL=5;COUNT=40", timeZone: "Asia/Kathmandu" },
  { at: "2026-03-29T02:30", timeZone: "Europe/Berlin" }
]
const quiets: ReadonlyArray<ReminderRule["quiet"]> = [
  undefined,
  { from: "22:00", until: "07:00", policy: "skip" },
  { from: "22:00", until: "07:00", policy: "later" },
  { from: "01:30", until: "03:15", policy: "later" }
]

const aReminder = fc.record({
  rule: fc.constantFrom(...rules),
  quiet: fc.constantFrom(...quiets),
  catchUp: fc.constantFrom("once" as const, "skip" as const, "all" as const)
})
const pauses = fc.array(fc.integer({ min: 1, max: 9 * DAY }), { minLength: 1, maxLength: 12 })

describe("reminders", () => {
  it("R1: whenever someone looks, each time up to then is sent or skipped, once, in its order", () => {
    fc.assert(
      fc.property(aReminder, pauses, fc.boolean(), ({ catchUp, quiet, rule }, gaps, isHeard) => {
        const first = set({ ...rule, catchUp, ...(quiet === undefined ? {} : { quiet }) })
        let reminder = first
        let now = NOW
        const decided: Array<readonly [from: number, to: number, count: number]> = []
        const sent: Array<number> = []
        for (const gap of gaps) {
          now += gap
          // As the runtime does: as long as something is to be done now.
          while (reminder.next !== null && reminder.next.wakeAt <= now) {
            const fired = fire(reminder, now)
            assert.isAbove(fired.reminder.after, reminder.after)
            reminder = isHeard ? { ...fired.reminder, waiting: null } : fired.reminder
            for (const { count, due, until } of fired.lines) decided.push([due, until ?? due, count])
            sent.push(...fired.sent.map(({ due }) => due))
          }
        }
        const expected = timesIn(first, NOW, reminder.after)
        assert.strictEqual(
          decided.reduce((sum, [, , count]) => sum + count, 0),
          expected.length
        )
        assert.strictEqual(reminder.sent + reminder.skipped, expected.length)
        for (const [from, to, count] of decided) {
          assert.lengthOf(
            expected.filter((at) => from <= at && at <= to),
            count
          )
        }
        assert.deepStrictEqual(
          sent,
          [...new Set(sent)].toSorted((a, b) => a - b)
        )
        assert.isTrue(sent.every((at) => expected.includes(at)))
        // What is not decided yet is put off, or comes later.
        const open = timesIn(first, reminder.after, now)
        assert.isTrue(open.every((at) => quiet !== undefined && quietUntil(quiet, first.timeZone, at) !== undefined))
      }),
      { numRuns: 60 }
    )
  })

  it("R2: after thirty days away: the newest, none that is late, or each", () => {
    const away = NOW + 30 * DAY + 30_000
    const hourly = (catchUp: "once" | "skip" | "all") => fire(set({ cron: "0 * * * *", catchUp }), away)
    assert.deepStrictEqual(
      hourly("once").sent.map(({ due }) => iso(due)),
      ["2026-04-19T12:00:00.000Z"]
    )
    assert.lengthOf(hourly("skip").sent, 1)
    assert.lengthOf(fire(set({ cron: "0 * * * *", catchUp: "skip" }), away + HOUR / 2).sent, 0)
    assert.strictEqual(hourly("once").reminder.skipped, 719)
    let all = hourly("all")
    let sent = all.sent.length
    while (all.reminder.next !== null && all.reminder.next.wakeAt <= away) {
      all = fire(all.reminder, away)
      sent += all.sent.length
    }
    assert.strictEqual(sent, 720)
  })

  it("R2: of a long time away no piece sends what a later piece supersedes", () => {
    let reminder = set({ cron: "* * * * *", catchUp: "once" })
    const away = NOW + 3 * DAY
    const sent: Array<number> = []
    while (reminder.next !== null && reminder.next.wakeAt <= away) {
      const fired = fire(reminder, away)
      sent.push(...fired.sent.map(({ due }) => due))
      reminder = fired.reminder
    }
    assert.deepStrictEqual(sent, [away])
    assert.strictEqual(reminder.skipped, 3 * 24 * 60 - 1)
  })

  it("R3: in quiet hours nothing is sent; what is put off comes once, at their end", () => {
    const quiet = { from: "22:00", until: "07:00", policy: "later" } as const
    const reminder = set({ cron: "0 * * * *", quiet, timeZone: "Europe/Berlin" }, Date.parse("2026-03-28T20:30:00Z"))
    assert.strictEqual(iso(reminder.next?.wakeAt), "2026-03-29T05:00:00.000Z")
    const { lines, sent } = fire(reminder, Date.parse("2026-03-29T05:00:00Z"))
    assert.lengthOf(sent, 1)
    assert.match(lines[0]?.reason ?? "", /quiet hours/)
    const never = set(
      { cron: "0 * * * *", quiet: { ...quiet, policy: "skip" }, timeZone: "Europe/Berlin" },
      Date.parse("2026-03-28T20:30:00Z")
    )
    assert.strictEqual(iso(never.next?.wakeAt), "2026-03-29T05:00:00.000Z")
    assert.strictEqual(iso(never.next?.due), "2026-03-29T05:00:00.000Z")
  })

  it("R4: while one waits, no further one is sent; under the policy all each is", () => {
    const first = fire(set({ cron: "0 * * * *" }), NOW + HOUR)
    assert.lengthOf(first.sent, 1)
    const second = fire(first.reminder, NOW + 2 * HOUR)
    assert.lengthOf(second.sent, 0)
    assert.match(second.lines[0]?.reason ?? "", /still waits/)
    const all = fire(set({ cron: "0 * * * *", catchUp: "all" }), NOW + HOUR)
    assert.lengthOf(fire(all.reminder, NOW + 2 * HOUR).sent, 1)
  })

  it("R5: a change counts from its moment on; a cancellation leaves nothing to come", () => {
    const before = set({ cron: "0 * * * *" })
    const after = Result.getOrThrow(
      setReminder("tea", { note: "Later.", cron: "30 * * * *" }, { ...setting, now: NOW + HOUR }, before)
    )
    assert.strictEqual(after.revision, 2)
    assert.strictEqual(iso(after.next?.due), "2026-03-20T13:30:00.000Z")
    const over = cancelReminder(after, NOW + HOUR, "person")
    assert.isNull(over.next)
    assert.deepInclude(over.log.at(-1), { outcome: "skipped", reason: "cancelled by person" })
    assert.deepStrictEqual(fire(over, NOW + 9 * DAY).sent, [])
  })

  it("O1: a time that the clocks leave out comes later, one that they show twice comes first", () => {
    const berlin = { timeZone: "Europe/Berlin" }
    assert.strictEqual(iso(set({ at: "2026-03-29T02:30", ...berlin }).next?.due), "2026-03-29T01:30:00.000Z")
    assert.strictEqual(iso(set({ at: "2026-10-25T02:30", ...berlin }).next?.due), "2026-10-25T00:30:00.000Z")
    assert.strictEqual(iso(set({ at: "2026-10-25T02:30+01:00", ...berlin }).next?.due), "2026-10-25T01:30:00.000Z")
  })

  it("what is no rule is one sentence, and sets nothing", () => {
    assert.match(refused({}), /say one of these/)
    assert.match(refused({ at: "2026-03-21T09:00", cron: "0 9 * * *" }), /say one of these/)
    assert.match(refused({ cron: "61 * * * *" }), /minute/)
    assert.match(refused({ cron: "* * * * * *" }), /five fields/)
    assert.match(refused({ cron: "0 0 31 2 *" }), /still to come/)
    assert.match(refused({ rrule: "FREQ=SECONDLY" }), /FREQ=SECONDLY/)
    assert.match(refused({ rrule: "FREQ=DAILY;BYHOUR=99" }), /BYHOUR=99/)
    assert.match(refused({ rrule: "FREQ=DAILY;UNTIL=20200101T000000Z" }), /still to come/)
    assert.match(refused({ rrule: "FREQ=DAILY\nDTSTART:20260101T000000" }), /no part/)
    assert.match(refused({ at: "tomorrow" }), /no time/)
    assert.match(refused({ at: "2026-02-30T09:00" }), /no time/)
    assert.match(refused({ at: "2026-03-20T11:59" }), /still to come/)
    assert.match(refused({ at: "2026-03-21T09:00", timeZone: "Mars/Olympus" }), /time zone/)
    assert.match(refused({ cron: "0 9 * * *", quiet: { from: "07:00", until: "07:00", policy: "skip" } }), /same time/)
  })
})
