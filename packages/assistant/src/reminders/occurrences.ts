// Occurrences: when a rule is due, on the clocks of a time zone.
// Owns reading a rule, its next time, and quiet hours. Leaves what becomes of a time to reminder.ts.
// O1  A rule says clock times. One that the clocks leave out comes as much later as was left out; of one that they show twice,
//     the first counts. This is `compatible` of Temporal, whatever library finds the clock times.
// O2  Where the hour of a cron rule begins with `*`, and where an RRULE repeats by hours or minutes, it follows the time that
//     passes: what is left out is left out, and what comes twice comes twice.
// O3  The next time lies after the moment asked about, and no time of the rule lies between.
// O4  It is pure, and it loads croner and rrule-temporal: it is imported when a rule is used, and not before.

import type { ReminderRule } from "@reverie/protocol"
import { Cron } from "croner"
import * as Result from "effect/Result"
import { RRuleTemporal } from "rrule-temporal"
import { isKnownZone, shownAt } from "../patterns/schedule.ts"

const MINUTE_MILLIS = 60_000
const HOUR_MILLIS = 60 * MINUTE_MILLIS
const DAY_MILLIS = 24 * HOUR_MILLIS

// Zone: the clocks of a place. Times on them are written as if they were times of UTC.

/** No zone changes its clocks in the middle of a quarter of an hour. */
const BUCKET_MILLIS = 15 * MINUTE_MILLIS
const MAX_KNOWN_OFFSETS = 50_000

interface Zone {
  readonly offsetAt: (at: number) => number
}

const zones = new Map<string, Zone>()

const openZone = (timeZone: string): Zone => {
  const known = new Map<number, number>()
  return {
    offsetAt: (at) => {
      const bucket = Math.floor(at / BUCKET_MILLIS) * BUCKET_MILLIS
      const found = known.get(bucket)
      if (found !== undefined) return found
      if (known.size >= MAX_KNOWN_OFFSETS) known.clear()
      const offset = shownAt(bucket, timeZone) - bucket
      known.set(bucket, offset)
      return offset
    }
  }
}

const zoneNamed = (timeZone: string): Zone => {
  const zone = zones.get(timeZone) ?? openZone(timeZone)
  zones.set(timeZone, zone)
  return zone
}

/** The moments at which the clocks show this; `moved` when they leave it out. */
const momentsOf = ({ offsetAt }: Zone, shown: number) => {
  const before = offsetAt(shown - DAY_MILLIS)
  const after = offsetAt(shown + DAY_MILLIS)
  const all = before === after ? [before] : [before, after]
  const found = before === after ? all : all.filter((offset) => offsetAt(shown - offset) === offset)
  const moments = found.map((offset) => shown - offset).toSorted((a, b) => a - b)
  return {
    moments: moments.length === 0 ? [shown - before] : moments,
    moved: moments.length === 0,
    /** No moment of this clock time or of a later one lies before it. */
    soonest: shown - Math.max(before, after)
  }
}

/** When the clocks show this for the first time; where they leave it out, as much later as was left out. */
const momentOf = (zone: Zone, shown: number): number => momentsOf(zone, shown).moments[0] ?? shown

// Rule: the times of a rule, one after the other.

/** When a reminder is due, as it is kept: everything said, and every time a moment. */
export interface Times {
  /** An IANA name; clock times, `cron` and `rrule` are read in it. */
  readonly timeZone: string
  /** The one time, in milliseconds since the epoch. */
  readonly at?: number
  /** Five fields: minute, hour, day of the month, month, day of the week. */
  readonly cron?: string
  /** A rule of RFC 5545, without `DTSTART`. */
  readonly rrule?: string
  /** The first clock time of an `rrule`, as if it were one of UTC. */
  readonly start?: number
}

/** The next clock time after one; undefined when there is none. */
type Next = (after: number) => number | undefined

/** Clock times become moments. `passing`: the rule follows the time that passes. */
const onClocks = (zone: Zone, next: Next, passing: boolean): Next => {
  const { offsetAt } = zone
  return (after) => {
    // Around a change of the clocks an earlier clock time may have a moment that is still to come.
    const offsets = [offsetAt(after - DAY_MILLIS), offsetAt(after), offsetAt(after + DAY_MILLIS)]
    let shown = next(after + Math.min(...offsets))
    let best: number | undefined
    while (shown !== undefined) {
      const { moments, moved, soonest } = momentsOf(zone, shown)
      if (best !== undefined && soonest >= best) return best
      const counting = passing ? (moved ? [] : moments) : moments.slice(0, 1)
      for (const moment of counting) if (moment > after && (best === undefined || moment < best)) best = moment
      shown = next(shown)
    }
    return best
  }
}

const nicknames: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *"
}

