// Fusion: one order out of two searches, the one for words and the one for meaning.
// Owns how far vectors are believed, and what they may add to the words. Leaves both scores to those who searched.
// U1  Words lead: what they give counts as a share of the best. Vectors add at most NEARNESS_SHARE and twice WINDOW_SHARE.
// U2  Vectors are believed as far as they agree with the words about the entries that both know: those of a bad embedder
//     agree by chance only and add next to nothing, those that say the same of everything add nothing.
// U3  Only how near entries are compared with each other counts: embedders differ in what they call near.
// U4  What no word found stands in the order of its nearness.
// U5  Names of those who speak are found by words. In a question they would draw its vector to whatever names them.

import type { MemoryEntry } from "../indexing/messages.ts"
import type { Hit } from "../recall.ts"
import { neighboursAmong } from "./refine.ts"
import { queryTerms, stopTerms, termsOf } from "./tokens.ts"

interface Fusible {
  readonly candidate: { readonly owner: string; readonly entry: MemoryEntry }
  readonly lexical?: { readonly score: number }
  readonly vector?: { readonly score: number }
}

/** Of the best score by words, what the nearest entry gets. */
const NEARNESS_SHARE = 0.25
/** What an entry gets that stands beside the nearest one: what is meant is said in more than one message. */
const WINDOW_SHARE = 0.08
/** Of nearness, in deviations from the mean: from here on nothing is nearer. */
const FARTHEST_OUT = 2.5
/** Vectors that agree with the words so far are believed wholly. By chance some hundred entries agree by up to 0.1. */
const AGREEMENT = 0.2
/** Entries that both searches know; about fewer than these agreement says less than it seems to. */
const FEW = 10
/** What differs by less is the same but for rounding. */
const SAME = 1e-6
/** Next to nothing: gives what no word found an order, whatever is believed. */
const ORDER_SHARE = 1e-6

const meanOf = (values: ReadonlyArray<number>): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

/** How far two lists of numbers rise and fall together, -1 to 1 (Pearson); 0 where one of them does neither. */
const correlation = (xs: ReadonlyArray<number>, ys: ReadonlyArray<number>): number => {
  const [meanX, meanY] = [meanOf(xs), meanOf(ys)]
  let [both, ofX, ofY] = [0, 0, 0]
  for (const [index, x] of xs.entries()) {
    const [dx, dy] = [x - meanX, (ys[index] ?? 0) - meanY]
    both += dx * dy
    ofX += dx * dx
    ofY += dy * dy
  }
  return Math.min(ofX, ofY) < SAME ** 2 ? 0 : both / Math.sqrt(ofX * ofY)
}

/** How far the vectors are believed, 0 to 1. */
const trustIn = (found: ReadonlyArray<Fusible>): number => {
  const [words, nearness]: [Array<number>, Array<number>] = [[], []]
  for (const { lexical, vector } of found) {
    if (lexical === undefined || vector === undefined || lexical.score <= 0) continue
    words.push(Math.log(lexical.score))
    nearness.push(vector.score)
  }
  const agreement = (correlation(words, nearness) * words.length) / (words.length + FEW)
  return Math.min(1, Math.max(0, agreement / AGREEMENT))
}

/** How much nearer than the others each is, 0 to 1. */
const standingOf = (found: ReadonlyArray<Fusible>): ReadonlyArray<number> => {
  const known = found.flatMap(({ vector }) => (vector === undefined ? [] : [vector.score]))
  const mean = meanOf(known)
  const deviation = Math.sqrt(meanOf(known.map((each) => (each - mean) ** 2)))
  return found.map(({ vector }) =>
    vector === undefined || deviation < SAME
      ? 0
      : Math.min(1, Math.max(0, (vector.score - mean) / (FARTHEST_OUT * deviation)))
  )
}

/** What each entry that was found comes to by both searches, in the order in which they are given. */
export const fused = (found: ReadonlyArray<Fusible>): ReadonlyArray<number> => {
  const best = found.reduce((most, { lexical }) => Math.max(most, lexical?.score ?? 0), 0)
  const standing = standingOf(found)
  const window = found.map(() => 0)
  for (const { earlier, later } of neighboursAmong(found.map(({ candidate }) => candidate))) {
    window[earlier] = (window[earlier] ?? 0) + (standing[later] ?? 0)
    window[later] = (window[later] ?? 0) + (standing[earlier] ?? 0)
  }
  const trust = trustIn(found)
  return found.map(({ lexical, vector }, index) => {
    const words = best > 0 ? (lexical?.score ?? 0) / best : 0
    const meaning = NEARNESS_SHARE * (standing[index] ?? 0) + WINDOW_SHARE * (window[index] ?? 0)
    const order = words > 0 || vector === undefined ? 0 : ORDER_SHARE * (1 + vector.score)
    return words + trust * meaning + order
  })
}

const wordPattern = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:['\u2019\u02bc]s(?![\p{L}\p{N}]))?/gu

/**
 * What a question means, for an embedder: the question without the names of those who speak in what its words found;
 * all of it when nothing else would be left.
 */
export const meantBy = (question: string, found: ReadonlyArray<Pick<Hit, "entry">>): string => {
  const asked = new Set(queryTerms(question).map(({ term }) => term))
  const names = new Set(
    found.flatMap(({ entry }) => {
      const name = termsOf(entry.speaker ?? "")
      return name[0] !== undefined && asked.has(name[0]) ? name : []
    })
  )
  const isName = (word: string): boolean => {
    const terms = termsOf(word)
    return terms.length > 0 && terms.every((term) => names.has(term))
  }
  const rest = question
    .replace(wordPattern, (word) => (isName(word) ? "" : word))
    .replaceAll(/\s+/g, " ")
    .trim()
  return queryTerms(rest).some(({ term }) => !stopTerms.has(term)) ? rest : question
}
