// Retained: what is left of the details of messages that were compacted.
// Owns finding the details, and where each stands now. Leaves what recall searches, and reading the messages, to others.
// R1  Each detail is in exactly one of three places: the summary, memory, nowhere. What stands in both stands in the summary.
// R2  A detail stands once, with the first message that says it; it is found in what people and the assistant said, not in results.
// R3  More in a summary or in memory loses no detail that stood there.
// R4  A number or a date stands in a text in whatever notation: 1,200 is 1200, 6 March is March 6; a date of another year is another one.
// R5  The tokens of the parts of a window, before and after, make up what the record of the compaction counted.

import { type Fact, messageId, queryTerms, termsOf } from "@reverie/memory"
import { defined, type PlacedMessage } from "@reverie/protocol"
import type { Compaction } from "./record.ts"

/** A fact that was learnt of the messages, or a name, a number or a date that stands in one. */
export interface RetainedDetail {
  /** A fact was learnt; the others stand in the message. */
  readonly kind: "fact" | "name" | "number" | "date"
  /** As the message or the fact says it. */
  readonly text: string
  /** The message that says it, the first of them: `m/12/0`. */
  readonly message: string
  /** Where it stands in memory, as recall names it: `f/fact_12_0`. */
  readonly memory?: string
}

/** Where the details of compacted messages stand, each list in the order in which they were said. */
export interface Retained {
  /** What the summary says. */
  readonly inSummary: ReadonlyArray<RetainedDetail>
  /** Not in the summary, and found by recall. */
  readonly inMemory: ReadonlyArray<RetainedDetail>
  /** In neither. The messages themselves stay in the ledger. */
  readonly lost: ReadonlyArray<RetainedDetail>
}

// Notation: words, numbers and dates of a text.

interface Day {
  readonly year: string | undefined
  readonly month: number
  readonly day: number
  readonly text: string
}

const monthNames = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ")
const month = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\\.?"
const dayOfMonth = "(\\d{1,2})(?:st|nd|rd|th)?(?!\\d)"
/** A day, alone or in the stamp of a machine, whose seconds no one has said. */
const isoDay = /(?<!\d)(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?(?!\d)/g
const ISO_DAY_CHARS = 10
const dayFirst = new RegExp(`(?<![\\d.,])${dayOfMonth}\\s+(?:of\\s+)?${month}(?![a-z])(?:,?\\s+(\\d{4})(?!\\d))?`, "gi")
const monthFirst = new RegExp(`(?<![\\p{L}\\d])${month}\\s+${dayOfMonth}(?:,?\\s+(\\d{4})(?!\\d))?`, "giu")
const numberPattern = /(?<![\p{L}\d_])\d+(?:[.,:]\d+)*/gu
const wordPattern = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’-]*/gu

const monthOf = (name: string): number => monthNames.indexOf(name.slice(0, 3).toLowerCase()) + 1

/** The dates of a text, and the text without them. */
const daysIn = (text: string): { readonly days: ReadonlyArray<Day>; readonly rest: string } => {
  const days: Array<Day> = []
  const note = (whole: string, year: string | undefined, named: number, day: number): string => {
    if (named < 1 || named > 12 || day < 1 || day > 31) return whole
    days.push({ year, month: named, day, text: whole })
    return " . "
  }
  const rest = text
    .replace(isoDay, (whole, year: string, named: string, day: string, time?: string, seconds?: string) => {
      const noted = note(whole.slice(0, ISO_DAY_CHARS), year, Number(named), Number(day))
      return time === undefined || seconds !== undefined ? noted : `${noted}${time}`
    })
    .replace(dayFirst, (whole, day: string, named: string, year?: string) =>
      note(whole, year, monthOf(named), Number(day))
    )
    .replace(monthFirst, (whole, named: string, day: string, year?: string) =>
      note(whole, year, monthOf(named), Number(day))
    )
  return { days, rest }
}

const numberWords = "zero one two three four five six seven eight nine ten eleven twelve".split(" ")

/** 1,200 and 1200.0 are 1200; a time stays one. */
const canonical = (number: string): string => {
  const plain = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(number) ? number.replaceAll(",", "") : number
  return /^\d+(?:\.\d+)?$/.test(plain) && plain.length <= 15 ? String(Number(plain)) : plain
}

