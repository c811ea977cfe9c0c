// Dates: when a text means, seen from the day it was said.
// Owns resolving relative dates in English, in UTC. Leaves every other word as it stands.
// T1  A relative date becomes the day, week, month or year it names; nothing finer than what was said is claimed.
// T2  What may mean several times is left as it was said: "the other day", a bare "on Friday", "in two weeks".
// T3  "last Friday" is the latest one before the day, "next Friday" the first one after it.

import { monthNames, weekdayNames } from "./grammar.ts"

const DAY_MILLIS = 86_400_000

const fullWeekdays: Readonly<Record<string, number>> = Object.fromEntries(weekdayNames.map((name, day) => [name, day]))
const months: Readonly<Record<string, number>> = Object.fromEntries(monthNames.map((name, month) => [name, month]))
const counts: Readonly<Record<string, number>> = Object.fromEntries(
  "a one two three four five six seven eight nine ten eleven twelve"
    .split(" ")
    .map((word, at) => [word, Math.max(at, 1)])
)

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

const dayAt = (at: number, days: number): number => at + days * DAY_MILLIS

/** "7 May 2023", in UTC. */
export const dayInWords = (at: number): string => {
  const date = new Date(at)
  return `${date.getUTCDate()} ${monthOf(date.getUTCMonth())} ${date.getUTCFullYear()}`
}

const monthOf = (month: number): string => capital(monthNames[month] ?? "")

/** The month so many months away, and its year. */
const monthAt = (at: number, by: number): string => {
  const date = new Date(at)
  const count = date.getUTCFullYear() * 12 + date.getUTCMonth() + by
  return `${monthOf(((count % 12) + 12) % 12)} ${Math.floor(count / 12)}`
}

const yearOf = (at: number): number => new Date(at).getUTCFullYear()

/** A date with the word that leads to it; the word falls away where another one stands already. */
interface Found {
  readonly leads: string
  readonly date: string
}

const weekdayOf = (word: string): number | undefined => {
  const lower = word.toLowerCase()
  const name = weekdayNames.find((each) => each === lower || (lower.length >= 3 && each.startsWith(lower)))
  return name === undefined ? undefined : fullWeekdays[name]
}

/** Days to the nearest such weekday before (at least one day) or after. */
const daysTo = (at: number, weekday: number, which: string): number => {
  const away = (weekday - new Date(at).getUTCDay() + 7) % 7
  if (which === "this") return away
  return which === "next" ? away || 7 : away - 7
}

const steps: Readonly<Record<string, number>> = { last: -1, this: 0, next: 1 }
const sides: Readonly<Record<string, string>> = { last: "before", this: "of", next: "after" }

const seasonMonths: Readonly<Record<string, number>> = { spring: 4, summer: 7, autumn: 10, fall: 10, winter: 12 }

/** "last summer" is the latest one that is over, "next summer" the next to begin. */
const seasonYear = (at: number, season: string, which: string): number => {
  const ends = (seasonMonths[season] ?? 12) + 1
  const month = new Date(at).getUTCMonth() + 1
  if (which === "last") return month > ends ? yearOf(at) : yearOf(at) - 1
  return which === "next" && month >= ends - 2 ? yearOf(at) + 1 : yearOf(at)
}

/** last, this or next, of a unit. */
const unitAt = (at: number, which: string, unit: string): Found | undefined => {
  const step = steps[which] ?? 0
  const day = dayInWords(at)
  if (unit === "week") return { leads: "in", date: `the week ${sides[which]} ${day}` }
  if (unit === "weekend") return { leads: "on", date: `the weekend ${sides[which]} ${day}` }
  if (unit === "month") return { leads: "in", date: monthAt(at, step) }
  if (unit === "year") return { leads: "in", date: `${yearOf(at) + step}` }
  if (unit in seasonMonths) return { leads: "in", date: `the ${unit} of ${seasonYear(at, unit, which)}` }
  const month = months[unit]
  if (month !== undefined) {
    const now = new Date(at).getUTCMonth()
    const years = which === "next" ? Number(month <= now) : which === "last" ? -Number(month >= now) : 0
    return { leads: "in", date: `${monthOf(month)} ${yearOf(at) + years}` }
  }
  const weekday = weekdayOf(unit)
  if (weekday === undefined) return undefined
  return {
    leads: "on",
    date: `${capital(weekdayNames[weekday] ?? "")} ${dayInWords(dayAt(at, daysTo(at, weekday, which)))}`
  }
}

