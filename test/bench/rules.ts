// Rules: the times of cron rules and RRULEs beside those that Temporal gives, over 60 zones and every change of clocks to 2035.
// Owns the zones, the rules and the reference. The reference shares no code with what it judges: it walks calendar days and the
// time that passes with Temporal (its polyfill, for Node has none yet), and no library reads a rule for it.

import { nextTime, type Times } from "@reverie/assistant/reminders"
import { Temporal } from "temporal-polyfill"

type Day = Temporal.PlainDate
type Zoned = Temporal.ZonedDateTime

const zones = [
  ..."Africa/Cairo Africa/Casablanca Africa/El_Aaiun Africa/Johannesburg Africa/Lagos Africa/Nairobi".split(" "),
  ..."America/Adak America/Anchorage America/Argentina/Buenos_Aires America/Asuncion America/Bogota".split(" "),
  ..."America/Caracas America/Chicago America/Denver America/Halifax America/Havana America/Lima".split(" "),
  ..."America/Los_Angeles America/Mexico_City America/Miquelon America/New_York America/Nuuk".split(" "),
  ..."America/Phoenix America/Port-au-Prince America/Santiago America/Sao_Paulo America/St_Johns".split(" "),
  ..."Antarctica/Troll Asia/Beirut Asia/Dhaka Asia/Dubai Asia/Gaza Asia/Jerusalem Asia/Karachi".split(" "),
  ..."Asia/Kathmandu Asia/Kolkata Asia/Nicosia Asia/Shanghai Asia/Tehran Asia/Tokyo Asia/Yangon".split(" "),
  ..."Atlantic/Azores Atlantic/Bermuda Atlantic/Reykjavik Australia/Adelaide Australia/Brisbane".split(" "),
  ..."Australia/Eucla Australia/Lord_Howe Australia/Sydney Europe/Athens Europe/Berlin Europe/Chisinau".split(" "),
  ..."Europe/Dublin Europe/Istanbul Europe/Lisbon Europe/London Pacific/Auckland Pacific/Chatham".split(" "),
  ..."Pacific/Easter Pacific/Kiritimati".split(" ")
]

const FROM = "2026-01-01"
const DAYS = 3_652
const HOUR_MILLIS = 3_600_000

interface Case {
  readonly rule: Omit<Times, "timeZone">
  /** From each of these moments on its times are compared, up to the second one. */
  readonly spans: ReadonlyArray<readonly [from: number, to: number]>
  readonly expected: ReadonlyArray<number>
}

const sorted = (all: ReadonlyArray<number>): ReadonlyArray<number> => [...new Set(all)].toSorted((a, b) => a - b)

/** Clock times of calendar days. */
const onDays = (
  days: ReadonlyArray<Day>,
  zone: string,
  fits: (day: Day) => boolean,
  hours: ReadonlyArray<number>,
  minutes: ReadonlyArray<number>
): ReadonlyArray<number> =>
  sorted(
    days
      .filter(fits)
      .flatMap((day) =>
        hours.flatMap((hour) =>
          minutes.map(
            (minute) =>
              day.toPlainDateTime({ hour, minute }).toZonedDateTime(zone, { disambiguation: "compatible" })
                .epochMilliseconds
          )
        )
      )
  )

const isLastFriday = ({ day, dayOfWeek, daysInMonth }: Day): boolean => dayOfWeek === 5 && day > daysInMonth - 7

/** Moments of the time that passes whose clock fits, within spans. */
const passing = (zone: string, spans: Case["spans"], fits: (at: Zoned) => boolean): ReadonlyArray<number> =>
  spans.flatMap(([from, to]) => {
    const found: Array<number> = []
    const first = Temporal.ZonedDateTime.from(`${new Date(from).toISOString()}[${zone}]`)
    for (let at = first.add({ minutes: 5 }); at.epochMilliseconds <= to; at = at.add({ minutes: 5 })) {
      if (fits(at)) found.push(at.epochMilliseconds)
    }
    return found
  })

