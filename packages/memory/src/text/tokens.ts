// Tokens: the words of a text, as an index compares them.
// Owns where a word begins and ends, and folding; puts the two halves of stemming together. Leaves which words count to `terms.ts`.
// T1  Total: any string has tokens, a lone surrogate is none, and no token is longer than MAX_TOKEN_CHARACTERS.
// T2  Letter case, diacritics and width make no difference.
// T3  Scripts that put no spaces between words are cut into pairs of characters that overlap; one alone stands for itself.
// T4  A token has letters, marks and digits only: no separator of an index can be in it.

import { regularStem } from "./irregular.ts"
import { porterStem } from "./porter.ts"

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

/** Lines that were read last: what is said is told to an index again, as what was said around the next. */
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
