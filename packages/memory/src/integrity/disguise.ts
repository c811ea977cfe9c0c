// Disguise: the plain readings of a text that was written so as not to be recognised.
// Owns undoing look-alike letters, styled letters, digits for letters, letters set apart and base64. Leaves judging the
// readings to instruction.ts; nobody ever shows or keeps one.
// D1  The first reading is the text itself, folded: lower case, no accents, one kind of quotation mark,
//     no blank lines.
// D2  Further readings are made only of what looks disguised, so that plain text costs one.

import { cleanText } from "./clean-text.ts"

/** Cyrillic and Greek letters that look like Latin ones, lower case. */
const lookAlikes: Readonly<Record<string, string>> = {
  а: "a",
  в: "b",
  е: "e",
  к: "k",
  м: "m",
  н: "h",
  о: "o",
  р: "p",
  с: "c",
  т: "t",
  у: "y",
  х: "x",
  ѕ: "s",
  і: "i",
  ј: "j",
  ԁ: "d",
  ո: "n",
  α: "a",
  ε: "e",
  ι: "i",
  κ: "k",
  ν: "v",
  ο: "o",
  ρ: "p",
  τ: "t",
  υ: "u",
  ɡ: "g",
  ɩ: "i",
  ı: "i"
}
const lookAlike = new RegExp(`[${Object.keys(lookAlikes).join("")}]`, "gu")

const lettersOf = (text: string): string =>
  cleanText(text)
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/ß/g, "ss")
    .replace(lookAlike, (letter) => lookAlikes[letter] ?? letter)
    .replace(/[\u2018\u2019\u02bc`´]/g, "'")
    .replace(/[\u201c\u201d\u201e«»]/g, '"')
    .replace(/[\u2010-\u2015]/g, "-")

const spaced = (text: string): string => text.replace(/[^\S\n]+/g, " ").replace(/ ?\n[ \n]*/g, "\n")

const lettersOfDigits: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s"
}
/** A word with letters and, between or before them, what stands for one. It is looked for where a word begins, and only there. */
const digitWord = /(?<![a-z013457@$])(?=[a-z013457@$]*[a-z])(?=[a-z]*[013457@$])[a-z013457@$]{4,}/g

const withoutDigits = (text: string): string =>
  text.replace(digitWord, (word) => word.replace(/[013457@$]/g, (digit) => lettersOfDigits[digit] ?? digit))

/** Single letters, set apart by one sign each: `i g n o r e`, `i.g.n.o.r.e`. A wider gap ends the word. */
const apart = /(?<![a-z])[a-z](?:[ .\-_*|][a-z](?![a-z])){3,}/g
const letterGap = /[ .\-_*|]/g

const drawnTogether = (text: string): string => text.replace(apart, (letters) => letters.replace(letterGap, ""))

/** From 24 characters on, which are 18 bytes: no shorter instruction is worth the trouble. */
const base64 = /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{24,4000}={0,2}/g
const printable = /^[\t\n\r -~]+$/

const decoded = (text: string): ReadonlyArray<string> =>
  (text.match(base64) ?? []).slice(0, 16).flatMap((run) => {
    const bytes = atob(run.replace(/=+$/, "").slice(0, run.replace(/=+$/, "").length & ~3))
    return printable.test(bytes) && bytes.includes(" ") ? [spaced(lettersOf(bytes))] : []
  })

/** What is looked for in any text: each takes time in proportion to its length. */
export const readingPatterns: ReadonlyArray<RegExp> = [digitWord, apart, base64]

/** The readings of a text, folded, the plain one first. */
export const readingsOf = (text: string): ReadonlyArray<string> => {
  const letters = lettersOf(text)
  const undigited = withoutDigits(letters)
  return [...new Set([letters, undigited, drawnTogether(undigited)].map(spaced)), ...decoded(text)]
}