const casesOf = (zone: string, count: number): ReadonlyArray<Case> => {
  const first = Temporal.PlainDate.from(FROM)
  const days = Array.from({ length: count }, (_, index) => first.add({ days: index }))
  const midnight = (index: number) =>
    first.add({ days: index }).toPlainDateTime({ hour: 0, minute: 0 }).toZonedDateTime(zone, {
      disambiguation: "compatible"
    }).epochMilliseconds
  const whole = [[midnight(0) - 1, midnight(count) - 1]] as const
  const changes: Array<number> = []
  let change: Zoned | null = Temporal.ZonedDateTime.from(`${FROM}T00:00[${zone}]`).getTimeZoneTransition("next")
  while (change !== null && change.epochMilliseconds < (whole[0]?.[1] ?? 0)) {
    changes.push(change.epochMilliseconds)
    change = change.getTimeZoneTransition("next")
  }
  const around = changes.map((at) => [at - 6 * HOUR_MILLIS, at + 6 * HOUR_MILLIS] as const)
  const start = Date.UTC(2026, 0, 1)
  const every = () => true
  const hourly = Temporal.ZonedDateTime.from(`${FROM}T00:30[${zone}]`)
  return [
    { rule: { cron: "30 2 * * *" }, spans: whole, expected: onDays(days, zone, every, [2], [30]) },
    {
      rule: { cron: "0,30 0-3 * * 0" },
      spans: whole,
      expected: onDays(days, zone, (day) => day.dayOfWeek === 7, [0, 1, 2, 3], [0, 30])
    },
    {
      rule: { cron: "45 23 1,15 * *" },
      spans: whole,
      expected: onDays(days, zone, ({ day }) => day === 1 || day === 15, [23], [45])
    },
    { rule: { cron: "*/15 * * * *" }, spans: around, expected: passing(zone, around, (at) => at.minute % 15 === 0) },
    {
      rule: { cron: "5 */2 * * *" },
      spans: around,
      expected: passing(zone, around, (at) => at.minute === 5 && at.hour % 2 === 0)
    },
    {
      rule: { rrule: "FREQ=DAILY;BYHOUR=1;BYMINUTE=15", start },
      spans: whole,
      expected: onDays(days, zone, every, [1], [15])
    },
    {
      rule: { rrule: "FREQ=WEEKLY;BYDAY=SA,SU;BYHOUR=2,3;BYMINUTE=5", start },
      spans: whole,
      expected: onDays(days, zone, (day) => day.dayOfWeek > 5, [2, 3], [5])
    },
    {
      rule: { rrule: "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=0;BYMINUTE=0", start },
      spans: whole,
      expected: onDays(days, zone, isLastFriday, [0], [0])
    },
    {
      rule: { rrule: "FREQ=HOURLY;INTERVAL=13", start: start + HOUR_MILLIS / 2 },
      spans: whole,
      expected: Array.from(
        { length: Math.ceil((count * 24 + 24) / 13) },
        (_, index) => hourly.add({ hours: index * 13 }).epochMilliseconds
      ).filter((at) => at <= (whole[0]?.[1] ?? 0))
    }
  ]
}

/** What a rule gives within the spans, one time after the other. */
const given = (times: Times, spans: Case["spans"]): ReadonlyArray<number> =>
  spans.flatMap(([from, to]) => {
    const found: Array<number> = []
    let at = nextTime(times, from)
    while (at !== undefined && at <= to) {
      found.push(at)
      at = nextTime(times, at)
    }
    return found
  })

const differenceOf = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): string | undefined => {
  const at = Array.from({ length: Math.max(one.length, other.length) }, (_, index) => index).find(
    (index) => one[index] !== other[index]
  )
  const iso = (value: number | undefined) => (value === undefined ? "nothing" : new Date(value).toISOString())
  return at === undefined ? undefined : `number ${at} is ${iso(one[at])} and not ${iso(other[at])}`
}

/** Short: six zones and 400 days. */
export const benchRules = async (isShort: boolean) => {
  const began = performance.now()
  const chosen = isShort
    ? [
        "Europe/Berlin",
        "Australia/Lord_Howe",
        "Africa/Casablanca",
        "America/Havana",
        "Antarctica/Troll",
        "Pacific/Chatham"
      ]
    : zones
  const differences: Array<string> = []
  let compared = 0
  let rulesMillis = 0
  for (const zone of chosen) {
    for (const { expected, rule, spans } of casesOf(zone, isShort ? 400 : DAYS)) {
      const from = performance.now()
      const found = given({ ...rule, timeZone: zone }, spans)
      rulesMillis += performance.now() - from
      compared += expected.length
      const difference = differenceOf(found, expected)
      if (difference !== undefined) differences.push(`${zone} ${rule.cron ?? rule.rrule}: ${difference}`)
    }
  }
  return {
    ok: differences.length === 0,
    targets: {
      "every time equals that of Temporal": differences.length === 0,
      "times enough": compared >= (isShort ? 1_000 : 1_000_000)
    },
    zones: chosen.length,
    compared,
    differences: differences.slice(0, 20),
    microsecondsATime: (rulesMillis * 1_000) / compared,
    seconds: (performance.now() - began) / 1_000
  }
}
