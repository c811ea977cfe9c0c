// Sentences: what was said, to be found where it was repeated.
// Owns where a sentence begins and ends, and how it is taken out of a text. Leaves which sentences to forgotten-ticks.ts.

import { lowered } from "../hushing.ts"
import type { Sought } from "../forgetting.ts"

/** A shorter sentence is said by many, of many things. */
const MIN_SENTENCE_CHARS = 12

/** What is known of someone stands in a prompt between dashes, with its day in brackets. The Greek question mark composes to ";". */
const BETWEEN = /[.:!?\n\r"\u201c\u201d\u201e;\u037e]+| - | \(/

export const sentencesOf = (text: string): ReadonlyArray<string> =>
  text
    .split(BETWEEN)
    .map((each) => lowered(each))
    .filter((each) => each.length >= MIN_SENTENCE_CHARS && each.includes(" "))

const mapped = (text: string, isMeant: (sentence: string) => boolean, change: (sentence: string) => string): string =>
  text
    .split(new RegExp(`(${BETWEEN.source})`))
    .map((each) => (isMeant(lowered(each)) ? change(each) : each))
    .join("")

/** A text with a space for each of its signs. */
export const blank = (text: string): string => text.replaceAll(/\S/gu, " ")

/** A text in which sentences are blank. */
export const blankSentences = (isMeant: (sentence: string) => boolean, text: string): string =>
  mapped(text, isMeant, blank)

export const sentences = (said: ReadonlySet<string>): Sought => ({
  isIn: (text) => text.length >= MIN_SENTENCE_CHARS && sentencesOf(text).some((each) => said.has(each)),
  cut: (text) =>
    mapped(
      text,
      (each) => said.has(each),
      () => "\u2026"
    ),
  spares: (value) => value["role"] === "user" || value["kind"] === "envelope"
})
