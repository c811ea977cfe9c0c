// Tokens: the words of a text, as an index compares them.
// Owns where a word begins and ends, folding, and which words count; puts the two halves of stemming together.
// T1  Total: any string has tokens, a lone surrogate is none, and no token is longer than MAX_TOKEN_CHARACTERS.
// T2  Letter case, diacritics and width make no difference.
// T3  Scripts that put no spaces between words are cut into pairs of characters that overlap; one alone stands for itself.
// T4  A token has letters, marks and digits only: no separator of an index can be in it.

import { porterStem, regularStem } from "./porter.ts"
import type { MemoryEntry } from "../indexing/messages.ts"

export interface Token {
  /** What is compared: folded and stemmed. */
  readonly term: string
  /** What stands in the text. */
  readonly word: string
}

const MAX_TOKEN_CHARACTERS = 64

const wordPattern = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu
const asciiWordPattern = /[A-Za-z0-9]+/g
/** What English leaves behind an apostrophe: it says nothing, and would make a text longer. */
const contractionPattern = /(?<=\p{L})['\u2019\u02bc](?:s|t|d|m|ll|re|ve)(?![\p{L}\p{N}])/giu
// oxlint-disable-next-line no-control-regex
const asciiPattern = /^[\u0000-\u007f]*$/

const unspaced =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\p{Script=Tibetan}\u30fc"
const unspacedPattern = new RegExp(`[${unspaced}]`, "u")
const runPattern = new RegExp(`(?:[${unspaced}]\\p{M}*)+|(?:(?![${unspaced}])[^])+`, "gu")
const characterPattern = /\P{M}\p{M}*/gu

/** Letters that have no parts to take away, and what they are mostly written as. */
const plainLetters: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i"
}

const lowercased = (word: string): string =>
  word
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC")
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/[ßæœøłđðþı]/g, (letter) => plainLetters[letter] ?? letter)

/** The same few thousand words make up most of what is said. */
const KNOWN_STEMS = 20_000
const knownStems = new Map<string, string>()

const stemOf = (word: string): string => {
  const stem = regularStem(porterStem(word))
  if (knownStems.size >= KNOWN_STEMS) knownStems.clear()
  knownStems.set(word, stem)
  return stem
}

const termOf = (word: string): string => {
  const cut = word.length > MAX_TOKEN_CHARACTERS ? word.slice(0, MAX_TOKEN_CHARACTERS) : word
  const known = knownStems.get(cut)
  if (known !== undefined) return known
  return asciiPattern.test(cut) ? stemOf(cut) : cut.toWellFormed().replaceAll("\ufffd", "")
}

