// Grammar: the few English words whose form or place tells what a sentence does.
// Owns these lists and what follows from them. English only; no word of a topic is among them.

import { stemsOf } from "../calls.ts"

export const monthNames: ReadonlyArray<string> =
  "january february march april may june july august september october november december".split(" ")
/** As Date counts them: Sunday is 0. */
export const weekdayNames: ReadonlyArray<string> = "sunday monday tuesday wednesday thursday friday saturday".split(" ")

export const setOf = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

/** Forms of the past that do not end in -ed. */
const irregularPast = setOf(`
  ate became began bought broke brought built came caught chose cut did drank drew drove fell felt flew forgot fought found
  gave got grew had heard held hid hit hurt kept knew laid learnt led left lent let lost made meant met paid put ran read
  rode rose said sang sat saw sent set shot shut sold spent spoke stood stuck swam swept swore taught thought threw told
  took tore understood was went were woke won wore wrote
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

/** Words that make a sentence speak of anyone who says it. */
export const firstPerson = /\b(?:I|[Mm]y|[Mm]e|[Mm]ine|[Mm]yself|[Ww]e|[Uu]s|[Oo]ur|[Oo]urs|[Oo]urselves)\b/
export const secondPerson = /\b(?:you|your|yours|yourself|y'all|ya)\b/i
export const negation = /\b(?:not|no|never|nobody|nothing|none|neither|nor|without|cannot)\b|n't\b/i

/** At the start of a sentence: they say how something is taken, not what it is. */
export const interjection =
  /^(?:(?:wow|woah|whoa|yeah|yep|yes|yup|nope|oh|ah|aww?|oof|ooh|hey|hi|hello|btw|by the way|haha|anyway|please|and|but|plus|also)\b[\s,!:;-]*|(?:no|so|sure|sure thing|okay|ok|well|cool|great|nice|awesome|totally|absolutely|definitely|sorry|thanks|thank you|congrats|congratulations)\s*[,!:;-]\s*)+/i

/** Greetings, thanks, requests, and what someone is called upon to do. */
export const pleasantry =
  /^(?:for|to|thanks?|sorry|congrats|congratulations|glad|good|great to|nice to|happy to|welcome|bye|see you|talk to you|long time|let's|let us|don't|keep|go|take|have|check|look|stay|believe|tell|hang)\b/i

// Stance: what a sentence does when it does not state what its words say.
// N1  A wish, a guess, a condition, hearsay, a joke, an order, an indirect question and a courtesy state nothing, though
//     they have the words of a statement.

/** The speaker, and a short form of the verb behind. */
const own = "(?:i|we)(?:'(?:m|re|ve|d|ll))?(?: (?:am|are|was|were|have|had|would|do|been))?"
const between =
  "(?: (?:just|also|really|so|very|only|still|always|often|totally|truly|super|long|do|all|quite|sort of|kind of))*"
const anyone = "(?:I|i|[Yy]ou|[Ww]e|[Hh]e|[Ss]he|[Ii]t|[Tt]hey|(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]he) \\S+(?: \\S+)?)"
/** What an assistant is called upon to do, where no pleasantry says it. */
const demands =
  "remind|send|book|call|set|write|translate|find|show|give|add|remove|delete|open|close|play|buy|order|schedule|cancel|search|" +
  "make|bring|put|turn|start|stop|wake|answer|reply|explain|help|list|note|remember|forget|ask|use|read|print|save|move|change|" +
  "update|create|draft|email|mail|text|message|ring|tidy|clean|wait|try|do|let|come|get|leave|pick|pay|forward|summari[sz]e"

const states = (pattern: string): RegExp => new RegExp(`^(?:${pattern})(?![\\p{L}\\p{N}])`, "iu")

const stances: ReadonlyArray<RegExp> = [
  // Wishes.
  states(`${own}${between} (?:wish|wishing|hope|hoped|hoping|dream|dreamt|dreamed|dreaming|longing|long for)`),
  states(`(?:i|we)(?:'d| would)${between} (?:love|like|hate|enjoy|adore|kill|give)`),
  states("if only|hopefully|fingers crossed|(?:it|that|this)(?:'d| would)|may (?:you|he|she|they|it|we)"),
  // Guesses and conditions.
  states("if|suppose|supposing|imagine|assuming|unless|what if|whether|maybe|perhaps|possibly|who knows"),
  states(`${own}${between} (?:guess|suppose|suspect|bet|doubt|assume|imagine)`),
  /^[^.;]*\bwho knows\b/i,
  // "May" with a capital is a month, and who could not do something tells what happened.
  new RegExp(`^${anyone} (?:might|may|could)(?! (?:not|hardly|barely|finally))\\b`),
  /^[^.;]*(?:\bwould\b|'d\b)[^.;]* if\b/i,
  // Hearsay.
  states(`${own}${between} heard (?:that|from|it|rumou?rs?|the|they|she|he|there|someone|somebody|people)`),
  states(`${own}${between} (?:read|saw|heard|picked up) (?:somewhere|online|in [^,.]{1,30} that)`),
  states("apparently|allegedly|supposedly|reportedly|rumou?rs?|gossip|word (?:is|has it)|legend has it|it is said"),
  states(
    "(?:they|people|folks|some|some people|everyone|everybody|someone|somebody)(?: \\w+)? (?:says?|said|claims?|told|reckons?)"
  ),
  /\b(?:is|are|was|were|has|have) (?:apparently|allegedly|supposedly|reportedly|rumou?red|said to)\b/i,
  // Jokes: no one can do that, or the one who says it laughs.
  /\b(?:a|ten|two) (?:million|billion|thousand|hundred) times\b|\bso [^,.]{2,40} (?:that )?(?:i|we|he|she|they) could\b/i,
  /(?:\b(?:lol|haha\w*|hehe\w*|jk|rofl|(?:just |only )?(?:kidding|joking))|[\u{1F602}\u{1F923}])[\s!.)]*$/iu,
  // Orders, and offers.
  new RegExp(
    `^(?:(?:always|never|do|do not|kindly|just) )?(?:${demands}) (?!(?:is|are|was|were|has|have|will|can)\\b)`,
    "i"
  ),
  states(
    "from now on|you (?:should|must|could|can|may|need to|have to|ought to)|we (?:should|could|ought to)|why (?:don't|not)|how about|shall"
  ),
  states(`${own}${between} (?:need|want|wanted|like|ask|asking|expect|beg) (?:you|for you)`),
  states(
    "(?:i|we)(?:'ll| will| can| could) (?:be (?:there|here|back|right)|(?:let|see|call|show|tell|send|help|keep|give|lend) you)"
  ),
  // Indirect questions.
  states(`${own}${between} (?:wonder|wondered|wondering|curious)`),
  states(
    "(?:i|we) (?:don't|do not|didn't) (?:know|remember|understand|get) (?:if|whether|what|where|who|how|why|when|which)"
  )
]

/** Courtesies, and what passes within the hour. */
const courtesies: ReadonlyArray<RegExp> = [
  states(
    `${own}${between} (?:agree|appreciate|apologi[sz]e|thank|miss(?:ed)? you|see (?:you|what)|know what|hear you|feel you|get it)`
  ),
  states(
    `${own}${between} (?:happy|glad|sorry|proud|thrilled|pleased|grateful|thankful|delighted|honou?red|touched|excited) (?:for you|of you|to (?:see|hear|know)|that you|you|with you|your)`
  ),
  /^(?:i|we)(?:'m|'re| am| are)(?: (?:so|really|very|just|all|doing|feeling|quite|pretty|too|not))* (?:fine|good|great|well|ok|okay|alright|here|back|ready|done|sure|certain|sorry|glad|happy|late|tired|busy|hungry|excited|thrilled|amazed|touched|exhausted|stressed|worried|nervous|confused|in|out|serious|listening|impressed|jealous|curious|speechless|afraid)(?: (?:too|now|again|today))?(?:[,!.].*)?$/i,
  states(
    "(?:i|we) (?:can't|cannot|can hardly) (?:wait|believe|complain|thank)|(?:i|we)(?:'ve)? (?:have to|got to|gotta|must|need to|better|should) (?:go|run|leave|be going|be off)"
  ),
  states("(?:i|we) (?:had|have)(?: absolutely)? no (?:idea|clue|words|doubt|comment)"),
  states("you (?:always|never|really|truly|make|made|look|sound|seem|deserve|rock)|same here|me (?:too|neither)"),
  /^(?:what|such|so|too) (?:an?|lovely|great|good|nice|much|many|cute|funny|true|sweet)\b(?: [\p{L}'’]+){0,4}[.!]*$/iu,
  /^(?:the|your|those|these|that|this)(?: [\p{L}'’-]+){1,3} (?:is|are|looks?|sounds?) (?:so|such|really|very|too|super) [\p{L}'’ -]+[.!]*$/iu
]

/** Behind a courtesy the same sentence may tell something: "I get it, I had a mentor too". */
const ownClause = / [-–—] |, (?:and |but |so )?(?=(?:I|[Ww]e|[Mm]y|[Oo]ur)\b)/

/** The sentence does something else than to state what its words say. */
export const isNoStatement = (sentence: string): boolean => {
  const plain = sentence.replaceAll("\u2019", "'").trim()
  const [first = "", ...others] = plain.split(ownClause)
  return (
    stances.some((stance) => stance.test(plain)) ||
    (courtesies.some((courtesy) => courtesy.test(first)) && others.every((clause) => isNoStatement(clause)))
  )
}

/** What was said last was no more than a joke. */
export const isTakenBack = (sentence: string): boolean =>
  /^(?:(?:ha)+[,!. ]+)?(?:(?:no|nah|okay|ok)[,.! ]+)?(?:(?:i'm|i am|i was|we're|that was|it was) )?(?:just |only |totally )?(?:kidding|joking|teasing|a joke|jk|messing with you|pulling your leg)\b/i.test(
    sentence.replaceAll("\u2019", "'").trim()
  )

// Likeness: how much of one statement another one says.
// G1  A statement says the same as itself, also when all its words are words of grammar.

const shorter = new Set(monthNames)

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
  const plain = lower.replace(/\p{N}+/gu, " ").replace(/\p{L}+/gu, (word) => (shorter.has(word) ? " " : word))
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