const bareWord = (word: string): string =>
  word
    .normalize("NFKC")
    .toLowerCase()
    .replace(/['’]s?$/u, "")

const wordsOf = (text: string): ReadonlyArray<string> => (text.match(wordPattern) ?? []).map(bareWord)

const calendarWords: ReadonlySet<string> = new Set(
  (
    "january february march april may june july august september october november december " +
    "monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday i i'm i'll i've i'd ok"
  ).split(" ")
)

const namePattern = /\p{Lu}[\p{L}\p{N}\p{M}'’-]*(?:[ \t]+\p{Lu}[\p{L}\p{N}\p{M}'’-]*)*/gu
const sentenceStart = /(?:^|[.!?:;\n"“”()[\]*#>•-])\s*$/u

/** Runs of capitalised words, and whether each begins a sentence. */
const runsIn = (text: string) =>
  [...text.matchAll(namePattern)].map((match) => ({
    words: match[0].split(/[ \t]+/).filter((word) => !calendarWords.has(bareWord(word))),
    isFirst: sentenceStart.test(text.slice(0, match.index))
  }))

/** What is known of names beforehand: a word that begins a sentence is a name only where it is known as one. */
interface Names {
  readonly known: ReadonlySet<string>
  readonly common: ReadonlySet<string>
}

const namesIn = (text: string, { common, known }: Names): ReadonlyArray<string> =>
  runsIn(text).flatMap(({ isFirst, words }) => {
    const [first = "", ...others] = words
    const named = isFirst && !known.has(bareWord(first)) ? others : words
    const [only = ""] = named
    const isCommon = named.length === 1 && common.has(bareWord(only)) && !known.has(bareWord(only))
    return named.length === 0 || isCommon || bareWord(only).length < 2 ? [] : [named.join(" ").replace(/['’]s?$/u, "")]
  })

// Holding: what stands in a text.

interface Holding {
  readonly id?: string
  readonly days: ReadonlyArray<Day>
  readonly numbers: ReadonlySet<string>
  readonly words: ReadonlySet<string>
  readonly terms: ReadonlySet<string>
}

const holdingOf = (text: string, id?: string): Holding => {
  const { days, rest } = daysIn(text)
  const words = new Set(wordsOf(text))
  const spelt = numberWords.flatMap((word, number) => (words.has(word) ? [String(number)] : []))
  const numbers = new Set([...(rest.match(numberPattern) ?? []).map(canonical), ...spelt])
  return { days, numbers, words, terms: new Set(termsOf(text)), ...defined({ id }) }
}

type Asked =
  | { readonly kind: "name"; readonly text: string; readonly words: ReadonlyArray<string> }
  | { readonly kind: "number"; readonly text: string; readonly number: string }
  | { readonly kind: "date"; readonly text: string; readonly day: Day }

const keyOf = (asked: Asked): string => {
  switch (asked.kind) {
    case "name":
      return `name ${asked.words.join(" ")}`
    case "number":
      return `number ${asked.number}`
    case "date":
      return `date ${asked.day.year ?? ""} ${asked.day.month} ${asked.day.day}`
  }
}

const holds = ({ days, numbers, words }: Holding, asked: Asked): boolean => {
  switch (asked.kind) {
    case "name":
      return asked.words.every((word) => words.has(word))
    case "number":
      return numbers.has(asked.number)
    case "date": {
      const { day, month: named, year } = asked.day
      return days.some((other) => other.day === day && other.month === named && (year ?? other.year) === other.year)
    }
  }
}

const detailsIn = (text: string, names: Names): ReadonlyArray<Asked> => {
  const { days, rest } = daysIn(text)
  return [
    ...namesIn(rest, names).map((name): Asked => ({ kind: "name", text: name, words: wordsOf(name) })),
    ...(rest.match(numberPattern) ?? []).map((each): Asked => ({
      kind: "number",
      text: each,
      number: canonical(each)
    })),
    ...days.map((day): Asked => ({ kind: "date", text: day.text, day }))
  ]
}

/** Of the words of a fact, so many must stand in a text that says it, and every name, number and date of it. */
const SAID_SHARE = 0.6

const saysFact = (holding: Holding, text: string, names: Names): boolean => {
  const terms = queryTerms(text).map(({ term }) => term)
  const said = terms.filter((term) => holding.terms.has(term)).length
  return said >= terms.length * SAID_SHARE && detailsIn(text, names).every((asked) => holds(holding, asked))
}

export interface RetainedInput {
  readonly compacted: ReadonlyArray<PlacedMessage>
  readonly summary: string
  /** Everything that the assistant knows; those that were learnt of the compacted messages count. */
  readonly facts: ReadonlyArray<Fact>
  /** What recall searches besides messages and this summary, as it names each. */
  readonly memories: ReadonlyArray<{ readonly id: string; readonly text: string }>
}

const isSaid = ({ message }: PlacedMessage): boolean => message.role === "user" || message.role === "assistant"

const namesKnown = (said: ReadonlyArray<PlacedMessage>, facts: ReadonlyArray<Fact>): Names => {
  const texts = said.map(({ message }) => message.content)
  const known = [
    ...texts.flatMap(runsIn).flatMap(({ isFirst, words }) => (isFirst ? words.slice(1) : words)),
    ...facts.flatMap(({ entities }) => entities),
    ...said.flatMap(({ message }) => message.name ?? [])
  ].flatMap(wordsOf)
  const common = texts.flatMap((text) => text.match(/(?<![\p{L}\p{N}])\p{Ll}[\p{L}\p{M}'’-]*/gu) ?? []).map(bareWord)
  return { known: new Set(known), common: new Set(common) }
}

/** Facts that hold, or wait, and came of these messages, each with the first of them. */
const factsOfThem = (said: ReadonlyArray<PlacedMessage>, facts: ReadonlyArray<Fact>) => {
  const at = new Map(said.map(({ place }, index) => [messageId(place), index] as const))
  return facts
    .filter(({ state }) => state !== "superseded" && state !== "retired")
    .flatMap((fact) => {
      const places = fact.sources.flatMap((source) => at.get(source) ?? [])
      return places.length === 0 ? [] : [{ fact, index: Math.min(...places) }]
    })
    .toSorted((a, b) => a.index - b.index)
}

/** Where the details of compacted messages stand now. */
export const retained = ({ compacted, facts, memories, summary }: RetainedInput): Retained => {
  const lists = {
    inSummary: new Array<RetainedDetail>(),
    inMemory: new Array<RetainedDetail>(),
    lost: new Array<RetainedDetail>()
  }
  const ofSummary = holdingOf(summary)
  const ofMemory = memories.map(({ id, text }) => holdingOf(text, id))
  const known = new Set(memories.map(({ id }) => id))
  const names = namesKnown(compacted, facts)
  const file = (detail: RetainedDetail, isInSummary: boolean, memory: string | undefined): void => {
    const list = isInSummary ? lists.inSummary : memory === undefined ? lists.lost : lists.inMemory
    list.push(isInSummary ? detail : { ...detail, ...defined({ memory }) })
  }
  // What was learnt twice stands once, and is not lost where one of both is found.
  for (const [text, same] of Map.groupBy(factsOfThem(compacted, facts), ({ fact }) => fact.text)) {
    const place = compacted[same[0]?.index ?? -1]?.place
    if (place === undefined) continue
    const memory = same.map(({ fact }) => `f/${fact.id}`).find((id) => known.has(id))
    file({ kind: "fact", text, message: messageId(place) }, saysFact(ofSummary, text, names), memory)
  }
  const seen = new Set<string>()
  for (const { message, place } of compacted.filter(isSaid)) {
    for (const asked of detailsIn(message.content, names)) {
      const key = keyOf(asked)
      if (seen.has(key)) continue
      seen.add(key)
      const detail: RetainedDetail = { kind: asked.kind, text: asked.text, message: messageId(place) }
      const memory = ofMemory.find((each) => holds(each, asked))?.id
      file(detail, holds(ofSummary, asked), memory)
    }
  }
  return lists
}

/** The tokens of one part of a window, before and after a compaction. */
export interface WindowPart {
  /** summary: what stands for compacted messages. left: messages of this role that left. kept: messages that stayed. */
  readonly part: "summary" | "left" | "kept"
  /** Of the messages that left; not there for the other parts. */
  readonly role?: PlacedMessage["message"]["role"]
  /** How many messages there are. */
  readonly messages: number
  /** Its tokens before the compaction. */
  readonly before: number
  /** Its tokens after the compaction. */
  readonly after: number
}

/** The window before and after, part by part; those that hold nothing are left out. */
export const windowParts = (
  { after, before, marker, preserved_count: kept }: Compaction,
  compacted: ReadonlyArray<PlacedMessage>
): ReadonlyArray<WindowPart> => {
  const stood = after.tokens - marker.tokens
  const roles = [...new Set(compacted.map(({ message }) => message.role))]
  const left = roles.map((role): WindowPart => {
    const those = compacted.filter(({ message }) => message.role === role)
    const tokens = those.reduce((sum, { message }) => sum + message.tokens, 0)
    return { part: "left", role, messages: those.length, before: tokens, after: 0 }
  })
  const parts: ReadonlyArray<WindowPart> = [
    { part: "summary", messages: 1, before: before.start?.marker.tokens ?? 0, after: marker.tokens },
    ...left,
    { part: "kept", messages: kept, before: stood, after: stood }
  ]
  return parts.filter((part) => part.messages > 0)
}
