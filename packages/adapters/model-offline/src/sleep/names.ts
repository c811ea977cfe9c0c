// Names: whom and what a text is about.
// Owns finding them by how they are written. English only. Leaves what is known of whom to memory.
// N1  A name is what is written large in the middle of a sentence; a single word at its beginning only when it is known from
//     elsewhere.
// N2  A part of a name is none: neither the ship in "Captain Mara of the Heron", where someone is called so, nor Merrow in
//     "the Duchess of Merrow".

import { grammarWords, isAdverb, isPast, modals, monthNames, pronouns, weekdayNames } from "./grammar.ts"

const calendar: ReadonlySet<string> = new Set([...monthNames, ...weekdayNames])
const capitals = "\\p{Lu}[\\p{L}\\p{N}&+-]*"
const namePattern = new RegExp(`${capitals}(?:['’]\\p{L}{2,})?(?:\\s+(?:of\\s+(?:the\\s+)?)?${capitals})*`, "gu")
const MAX_NAMES = 8

const isName = (name: string): boolean => name.length > 1 && !/^I\b/.test(name) && !calendar.has(name.toLowerCase())

/** A word that begins the text, a sentence or a quotation. */
const begins = (text: string, at: number): boolean =>
  /(?:^|[.!?:;"“(\n]\s*|[-–—]\s+)$/u.test(text.slice(Math.max(0, at - 4), at))

/** Two words or more, of which the first would not be written large for another reason than that it begins. */
const isNamed = (found: string): boolean => {
  const [first = "", ...others] = found.toLowerCase().split(/\s+/)
  if (
    others.length === 0 ||
    others.some((word) => calendar.has(word)) ||
    first.endsWith("ing") ||
    isPast(first) ||
    isAdverb(first)
  )
    return false
  return ![grammarWords, pronouns, calendar].some((words) => words.has(first))
}

/** Where it stands as a whole, and no longer name begins or ends with it. */
export const wholeName = (name: string): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}])${name.replace(/[^\p{L}\p{N} ]/gu, ".")}(?![\\p{L}\\p{N}])`, "gu")

/** The text without one who speaks under that name, where it is meant. */
const withoutCalled = (text: string, name: string): string => {
  const large = name.charAt(0).toUpperCase() + name.slice(1)
  const isWord = [grammarWords, pronouns, modals].some((words) => words.has(name)) || isPast(name) || isAdverb(name)
  if (!text.includes(name) && !text.includes(large)) return text
  // A small letter begins a statement only where it is a name.
  const exact = isWord ? new RegExp(`^${wholeName(name).source}`, "u") : wholeName(name)
  return text.replace(exact, "_").replace(wholeName(large), "_")
}

/** The names in a text, each once, in their order: of the people in it first. Others that are known count where they begin a sentence, too. */
export const namesIn = (
  text: string,
  people: ReadonlyArray<string> = [],
  known: ReadonlySet<string> = new Set()
): ReadonlyArray<string> => {
  const names = new Set<string>()
  let rest = text
  for (const name of people.toSorted((a, b) => b.length - a.length)) {
    const without = name === "" ? rest : withoutCalled(rest, name)
    if (without !== rest) names.add(name)
    rest = without
  }
  for (const { 0: found, index } of rest.matchAll(namePattern)) {
    const isWhole = !begins(rest, index) || known.has(found) || isNamed(found)
    const name = isWhole ? found : found.replace(/^\S+\s*(?:of\s+(?:the\s+)?)?/, "")
    if (isName(name)) names.add(name)
    if (names.size >= MAX_NAMES) break
  }
  return [...names]
}
