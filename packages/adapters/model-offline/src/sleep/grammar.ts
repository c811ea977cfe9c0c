// Grammar: the few English words whose form or place tells what a sentence does.
// Owns these lists and what follows from them. English only; no word of a topic is among them.

import { stemsOf } from "../calls.ts"

export const monthNames: ReadonlyArray<string> =
  "january february march april may june july august september october november december".split(" ")
/** As Date counts them: Sunday is 0. */
export const weekdayNames: ReadonlyArray<string> = "sunday monday tuesday wednesday thursday friday saturday".split(" ")

export const setOf = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

/** Forms of the past that do not end in -ed, or are too short to be known by it. */
const irregularPast = setOf(`
  ate became began bought broke brought built came caught chose cut did drank drew drove fell felt flew forgot fought found
  gave got grew had heard held hid hit hurt kept knew laid learnt led left lent let lost made meant met paid put ran read
  rode rose said sang sat saw sent set shot shut sold spent spoke stood stuck swam swept swore taught thought threw told
  took tore understood was went were woke won wore wrote
  aged died lied owed tied used
`)

/** Participles that are no form of the past by themselves. */
const participles = setOf(
  "been begun broken chosen done driven eaten fallen flown forgotten given gone grown known ridden seen shown spoken sung swum taken thrown worn written"
)

export const isParticiple = (word: string): boolean => participles.has(word)

/** They take no -s. */
export const modals = setOf(
  "can could may might must shall should will would can't couldn't won't wouldn't shouldn't cannot ain't"
)

const thirdForms: Readonly<Record<string, string>> = {
  am: "is",
  are: "is",
  were: "was",
  have: "has",
  do: "does",
  go: "goes",
  wanna: "wants to",
  gotta: "has to",
  gonna: "is going to",
  "aren't": "isn't",
  "weren't": "wasn't",
  "haven't": "hasn't",
  "don't": "doesn't"
}

/** Between a subject and its verb. */
const adverbs = setOf(
  "just also really still always never often usually actually even already recently finally totally now both all last first then truly"
)

export const isAdverb = (word: string): boolean => adverbs.has(word) || (word.length > 4 && word.endsWith("ly"))

/** Their past looks like their present. */
const unchanging = setOf("cut hit hurt let put read set shut")

/** The past of a verb that begins a sentence whose subject was left out: "lost my job", "moved to Rome". */
export const isBarePast = (word: string, next: string): boolean =>
  isPast(word) && !unchanging.has(word) && !(word.endsWith("ed") && /^(?:for|by|about|with|to|of|that)$/.test(next))

export const isPast = (word: string): boolean =>
  irregularPast.has(word) || (word.length > 4 && word.endsWith("ed") && !word.endsWith("eed"))