const openCron = (text: string, zone: Zone): Next => {
  const pattern = nicknames[text] ?? text
  const cron = new Cron(pattern, { utcOffset: 0, paused: true })
  const isPassing = pattern.split(/\s+/)[1]?.startsWith("*") === true
  return onClocks(zone, (after) => cron.nextRun(new Date(after))?.getTime(), isPassing)
}

const icsTime = (shown: number): string => new Date(shown).toISOString().replace(/[-:]|\.\d+Z$/g, "")

/** UNTIL is a moment where it ends with Z; beside clock times it has to be one of them. */
const untilOnClocks = (rrule: string, { offsetAt }: Zone): string =>
  rrule.replace(/UNTIL=(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, (_, ...found: ReadonlyArray<string>) => {
    const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = found.slice(0, 6).map(Number)
    const at = Date.UTC(year, month - 1, day, hour, minute, second)
    return `UNTIL=${icsTime(at + offsetAt(at))}Z`
  })

const isPassingRule = (rrule: string): boolean => /FREQ=(?:HOURLY|MINUTELY)/.test(rrule)

const openRrule = (rrule: string, start: number, timeZone: string, zone: Zone): Next => {
  const passing = isPassingRule(rrule)
  const rruleString = passing
    ? `DTSTART;TZID=${timeZone}:${icsTime(start)}\nRRULE:${rrule}`
    : `DTSTART;TZID=UTC:${icsTime(start)}\nRRULE:${untilOnClocks(rrule, zone)}`
  const rule = new RRuleTemporal({ rruleString, cache: false })
  const next: Next = (after) => rule.next(new Date(after))?.epochMilliseconds
  return passing ? next : onClocks(zone, next, false)
}

const open = ({ at, cron, rrule, start = 0, timeZone }: Times): Next => {
  const zone = zoneNamed(timeZone)
  if (at !== undefined) return (after) => (at > after ? at : undefined)
  if (cron !== undefined) return openCron(cron, zone)
  return openRrule(rrule ?? "", start, timeZone, zone)
}

const opened = new Map<string, Next>()
const MAX_OPENED = 500

/** The first time of a rule after a moment. */
export const nextTime = (times: Times, after: number): number | undefined => {
  const key = [times.timeZone, times.at, times.cron, times.rrule, times.start].join("\n")
  const found = opened.get(key) ?? open(times)
  if (opened.size >= MAX_OPENED) opened.clear()
  opened.set(key, found)
  return found(after)
}

// Reading: what was said becomes times, or one sentence that says what is wrong.

const LOCAL = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d))?(?:\.\d+)?(Z|[+-]\d\d:?\d\d)?$/

