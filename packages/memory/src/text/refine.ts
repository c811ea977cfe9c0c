// Refine: what the words search knows of an entry beyond the weights of its words.
// Owns how much of the question an entry answers, who is asked about, of what time, what asks itself, what replies to it,
// and what stands beside it.
// N1  Each of these moves a score by a share of itself or of a neighbour's: what no word found is never found by them.
// N2  The words of an answer often stand in its question only. So a message that asks gives less of its score to itself
//     than to the message after it, when someone else said that.
// N3  Of what a person said and the assistant answered, what the person said leads: an own answer counts less, and neither
//     gives to the other.

import { type MemoryEntry, placeOfId } from "../indexing/messages.ts"
import { type AttachedFact, termsOf, termsSaid, type Token } from "./tokens.ts"

interface Refinable {
  readonly owner: string
  readonly entry: MemoryEntry
  readonly facts: ReadonlyArray<AttachedFact>
  readonly lexical?: number
}

export interface Refined<A> {
  readonly candidate: A
  readonly score: number
  /** What moved it: `speaker`, `time`, `reply`, `neighbour`. */
  readonly boosts: ReadonlyArray<string>
}

/** For an entry with all words of the question, over one that has them from what was said around it only. */
const COVERAGE_SHARE = 0.4
/** Of a word that only a fact of the entry says: it is what was meant, in the words of a dream. */
const TOLD_WORD_PART = 0.5
const SPEAKER_SHARE = 0.2
/** Off a message that only asks: who asks tells little. */
const ASKING_SHARE = 0.4
/** Of the score of a message that only asks, for what replies to it. */
const REPLY_SHARE = 0.7
/** Of a neighbour's score: what follows a message is mostly about the same, what precedes it less often. */
const FOLLOWING_SHARE = 0.2
const PRECEDING_SHARE = 0.1
/** A longer sentence tells what it is about, and does not only ask. */
const ASKING_CHARACTERS = 120
/** What is left of an own answer's score: it says at length what it was asked in few words, and that is what is looked for. */
const ANSWER_PART = 0.7
/** Messages this far apart, in entries of the ledger and in time, are no neighbours any more. */
const NEIGHBOUR_ENTRIES = 6
const NEIGHBOUR_MILLIS = 6 * 3_600_000
/** So much of a text is looked at; the reasons of a hit are found in all of it. */
const READ_CHARACTERS = 2_000

// When: the time that a question names, in UTC.
// W1  It is read as English writes it; what is no date is none ("May I", "in 12 rooms"). Without a year it is the last such
//     time before the present.
// W2  It moves what belongs to that time, and what was said soon after it, and takes nothing away: only who asks with bounds
//     (`since`, `until`) is answered from within them.
// W3  "Before", "until", "after" and "since" a time mean what lies on that side of it.

/** A span of time, inclusive, in milliseconds since the epoch. */
interface Span {
  readonly since: number
  readonly until: number
}

const DAY_MILLIS = 86_400_000
/** So long after it, something is still told of. */
const TOLD_AFTER_MILLIS = 14 * DAY_MILLIS
const TIME_SHARE = 0.3
const TOLD_AFTER_PART = 0.5