/** What a verb that followed "I" or "we" is after a name. */
export const thirdPerson = (verb: string): string => {
  const known = thirdForms[verb]
  if (known !== undefined) return known
  if (modals.has(verb) || isPast(verb) || /^(?:is|was|been|has|had|did)$|(?:n't|ing)$/.test(verb)) return verb
  if (/(?:s|x|z|ch|sh)$/.test(verb)) return `${verb}es`
  return /[^aeiou]y$/.test(verb) ? `${verb.slice(0, -1)}ies` : `${verb}s`
}

/** Of the third person. */
export const pronouns = setOf(
  "it its it's it'll it'd itself he he's him his himself she she's her hers herself they they're they've they'll they'd them 'em their theirs themselves"
)
/** Alone they point at something, before a noun they belong to it. */
export const pointers = setOf("this that these those that's")
/** Words of grammar, and a few that say next to nothing by themselves. */
export const grammarWords = setOf(`
  what's how's where's who's when's why's how'd how're how've what're what've who've here's there's let's
  a an the and or but so nor yet if as than then because 'cause cause cuz since while when whenever where how why what who which whether though although
  i i'm i've i'll i'd me my mine myself we we're we've we'll we'd us our ours ourselves you you're you've you'll your yours yourself y'all
  am is are was were be been being isn't aren't wasn't weren't have has had having haven't hasn't hadn't do does did doing don't doesn't didn't done
  to of in on at by for from with without about into over under after before through up down out off around between during until till like near
  not no yes all both each every any some many much more most few lots lot such same other others another one ones else just very really so too
  even still also only always never often usually maybe perhaps actually definitely totally truly super pretty quite kinda gonna gotta wanna
  here there now again ago once soon later today yesterday tomorrow tonight way enough well okay ok
  make makes making get gets getting got go goes going let lets take takes taking give gives giving see seeing feel feels feeling keep keeps
  keeping love loves loving like likes want wants know knows think thinks thinking believe hope hopes need needs try trying use uses using find finds
  help helps mean means look looks looking say says tell tells show shows work works talk enjoy enjoys appreciate bet
  great good nice awesome amazing cool lovely special important hard tough fun wonderful incredible beautiful happy glad proud lucky excited sure
  thankful grateful best better pleased sweet powerful inspiring rewarding new big huge little
`)

/** A noun follows them, if not at once. */
export const determiners = setOf("a an the my our your some any no each every another")

/** Words that make a sentence speak of anyone who says it. */
export const firstPerson = /\b(?:I|[Mm]y|[Mm]e|[Mm]ine|[Mm]yself|[Ww]e|[Uu]s|[Oo]ur|[Oo]urs|[Oo]urselves)\b/
export const secondPerson = /\b(?:you|your|yours|yourself|y'all|ya)\b/i
export const negation = /\b(?:not|no|never|nobody|nothing|none|neither|nor|without|cannot)\b|n't\b/i

/** At the start of a sentence: they say how something is taken, not what it is. */
export const interjection =
  /^(?:(?:wow|woah|whoa|yeah|yep|yes|yup|nope|oh|ah|aww?|oof|ooh|hey|hi|hello|btw|by the way|haha|anyway|and|but|plus|also|then|hm+|fyi|for the record|(?:please )?(?:remember|note|know|keep in mind|bear in mind|be aware|don['’]t forget) that)\b[\s,!:;-]*|(?:note|remember|reminder|info)\s*:\s*|(?:no|so|sure|sure thing|okay|ok|well|cool|great|nice|awesome|totally|absolutely|definitely|sorry|thanks|thank you|congrats|congratulations)\s*[,!:;-]\s*)+/i

/** Greetings, thanks, requests, and what someone is called upon to do. */
export const pleasantry =
  /^(?:for|to|thanks?|sorry|congrats|congratulations|glad|good|great to|nice to|happy to|welcome|bye|see you|talk to you|long time|let's|let us|don't|keep|go|take|have|check|look|stay|believe|tell|hang)\b/i

// Likeness: how much of one statement another one says.
// G1  A statement says the same as itself, also when all its words are words of grammar.

const shorter = new Set(monthNames)
/** They say that something else is so, or was, and nothing of it. */
const emphasis = /\b(?:also|too|as well|still|really)\b/g

/** Nearly all the words. */
const SAME = 0.9

export interface Gist {
  /** The statement itself, without regard to case and to how it ends. */
  readonly text: string
  /** Stems of its words, without numbers and months. */
  readonly words: ReadonlySet<string>
  /** Its numbers, months and negation: what may change while the rest stays. */
  readonly values: ReadonlySet<string>
  readonly first: string
}

const asked =
  /^(?:Asked "[^"]*"|[^:"]{1,128} told [^:"]{1,128}? (?:about|whether|what|which|who|whom|whose|where|when|why|how)\b[^:]*): /

/** A statement without what it was asked about. */
export const unasked = (statement: string): string => statement.replace(asked, "")

export const gistOf = (statement: string): Gist => {
  const said = unasked(statement)
  const lower = said.toLowerCase()
  const plain = lower
    .replace(emphasis, " ")
    .replace(/\p{N}+/gu, " ")
    .replace(/\p{L}+/gu, (word) => (shorter.has(word) ? " " : word))
  const named = (lower.match(/\p{L}+/gu) ?? []).filter((word) => shorter.has(word))
  return {
    text: lower.replace(/[\s.!?]+$/, ""),
    words: stemsOf(plain),
    values: new Set([...(lower.match(/\p{N}+/gu) ?? []), ...named, ...(negation.test(said) ? ["not"] : [])]),
    first: /[\p{L}\p{N}]+/u.exec(lower)?.[0] ?? ""
  }
}

/** The share of words they have in common, 0 to 1. */
export const overlap = (one: ReadonlySet<string>, other: ReadonlySet<string>): number => {
  const all = one.union(other).size
  return all === 0 ? 0 : one.intersection(other).size / all
}

export const hasSameValues = (one: Gist, other: Gist): boolean =>
  one.values.size === other.values.size && one.values.isSubsetOf(other.values)

/** They say the same: the same numbers, months and negation, and nearly all the words. */
export const saysTheSame = (one: Gist, other: Gist): boolean =>
  one.text === other.text || (hasSameValues(one, other) && overlap(one.words, other.words) >= SAME)

// Dates: when a text means, seen from the day it was said.
// T1  A relative date becomes the day, week, month or year it names; nothing finer than what was said is claimed.
// T2  What may mean several times is left as it was said: "the other day", a bare "on Friday", "in two weeks".
// T3  "last Friday" is the latest one before the day, "next Friday" the first one after it.

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