/** A clock time as if it were one of UTC, and a moment; undefined for what is no date. */
const readTime = (text: string, zone: Zone): { readonly shown: number; readonly at: number } | undefined => {
  const found = LOCAL.exec(text.trim())
  if (found === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  const shown = Date.UTC(year, month - 1, day, hour, minute, second)
  if (new Date(shown).toISOString().slice(0, 10) !== text.trim().slice(0, 10) || hour > 23 || minute > 59)
    return undefined
  const offset = found[7]
  if (offset === undefined) return { shown, at: momentOf(zone, shown) }
  const at = Date.parse(text.trim().replace(" ", "T"))
  return Number.isNaN(at) ? undefined : { shown: at + zone.offsetAt(at), at }
}

const WHOLE_PARTS: Readonly<Record<string, readonly [number, number]>> = {
  INTERVAL: [1, 100_000],
  COUNT: [1, 100_000],
  BYMINUTE: [0, 59],
  BYHOUR: [0, 23],
  BYMONTHDAY: [-31, 31],
  BYYEARDAY: [-366, 366],
  BYWEEKNO: [-53, 53],
  BYMONTH: [1, 12],
  BYSETPOS: [-366, 366]
}
const OTHER_PARTS: Readonly<Record<string, RegExp>> = {
  FREQ: /^(?:YEARLY|MONTHLY|WEEKLY|DAILY|HOURLY|MINUTELY)$/,
  UNTIL: /^\d{8}(?:T\d{6}Z?)?$/,
  BYDAY: /^(?:[+-]?\d{0,2}(?:MO|TU|WE|TH|FR|SA|SU))(?:,[+-]?\d{0,2}(?:MO|TU|WE|TH|FR|SA|SU))*$/,
  WKST: /^(?:MO|TU|WE|TH|FR|SA|SU)$/
}

/** What of an RRULE is not one; the library passes over what it does not know. */
const rruleFlaw = (rrule: string): string | undefined => {
  if (!/(?:^|;)FREQ=/.test(rrule)) return "an RRULE needs FREQ, as in FREQ=WEEKLY;BYDAY=MO"
  for (const part of rrule.split(";")) {
    const [name = "", value = ""] = part.split("=")
    const range = WHOLE_PARTS[name]
    const fits =
      range === undefined
        ? OTHER_PARTS[name]?.test(value) === true
        : value
            .split(",")
            .every((each) => /^[+-]?\d+$/.test(each) && Number(each) >= range[0] && Number(each) <= range[1])
    if (!fits) return `${JSON.stringify(part)} is no part of an RRULE that a reminder knows`
  }
  return undefined
}

const flawOf = (rule: ReminderRule): string | undefined => {
  const said = [rule.at, rule.inMs, rule.cron, rule.rrule].filter((each) => each !== undefined).length
  if (said !== 1) return "say one of these: a time, a while, a cron rule, an RRULE"
  if (rule.start !== undefined && rule.rrule === undefined) return "a start belongs to an RRULE"
  if (rule.quiet !== undefined && rule.quiet.from === rule.quiet.until)
    return "quiet hours begin and end at the same time"
  if (rule.cron !== undefined && nicknames[rule.cron] === undefined && rule.cron.trim().split(/\s+/).length !== 5) {
    return `${JSON.stringify(rule.cron)} is no cron rule: it has five fields, minute hour day month weekday`
  }
  return rule.rrule === undefined ? undefined : rruleFlaw(rule.rrule.replace(/^RRULE:/, ""))
}

const dated = (rule: ReminderRule, timeZone: string, now: number): Result.Result<Times, string> => {
  const zone = zoneNamed(timeZone)
  const text = rule.at ?? rule.start
  const read = text === undefined ? undefined : readTime(text, zone)
  if (text !== undefined && read === undefined) {
    return Result.fail(`${JSON.stringify(text)} is no time: write 2026-11-24T09:00, or with an offset at its end`)
  }
  if (rule.at !== undefined) return Result.succeed({ timeZone, at: read?.at ?? now })
  if (rule.inMs !== undefined) return Result.succeed({ timeZone, at: now + rule.inMs })
  if (rule.cron !== undefined) return Result.succeed({ timeZone, cron: rule.cron.trim() })
  const start = read?.shown ?? Math.floor((now + zone.offsetAt(now)) / MINUTE_MILLIS) * MINUTE_MILLIS
  return Result.succeed({ timeZone, rrule: (rule.rrule ?? "").replace(/^RRULE:/, ""), start })
}

/** The times of a rule; a failure is one sentence. */
export const timesOf = (rule: ReminderRule, timeZone: string, now: number): Result.Result<Times, string> => {
  if (!isKnownZone(timeZone)) {
    return Result.fail(`${JSON.stringify(timeZone)} is no time zone: write a name such as Europe/Berlin`)
  }
  const flaw = flawOf(rule)
  if (flaw !== undefined) return Result.fail(flaw)
  return Result.flatMap(dated(rule, timeZone, now), (times) => {
    try {
      return nextTime(times, now) === undefined ? Result.fail("no time of it is still to come") : Result.succeed(times)
    } catch (error) {
      // Both libraries throw plain errors that say what they do not understand.
      return Result.fail(error instanceof Error ? error.message : String(error))
    }
  })
}

// Quiet: hours in which no one is to be disturbed.

export interface QuietHours {
  /** Where it begins: `HH:MM` in the reminder's time zone. */
  readonly from: string
  /** Where it ends; before `from` it is on the next day. */
  readonly until: string
  /** `skip`: that time does not come. `later`: it comes at the end of the hours. */
  readonly policy: "skip" | "later"
}

const millisOf = (clockTime: string): number =>
  Number(clockTime.slice(0, 2)) * HOUR_MILLIS + Number(clockTime.slice(3)) * MINUTE_MILLIS

/** The end of the quiet hours that a moment lies in; undefined when it lies in none. */
export const quietUntil = ({ from, until }: QuietHours, timeZone: string, at: number): number | undefined => {
  const zone = zoneNamed(timeZone)
  const shown = at + zone.offsetAt(at)
  const midnight = Math.floor(shown / DAY_MILLIS) * DAY_MILLIS
  const [start, end, now] = [millisOf(from), millisOf(until), shown - midnight]
  const isQuiet = start < end ? start <= now && now < end : now >= start || now < end
  if (!isQuiet) return undefined
  const over = momentOf(zone, midnight + end + (now < end ? 0 : DAY_MILLIS))
  // Where the clocks go back over its end, the end of before has passed already.
  return over > at ? over : undefined
}

/** A moment as the clocks of a zone show it, for people and models. */
export const shownTime = (at: number, timeZone: string): string => {
  const clock = new Intl.DateTimeFormat("en-GB", { timeZone, dateStyle: "full", timeStyle: "short" })
  return `${clock.format(at)} (${timeZone})`
}