const monthNames = "january february march april may june july august september october november december".split(" ")
const monthPart = `(${monthNames.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)})?`).join("|")})\\.?`
const sidePart = "before|until|till|after|since"
const yearPart = "((?:19|20)\\d\\d)"
const dayPart = "(\\d{1,2})(?:st|nd|rd|th)?"
const numbers = [
  "zero",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
  "eleven",
  "twelve"
]
const numberPart = `(\\d{1,3}|an?|${numbers.join("|")}|(?:a )?couple(?: of)?|a few)`

const monthOf = (name: string): number =>
  monthNames.findIndex((each) => each.startsWith(name.toLowerCase().slice(0, 3)))

const numberOf = (word: string): number => {
  const plain = word.toLowerCase()
  if (/^\d+$/.test(plain)) return Number(plain)
  if (plain.includes("couple")) return 2
  if (plain === "a few") return 3
  return Math.max(1, numbers.indexOf(plain))
}

const span = (since: number, end: number): Span => ({ since, until: end - 1 })
const dayAt = (year: number, month: number, day: number): Span =>
  span(Date.UTC(year, month, day), Date.UTC(year, month, day + 1))
const monthAt = (year: number, month: number): Span => span(Date.UTC(year, month), Date.UTC(year, month + 1))
const yearAt = (year: number): Span => span(Date.UTC(year, 0), Date.UTC(year + 1, 0))

/** The week from Monday on, so many weeks from the present one. */
const weekAt = (now: Date, weeks: number): Span => {
  const monday = now.getUTCDate() - ((now.getUTCDay() + 6) % 7) + 7 * weeks
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  return span(Date.UTC(year, month, monday), Date.UTC(year, month, monday + 7))
}

type Unit = "day" | "week" | "month" | "year"

/** The day, week, month or year that lies so many of them back. */
const unitAt = (unit: Unit, back: number, now: Date): Span => {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  if (unit === "day") return dayAt(year, month, now.getUTCDate() - back)
  if (unit === "week") return weekAt(now, -back)
  return unit === "month" ? monthAt(year, month - back) : yearAt(year - back)
}

/** The year in which a month was last, before the present or now. */
const lastYearOf = (month: number, now: Date): number => now.getUTCFullYear() - (month > now.getUTCMonth() ? 1 : 0)

type Groups = ReadonlyArray<string | undefined>

/** How times are written, the most exact first: what one has read the next does not read again. */
const writings: ReadonlyArray<readonly [pattern: RegExp, spanOf: (groups: Groups, now: Date) => Span]> = [
  [/\b(\d{4})-(\d\d)-(\d\d)\b/g, ([year, month, day]) => dayAt(Number(year), Number(month) - 1, Number(day))],
  [
    new RegExp(`\\b${dayPart}(?: of)? ${monthPart},? ${yearPart}\\b`, "gi"),
    ([day, month = "", year]) => dayAt(Number(year), monthOf(month), Number(day))
  ],
  [
    new RegExp(`\\b${monthPart} ${dayPart},? ${yearPart}\\b`, "gi"),
    ([month = "", day, year]) => dayAt(Number(year), monthOf(month), Number(day))
  ],
  [
    new RegExp(`\\b${monthPart}(?: of)?,? ${yearPart}\\b`, "gi"),
    ([month = "", year]) => monthAt(Number(year), monthOf(month))
  ],
  [
    new RegExp(`\\b(?:on|by|${sidePart}) (?:the )?${dayPart}(?: of)? ${monthPart}\\b`, "gi"),
    ([day, month = ""], now) => dayAt(lastYearOf(monthOf(month), now), monthOf(month), Number(day))
  ],
  [
    new RegExp(`\\b(?:on|by|${sidePart}) ${monthPart} ${dayPart}\\b`, "gi"),
    ([month = "", day], now) => dayAt(lastYearOf(monthOf(month), now), monthOf(month), Number(day))
  ],
  [
    new RegExp(`\\b(?:in|during|last|this|of|${sidePart})(?: early| late| mid)? ${monthPart}\\b`, "gi"),
    ([month = ""], now) => monthAt(lastYearOf(monthOf(month), now), monthOf(month))
  ],
  [new RegExp(`\\b(?:in|during|of|${sidePart}) ${yearPart}\\b`, "gi"), ([year]) => yearAt(Number(year))],
  [
    new RegExp(`\\b${numberPart} (day|week|month|year)s? ago\\b`, "gi"),
    ([count = "", unit], now) => unitAt(unit?.toLowerCase() as Unit, numberOf(count), now)
  ],
  [/\blast (week|month|year)\b/gi, ([unit], now) => unitAt(unit?.toLowerCase() as Unit, 1, now)],
  [/\bthis (week|month|year)\b/gi, ([unit], now) => unitAt(unit?.toLowerCase() as Unit, 0, now)],
  [/\byesterday\b/gi, (_, now) => unitAt("day", 1, now)],
  [/\btoday\b/gi, (_, now) => unitAt("day", 0, now)]
]

/** Further back than anything. */
const EARLIEST = -8_640_000_000_000_000

/** What a word before a time, or at its beginning, makes of it. */
const onSide = ({ since, until }: Span, written: string, now: number): Span => {
  const word = new RegExp(`(?:^|\\b)(${sidePart})$`, "i").exec(written)?.[1]?.toLowerCase()
  if (word === "before") return { since: EARLIEST, until: since - 1 }
  if (word === "until" || word === "till") return { since: EARLIEST, until }
  const from = word === "after" ? until + 1 : since
  return (word === "after" || word === "since") && from < now ? { since: from, until: now } : { since, until }
}

const beginning = new RegExp(`^(?:${sidePart})\\b`, "i")

/** The spans of time that a question names. */
export const whenIn = (question: string, now: number): ReadonlyArray<Span> => {
  const present = new Date(now)
  const spans: Array<Span> = []
  let rest = question.slice(0, READ_CHARACTERS)
  for (const [pattern, spanOf] of writings) {
    rest = rest.replace(pattern, (written: string, ...rest: ReadonlyArray<unknown>) => {
      // The last two arguments are the place and the whole text.
      const [at, whole] = rest.slice(-2)
      const groups = rest.slice(0, -2).map((group) => (typeof group === "string" ? group : undefined))
      const before = beginning.exec(written)?.[0] ?? String(whole).slice(0, Number(at)).trimEnd()
      spans.push(onSide(spanOf(groups, present), before, now))
      return " "
    })
  }
  return spans.filter(({ since }) => Number.isFinite(since))
}

/** How far an entry is of one of the times, 0 to 1. */
const timelinessOf = ({ at }: MemoryEntry, spans: ReadonlyArray<Span>): number => {
  if (spans.some(({ since, until }) => at >= since && at <= until)) return 1
  return spans.some(({ until }) => at > until && at <= until + TOLD_AFTER_MILLIS) ? TOLD_AFTER_PART : 0
}

/** Which share of the terms is said. */
const coverageOf = ({ entry, facts }: Refinable, terms: ReadonlySet<string>): number => {
  if (terms.size === 0) return 0
  const isLong = entry.text.length > READ_CHARACTERS
  const said = termsSaid(isLong ? { ...entry, text: entry.text.slice(0, READ_CHARACTERS) } : entry)
  const told = facts.map(({ text }) => termsOf(text))
  let count = 0
  for (const term of terms) {
    if (said.has(term)) count++
    else if (told.some((each) => each.includes(term))) count += TOLD_WORD_PART
  }
  return count / terms.size
}

const sentencePattern = /[^.!?\u3002\uff01\uff1f\n]*[\p{L}\p{N}][^.!?\u3002\uff01\uff1f\n]*([.!?\u3002\uff01\uff1f]*)/gu

/** The share of sentences that only ask. */
const askingOf = ({ kind, text }: MemoryEntry): number => {
  if (kind !== "message" || !/[?\uff1f]/.test(text)) return 0
  let sentences = 0
  let questions = 0
  for (const [sentence, end = ""] of text.slice(0, READ_CHARACTERS).matchAll(sentencePattern)) {
    sentences++
    if (/[?\uff1f]/.test(end) && sentence.length < ASKING_CHARACTERS) questions++
  }
  return sentences === 0 ? 0 : questions / sentences
}

/** The one speaker among the candidates whom the question names; undefined when it names none or several. */
const askedAbout = (candidates: ReadonlyArray<Refinable>, terms: ReadonlyArray<Token>): string | undefined => {
  const asked = new Set(terms.map(({ term }) => term))
  const named = [...new Set(candidates.flatMap(({ entry }) => entry.speaker ?? []))].filter((speaker) =>
    termsOf(speaker).some((term) => asked.has(term))
  )
  return named.length === 1 ? named[0] : undefined
}

interface Placed {
  readonly index: number
  readonly owner: string
  readonly at: number
  readonly no: number
  readonly of: number
}

const areNeighbours = (a: Placed, b: Placed): boolean =>
  a.owner === b.owner && b.no - a.no <= NEIGHBOUR_ENTRIES && Math.abs(b.at - a.at) <= NEIGHBOUR_MILLIS

/** Two messages that stand next to each other among the candidates, by their places there. */
export interface Neighbours {
  readonly earlier: number
  readonly later: number
}

/** All pairs of candidates that are neighbours. */
export const neighboursAmong = (
  candidates: ReadonlyArray<Pick<Refinable, "entry" | "owner">>
): ReadonlyArray<Neighbours> => {
  const placed = candidates
    .flatMap(({ entry, owner }, index): ReadonlyArray<Placed> => {
      const place = placeOfId(entry.id)
      return place === undefined ? [] : [{ index, owner, at: entry.at, no: place.no, of: place.index }]
    })
    .toSorted((a, b) => (a.owner === b.owner ? a.no - b.no || a.of - b.of : a.owner < b.owner ? -1 : 1))
  return placed.flatMap((later, position) => {
    const earlier = placed[position - 1]
    return earlier === undefined || !areNeighbours(earlier, later)
      ? []
      : [{ earlier: earlier.index, later: later.index }]
  })
}

/** What a candidate's words give it, and which part of it only asks. */
interface Weighed {
  readonly entry: MemoryEntry
  /** With all that it asks. */
  readonly full: number
  readonly asking: number
  readonly score: number
}

/** What stands beside a candidate adds to its score. */
interface Shares {
  reply: number
  neighbour: number
}

const sharesOf = (
  candidates: ReadonlyArray<Pick<Refinable, "entry" | "owner">>,
  weighed: ReadonlyArray<Weighed>
): ReadonlyArray<Shares> => {
  const shares = candidates.map((): Shares => ({ reply: 0, neighbour: 0 }))
  for (const { earlier, later } of neighboursAmong(candidates)) {
    const [before, after] = [weighed[earlier], weighed[later]]
    const [ofBefore, ofAfter] = [shares[earlier], shares[later]]
    if (before === undefined || after === undefined || ofBefore === undefined || ofAfter === undefined) continue
    if (before.entry.kind === "answer" || after.entry.kind === "answer") continue
    ofBefore.neighbour += PRECEDING_SHARE * after.score
    ofAfter.neighbour += FOLLOWING_SHARE * before.score
    if (before.entry.speaker !== after.entry.speaker) ofAfter.reply += REPLY_SHARE * before.full * before.asking
  }
  return shares
}

/** The candidates of a search for words with their final scores, in the order in which they came. */
export const refine = <A extends Refinable>(
  candidates: ReadonlyArray<A>,
  terms: ReadonlyArray<Token>,
  spans: ReadonlyArray<Span> = []
): ReadonlyArray<Refined<A>> => {
  const speaker = askedAbout(candidates, terms)
  const asked = new Set(terms.map(({ term }) => term))
  const isAsked = ({ entry }: A) => speaker !== undefined && entry.speaker === speaker
  const weighed = candidates.map((candidate): Weighed => {
    const { entry, lexical = 0 } = candidate
    const full = lexical * (1 + COVERAGE_SHARE * coverageOf(candidate, asked))
    const asking = askingOf(entry)
    const time = 1 + TIME_SHARE * timelinessOf(entry, spans)
    const part = entry.kind === "answer" ? ANSWER_PART : 1
    const score = part * full * (1 - ASKING_SHARE * asking) * (isAsked(candidate) ? 1 + SPEAKER_SHARE : 1) * time
    return { entry, full, asking, score }
  })
  const shares = sharesOf(candidates, weighed)
  return candidates.map((candidate, index) => {
    const { neighbour, reply } = shares[index] ?? { reply: 0, neighbour: 0 }
    return {
      candidate,
      score: (weighed[index]?.score ?? 0) + reply + neighbour,
      boosts: [
        ...(isAsked(candidate) ? ["speaker"] : []),
        ...(timelinessOf(candidate.entry, spans) > 0 ? ["time"] : []),
        ...(reply > 0 ? ["reply"] : []),
        ...(neighbour > 0 ? ["neighbour"] : [])
      ]
    }
  })
}
