// Anchored: what a question asks to lie before or after something that happened ("before the trip").
// Owns reading what happened from the question, and when that was from what was found. Leaves dates to refine.ts, and the order to rounds.ts.
// A1  When it was is known from those who speak of it: what says most of its words. Where none does, nothing is moved.
// A2  In doubt a hit lies on the side that is asked for: before the last who speaks of it, after the first. What speaks of it
//     itself lies on both, for it may tell the rest as well.
// A3  It moves, and takes nothing away.

import type { Hit } from "../recall.ts"
import { whenIn } from "./refine.ts"
import { queryTerms, termsSaid } from "./tokens.ts"

/** What lies where it is asked for, over what does not. */
export const SIDE_SHARE = 0.3
/** Of what lies there, but far away. */
const FAR_PART = 0.5
const NEAR_MILLIS = 30 * 86_400_000
/** The share of the words, by their rarity, of who speaks of it. */
const SPOKEN_OF = 0.6
/** Words that tell what happened. */
const MAX_TERMS = 5

type Side = "before" | "after"

const sides: Readonly<Record<string, Side>> = {
  before: "before",
  until: "before",
  till: "before",
  "prior to": "before",
  after: "after",
  since: "after",
  following: "after"
}

const asked =
  /\b(before|until|till|prior to|after|since|following)\s+((?:[\p{L}\p{N}'’-]+\s+){0,7}?[\p{L}\p{N}'’-]+)\s*(?=[?.,;:!]|$)/iu

interface Event {
  readonly side: Side
  readonly terms: ReadonlyArray<string>
}

const eventIn = (question: string, now: number): Event | undefined => {
  const [, word = "", phrase = ""] = asked.exec(question) ?? []
  const side = sides[word.toLowerCase()]
  if (side === undefined || whenIn(`${word} ${phrase}`, now).length > 0) return undefined
  const terms = queryTerms(phrase).map(({ term }) => term)
  return terms.length === 0 ? undefined : { side, terms: terms.slice(0, MAX_TERMS) }
}

/** When those who speak of it did. */
const timesOf = ({ terms }: Event, hits: ReadonlyArray<Hit>): ReadonlyArray<number> => {
  const said = hits.map(({ entry }) => termsSaid(entry))
  const weighed = terms.map((term) => {
    const having = said.filter((words) => words.has(term)).length
    return { term, weight: Math.log(1 + hits.length / (1 + having)) }
  })
  const all = weighed.reduce((sum, { weight }) => sum + weight, 0) || 1
  const parts = said.map((words) => weighed.reduce((sum, { term, weight }) => sum + (words.has(term) ? weight : 0), 0))
  const most = Math.max(0, ...parts)
  return most / all < SPOKEN_OF ? [] : hits.flatMap(({ entry }, at) => (parts[at] === most ? [entry.at] : []))
}

const fitOf = (side: Side, times: ReadonlyArray<number>, at: number): number => {
  const away = side === "before" ? Math.max(...times) - at : at - Math.min(...times)
  if (away < 0) return 0
  return away <= NEAR_MILLIS ? 1 : FAR_PART
}

/** How far each hit lies where the question asks, 0 to 1; undefined where it asks for no such thing, or it is not known when that was. */
export const sidedness = (
  question: string,
  now: number,
  hits: ReadonlyArray<Hit>
): ((hit: Hit) => number) | undefined => {
  const event = eventIn(question, now)
  const times = event === undefined ? [] : timesOf(event, hits)
  return event === undefined || times.length === 0 ? undefined : ({ entry }) => fitOf(event.side, times, entry.at)
}
