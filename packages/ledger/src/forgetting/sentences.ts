// Sentences: what was said, to be found where it was repeated.
// Owns where a sentence begins and ends, and how it is taken out of a text. Leaves which sentences to forgotten-ticks.ts.

import { lowered } from "./hushing.ts"
import type { Sought } from "./forgetting.ts"

/** A shorter sentence is said by many, of many things. */
const MIN_SENTENCE_CHARS = 12

/** What is known of someone stands in a prompt between dashes, with its day in brackets. */
const BETWEEN = /[.:!?\n\r"\u201c\u201d\u201e;]+| - | \(/

export const sentencesOf = (text: string): ReadonlyArray<string> =>
  text
    .split(BETWEEN)
    .map((each) => lowered(each))
    .filter((each) => each.length >= MIN_SENTENCE_CHARS && each.includes(" "))

export const sentences = (said: ReadonlySet<string>): Sought => ({
  isIn: (text) => text.length >= MIN_SENTENCE_CHARS && sentencesOf(text).some((each) => said.has(each)),
  cut: (text) =>
    text
      .split(new RegExp(`(${BETWEEN.source})`))
      .map((each) => (said.has(lowered(each)) ? "\u2026" : each))
      .join(""),
  spares: (value) => value["role"] === "user" || value["kind"] === "envelope"
})