/** So many units ago or from now. */
const unitsAway = (at: number, count: number, unit: string): Found => {
  if (unit === "day") return { leads: "on", date: dayInWords(dayAt(at, count)) }
  if (unit === "week") return { leads: "around", date: dayInWords(dayAt(at, 7 * count)) }
  if (unit === "month") return { leads: "in", date: monthAt(at, count) }
  return { leads: "in", date: `${yearOf(at) + count}` }
}

const leading = "(?:\\b(about|around|since|by|until|till|for|from|in|on|at|before|after|during|of)\\s+)?"
const number = "(\\d{1,3}|a|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple of)"
const units =
  "(week|weekend|month|year|spring|summer|autumn|fall|winter|" +
  `${monthNames.join("|")}|(?:sun|mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?)(?:day)?)`
const end = "(?![\\w'’-])"

interface Rule {
  readonly pattern: RegExp
  readonly found: (at: number, groups: ReadonlyArray<string>) => Found | undefined
}

const countOf = (word: string): number => (word === "a couple of" ? 2 : (counts[word] ?? Number(word)))

const days: Readonly<Record<string, number>> = {
  "the day before yesterday": -2,
  yesterday: -1,
  today: 0,
  tomorrow: 1,
  "the day after tomorrow": 2
}

const rules: ReadonlyArray<Rule> = [
  {
    pattern: new RegExp(`${leading}\\b${number}\\s+(day|week|month|year)s?\\s+ago${end}`, "gi"),
    found: (at, [count = "", unit = ""]) => unitsAway(at, -countOf(count), unit)
  },
  {
    pattern: new RegExp(`${leading}\\b${number}\\s+(day|week|month|year)s?\\s+from\\s+now${end}`, "gi"),
    found: (at, [count = "", unit = ""]) => unitsAway(at, countOf(count), unit)
  },
  {
    pattern: new RegExp(
      `${leading}\\b(${Object.keys(days).join("|")})(\\s+(?:morning|afternoon|evening|night))?${end}`,
      "gi"
    ),
    found: (at, [day = "", part = ""]) => ({ leads: "on", date: `${dayInWords(dayAt(at, days[day] ?? 0))}${part}` })
  },
  {
    pattern: new RegExp(`${leading}\\b(last night|this morning|this afternoon|this evening|tonight)${end}`, "gi"),
    found: (at, [when = ""]) => {
      const part = when === "tonight" ? "night" : (when.split(" ")[1] ?? "")
      return { leads: "on", date: `${dayInWords(dayAt(at, when === "last night" ? -1 : 0))} ${part}` }
    }
  },
  {
    pattern: new RegExp(`${leading}\\b(?:the\\s+)?(last|past|this|next|coming)\\s+${units}${end}`, "gi"),
    found: (at, [which = "", unit = ""]) =>
      unitAt(at, which === "past" ? "last" : which === "coming" ? "next" : which, unit)
  }
]

/** The text with its relative dates resolved, as said at a time in milliseconds since the epoch. */
export const withDates = (text: string, at: number): string => {
  let resolved = text
  for (const { found, pattern } of rules) {
    resolved = resolved.replace(pattern, (said: string, ...rest: ReadonlyArray<unknown>) => {
      // The last two arguments are the place and the whole text.
      const [lead, ...groups] = rest.slice(0, -2).map((group) => (typeof group === "string" ? group : undefined))
      const date = found(
        at,
        groups.map((group) => group?.toLowerCase() ?? "")
      )
      return date === undefined ? said : `${lead ?? date.leads} ${date.date}`
    })
  }
  return resolved
}
