// Names: whom and what a text is about.
// Owns telling a name from a word that only begins a sentence. English only.
// N1  A name is what is written large in the middle of a sentence; at its beginning only when it is known already.

import { monthNames, weekdayNames } from "./grammar.ts"

const calendar: ReadonlySet<string> = new Set([...monthNames, ...weekdayNames])
const namePattern = /\p{Lu}[\p{L}\p{N}&+-]*(?:['’]\p{L}{2,})?(?:\s+\p{Lu}[\p{L}\p{N}&+-]*)*/gu
const MAX_NAMES = 8

const isName = (name: string): boolean => name.length > 1 && !/^I\b/.test(name) && !calendar.has(name.toLowerCase())

/** A word that begins the text, a sentence or a quotation. */
const begins = (text: string, at: number): boolean =>
  /(?:^|[.!?:;"“(\n]\s*|[-–—]\s+)$/u.test(text.slice(Math.max(0, at - 4), at))

/** The names in a text, each once, in their order; `known` ones also where they begin a sentence. */
export const namesIn = (text: string, known: ReadonlyArray<string> = []): ReadonlyArray<string> => {
  const names = new Set(known.filter((name) => name !== "" && text.includes(name)))
  for (const { 0: found, index } of text.matchAll(namePattern)) {
    const name = begins(text, index) ? found.split(/\s+/).slice(1).join(" ") : found
    if (isName(name)) names.add(name)
    if (names.size >= MAX_NAMES) break
  }
  return [...names]
}
