import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { DEFAULT_SCHEDULE, nextNight, scheduleOf } from "../src/index.ts"
import { presentNight } from "../src/patterns/schedule.ts"

const at = (iso: string): number => Date.parse(iso)
const iso = (millis: number | undefined): string => new Date(millis ?? Number.NaN).toISOString()

const berlin = scheduleOf({ enabled: true, timeZone: "Europe/Berlin" })

describe("the sleep schedule", () => {
  it("the defaults are those of the source: off, at two, four hours, a tick a minute", () => {
    assert.deepStrictEqual(scheduleOf({}), {
      enabled: false,
      sleepStartHour: 2,
      sleepDurationHours: 4,
      tickRateSleepSeconds: 60,
      timeZone: "UTC"
    })
    assert.isUndefined(nextNight(DEFAULT_SCHEDULE, at("2026-05-01T12:00:00Z")))
    assert.isUndefined(presentNight(DEFAULT_SCHEDULE, at("2026-05-01T03:00:00Z")))
  })

  it("H2: the next night begins after now, also when one begins now", () => {
    const schedule = scheduleOf({ enabled: true })
    assert.strictEqual(iso(nextNight(schedule, at("2026-05-01T01:59:59Z"))?.start), "2026-05-01T02:00:00.000Z")
    assert.strictEqual(iso(nextNight(schedule, at("2026-05-01T02:00:00Z"))?.start), "2026-05-02T02:00:00.000Z")
    assert.strictEqual(iso(presentNight(schedule, at("2026-05-01T02:00:00Z"))?.end), "2026-05-01T06:00:00.000Z")
    assert.isUndefined(presentNight(schedule, at("2026-05-01T06:00:00Z")))
  })

  it("H2: a night that began yesterday is the present one", () => {
    const late = scheduleOf({ enabled: true, sleepStartHour: 22, sleepDurationHours: 8 })
    assert.strictEqual(iso(presentNight(late, at("2026-05-02T05:00:00Z"))?.start), "2026-05-01T22:00:00.000Z")
  })

  it("H1: the hour is that of the zone, in summer and in winter", () => {
    assert.strictEqual(iso(nextNight(berlin, at("2026-01-10T12:00:00Z"))?.start), "2026-01-11T01:00:00.000Z")
    assert.strictEqual(iso(nextNight(berlin, at("2026-07-10T12:00:00Z"))?.start), "2026-07-11T00:00:00.000Z")
  })

  it("H1: an hour that the clocks leave out comes as much later, one that they show twice comes once", () => {
    // On 29 March 2026 the clocks of Berlin go from 2:00 to 3:00; on 25 October from 3:00 back to 2:00.
    assert.strictEqual(iso(nextNight(berlin, at("2026-03-28T12:00:00Z"))?.start), "2026-03-29T01:00:00.000Z")
    const first = nextNight(berlin, at("2026-10-24T12:00:00Z"))
    assert.include(["2026-10-25T00:00:00.000Z", "2026-10-25T01:00:00.000Z"], iso(first?.start))
    assert.strictEqual(iso(nextNight(berlin, first?.start ?? 0)?.start), "2026-10-26T01:00:00.000Z")
  })

  it("H3: what is out of range is brought into it, and an unknown zone is UTC", () => {
    const wild = scheduleOf({
      enabled: true,
      sleepStartHour: 99,
      sleepDurationHours: Number.NaN,
      tickRateSleepSeconds: -1,
      timeZone: "Atlantis/Capital"
    })
    assert.deepInclude(wild, { sleepStartHour: 23, tickRateSleepSeconds: 0, timeZone: "UTC" })
    assert.isAbove(wild.sleepDurationHours, 0)
  })

  it("H1, H2: nights of any schedule follow one another, about a day apart", () => {
    const zones = ["UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Pacific/Apia", "America/Sao_Paulo"]
    fc.assert(
      fc.property(
        fc.integer({ min: at("2020-01-01T00:00:00Z"), max: at("2030-01-01T00:00:00Z") }),
        fc.integer({ min: 0, max: 23 }),
        fc.constantFrom(...zones),
        (now, sleepStartHour, timeZone) => {
          const schedule = scheduleOf({ enabled: true, sleepStartHour, timeZone })
          const next = nextNight(schedule, now)
          assert.isDefined(next)
          assert.isAbove(next?.start ?? 0, now)
          assert.isAtMost((next?.start ?? 0) - now, 25 * 3_600_000)
          const after = nextNight(schedule, next?.start ?? 0)
          const gap = (after?.start ?? 0) - (next?.start ?? 0)
          assert.isTrue(gap >= 22 * 3_600_000 && gap <= 26 * 3_600_000, `${gap}`)
          assert.deepStrictEqual(presentNight(schedule, next?.start ?? 0), next)
        }
      )
    )
  })
})