/** Overlapping pairs of a run without spaces. */
const pairs = (run: string): ReadonlyArray<string> => {
  const characters = run.match(characterPattern) ?? []
  if (characters.length < 2) return characters
  return characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`)
}

const tokensOfRun = (run: string): ReadonlyArray<Token> =>
  unspacedPattern.test(run)
    ? pairs(run).map((pair) => ({ term: termOf(pair), word: pair }))
    : [{ term: termOf(run), word: run }]

/** Folding may bring forth spaces and single marks, so words are looked for again. */
const tokensOfWord = (word: string): ReadonlyArray<Token> =>
  (lowercased(word).match(wordPattern) ?? []).flatMap((part) =>
    unspacedPattern.test(part) ? (part.match(runPattern) ?? []).flatMap(tokensOfRun) : [{ term: termOf(part), word }]
  )

/** The tokens of a text, in their order. */
export const tokensOf = (text: string): ReadonlyArray<Token> => {
  const bare = text.replace(contractionPattern, "")
  if (asciiPattern.test(bare)) {
    return (bare.match(asciiWordPattern) ?? []).map((word) => ({ term: termOf(word.toLowerCase()), word }))
  }
  return (bare.match(wordPattern) ?? []).flatMap(tokensOfWord)
}

/** Lines that were read last: what is said is reported to an index again, as what was said around the next. */
const KNOWN_LINES = 4_000
const MAX_KNOWN_CHARACTERS = 400
const knownLines = new Map<string, ReadonlyArray<string>>()

const termsIn = (line: string): ReadonlyArray<string> => {
  const bare = line.includes("'") ? line.replace(contractionPattern, "") : line
  // Most of what is said; no more is made of it than is asked for.
  if (asciiPattern.test(bare)) return (bare.toLowerCase().match(asciiWordPattern) ?? []).map(termOf)
  return tokensOf(line).map(({ term }) => term)
}

const termsOfLine = (line: string): ReadonlyArray<string> => {
  if (line.length > MAX_KNOWN_CHARACTERS) return termsIn(line)
  const known = knownLines.get(line)
  if (known !== undefined) return known
  const terms = termsIn(line)
  if (knownLines.size >= KNOWN_LINES) knownLines.clear()
  knownLines.set(line, terms)
  return terms
}

/** The terms of a text, in their order and as often as they stand there. */
export const termsOf = (text: string): ReadonlyArray<string> =>
  text.includes("\n") ? text.split("\n").flatMap(termsOfLine) : termsOfLine(text)

// Weights: how much a term says about an entry, and how much it says at all.
// W1  What a term weighs in an entry follows from that entry alone, so it can be written down once.
// W2  The score of an entry is the sum, over the terms of the question, of rarity times weight.

/** How fast a term that comes again stops saying more. */
const K1 = 1.2
/** How much a long entry is marked down. */
const B = 0.75
/** Terms of a usual entry with what was said around it. A constant, so that W1 holds. */
const USUAL_LENGTH = 100

/** Terms of what was said around it that make an entry longer: beside the long answers of a chat short messages would be lost. */
const MOST_AROUND = 220

/** What a term counts by the field it stands in. A fact says again what its entry says: it counts for a little less, and makes it no longer. */
const fieldWeights = { body: 1, context: 0.4, facts: 0.85 } as const

/** The terms of an entry, field by field, in any order and as often as they stand there. */
export interface Fields {
  readonly body: ReadonlyArray<string>
  readonly context: ReadonlyArray<string>
  readonly facts: ReadonlyArray<string>
}

/** What a term weighs that is counted so often, by the weights of its fields, in so long an entry. */
const weightOf = (count: number, length: number): number =>
  (count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / USUAL_LENGTH))

/** Each term of an entry with its weight. */
export const termWeights = ({ body, context, facts }: Fields): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  const count = (terms: ReadonlyArray<string>, weight: number): void => {
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + weight)
  }
  count(body, fieldWeights.body)
  count(context, fieldWeights.context)
  count(facts, fieldWeights.facts)
  const length = body.length + Math.min(context.length, MOST_AROUND)
  for (const [term, counted] of counts) counts.set(term, weightOf(counted, length))
  return counts
}

// WeightClass: how much a term weighs in an entry, in one of a few steps.
// W1  A weight comes back as that of its class, at most a fifteenth off.
// W2  Every index keeps the weights of classes: one question finds the same in each, in the same order.

/** No weight is below the first, none above the last. */
const LEAST = 0.05
const MOST = 2.2
const CLASSES = 36
const STEP = Math.log(MOST / LEAST) / (CLASSES - 1)

export const classOf = (weight: number): number =>
  Math.min(Math.max(Math.round(Math.log(weight / LEAST) / STEP), 0), CLASSES - 1)

export const classWeights: ReadonlyArray<number> = Array.from(
  { length: CLASSES },
  (_, index) => LEAST * Math.exp(index * STEP)
)

/** Each term of an entry with the weight that an index keeps of it. */
export const indexWeights = (fields: Fields): ReadonlyMap<string, number> =>
  new Map([...termWeights(fields)].map(([term, weight]) => [term, classWeights[classOf(weight)] ?? weight] as const))

/** How much a term says that is in so many of so many entries: BM25's idf, never below 0. */
export const rarity = (entries: number, having: number): number =>
  Math.log((entries - having + 0.5) / (having + 0.5) + 1)

// Terms: what a question asks for, and what an entry says, as an index learns it.
// T1  A question keeps its stop words only when nothing else is left of it.
// T2  However long a question is, it has at most MAX_QUERY_TERMS terms, each once.

// StopWords: words of a question that find everything and therefore nothing.

const words = `
a about above after again against all also am an and any are as at be because been before being below between both but
by can could did do does doing done down during each either else ever every few for from further get gets getting got
had has have having he her here hers herself him himself his how i if in into is it its itself just let lets me might
more most much must my myself no nor not now of off on once one only onto or other ought our ours ourselves out over own
per please rather really s same shall she should since so some such t than that the their theirs them themselves then
there these they this those though through till to too under until up upon us very was we were what whatever when where
whether which while who whoever whom whose why will with within without would yes yet you your yours yourself yourselves
d ll m re ve don didn doesn isn wasn weren aren hasn haven hadn won wouldn couldn shouldn mustn ain tell
`

/** As terms: folded and stemmed. */
export const stopTerms: ReadonlySet<string> = new Set(termsOf(words))

export const MAX_QUERY_TERMS = 64

/** A question of this length has said what it is about; the rest is not read. */
const MAX_QUERY_CHARACTERS = 8_192

/** The terms of a question, each with the word by which it came in first. */
export const queryTerms = (text: string): ReadonlyArray<Token> => {
  const byTerm = new Map<string, Token>()
  for (const token of tokensOf(text.slice(0, MAX_QUERY_CHARACTERS))) {
    if (!byTerm.has(token.term)) byTerm.set(token.term, token)
  }
  const all = [...byTerm.values()]
  const telling = all.filter(({ term }) => !stopTerms.has(term))
  return (telling.length > 0 ? telling : all).slice(0, MAX_QUERY_TERMS)
}

const months = "January February March April May June July August September October November December".split(" ")

/** A day in words, so that a question for a day, a month or a year finds it: "8 May 2023", in UTC. */
export const dayInWords = (at: number): string => {
  const day = new Date(at)
  if (Number.isNaN(day.getTime())) return ""
  return `${day.getUTCDate()} ${months[day.getUTCMonth()] ?? ""} ${day.getUTCFullYear()}`
}

/** What an entry says: who said it, what, when, and what it is about as far as its text does not say so. */
export const bodyOf = ({ at, entities, speaker = "", tags, text }: MemoryEntry): string =>
  [speaker, text, dayInWords(at), ...[...entities, ...tags].filter((name) => !text.includes(name))]
    .filter((part) => part !== "")
    .join("\n")

const said = new WeakMap<MemoryEntry, ReadonlySet<string>>()

/** The terms of what an entry says, without what was said around it. They are asked for several times for each question. */
export const termsSaid = (entry: MemoryEntry): ReadonlySet<string> => {
  const known = said.get(entry)
  if (known !== undefined) return known
  const terms = new Set(termsOf(bodyOf(entry)))
  said.set(entry, terms)
  return terms
}

/** An entry without what was said around it. */
export const withoutContext = (entry: MemoryEntry): MemoryEntry => {
  if (entry.context === undefined) return entry
  const { context: _, ...bare } = entry
  said.set(bare, termsSaid(entry))
  return bare
}

/** What an entry means, for an embedder: who said what. */
export const meaningOf = ({ speaker, text }: Pick<MemoryEntry, "speaker" | "text">): string =>
  speaker === undefined ? text : `${speaker}: ${text}`

/** A fact that is attached to an entry. */
export interface AttachedFact {
  readonly id: string
  readonly text: string
}

/** The terms of an entry and of the facts that are attached to it, as an index holds them. */
export const fieldsOf = (entry: MemoryEntry, facts: ReadonlyArray<AttachedFact> = []): Fields => ({
  body: termsOf(bodyOf(entry)),
  context: termsOf(entry.context ?? ""),
  facts: facts.flatMap(({ text }) => termsOf(text))
})
