// Refine: what the words search knows of an entry beyond the weights of its words.
// Owns how much of the question an entry answers, who is asked about, what asks itself, and what stands beside it.
// N1  Each of these moves a score by a share of itself or of a neighbour's: what no word found is never found by them.

import { type MemoryEntry, placeOfId } from "../indexing/messages.ts"
import { type AttachedFact, bodyOf, termsOf, type Token } from "./tokens.ts"

interface Refinable {
  readonly owner: string
  readonly entry: MemoryEntry
  readonly facts: ReadonlyArray<AttachedFact>
  readonly lexical?: number
}

export interface Refined<A> {
  readonly candidate: A
  readonly score: number
  /** What moved it: `speaker`, `neighbour`. */
  readonly boosts: ReadonlyArray<string>
}

/** For an entry with all words of the question, over one that has them from what was said around it only. */
const COVERAGE_SHARE = 0.4
const SPEAKER_SHARE = 0.2
/** Off a message that only asks: who asks tells little. */
const ASKING_SHARE = 0.4
const NEIGHBOUR_SHARE = 0.2
/** Messages this far apart, in entries of the ledger and in time, are no neighbours any more. */
const NEIGHBOUR_ENTRIES = 6
const NEIGHBOUR_MILLIS = 6 * 3_600_000
/** So much of a text is looked at; the reasons of a hit are found in all of it. */
const READ_CHARACTERS = 2_000

/** Which share of the terms is said. */
const coverageOf = ({ entry, facts }: Refinable, terms: ReadonlySet<string>): number => {
  if (terms.size === 0) return 0
  const told = [bodyOf({ ...entry, text: entry.text.slice(0, READ_CHARACTERS) }), ...facts.map(({ text }) => text)]
  const said = new Set<string>()
  for (const term of termsOf(told.join("\n"))) if (terms.has(term)) said.add(term)
  return said.size / terms.size
}

const sentencePattern = /[^.!?\u3002\uff01\uff1f\n]*[\p{L}\p{N}][^.!?\u3002\uff01\uff1f\n]*([.!?\u3002\uff01\uff1f]*)/gu

/** The share of sentences that are questions. */
const askingOf = ({ kind, text }: MemoryEntry): number => {
  if (kind !== "message" || !/[?\uff1f]/.test(text)) return 0
  let sentences = 0
  let questions = 0
  for (const [, end = ""] of text.slice(0, READ_CHARACTERS).matchAll(sentencePattern)) {
    sentences++
    if (/[?\uff1f]/.test(end)) questions++
  }
  return sentences === 0 ? 0 : questions / sentences
}

/** The one speaker among the candidates whom the question names; undefined when it names none or several. */
const askedAbout = (candidates: ReadonlyArray<Refinable>, terms: ReadonlyArray<Token>): string | undefined => {
  const asked = new Set(terms.map(({ term }) => term))
  const named = [...new Set(candidates.flatMap(({ entry }) => entry.speaker ?? []))].filter((speaker) =>
    termsOf(speaker).some((term) => asked.has(term))
  )
  return named.length === 1 ? named[0] : undefined
}

interface Placed {
  readonly index: number
  readonly owner: string
  readonly at: number
  readonly no: number
  readonly of: number
}

const areNeighbours = (a: Placed, b: Placed): boolean =>
  a.owner === b.owner && b.no - a.no <= NEIGHBOUR_ENTRIES && Math.abs(b.at - a.at) <= NEIGHBOUR_MILLIS

/** For each candidate what its neighbours' scores add to its own. */
const neighbourShares = (
  candidates: ReadonlyArray<Refinable>,
  scores: ReadonlyArray<number>
): ReadonlyArray<number> => {
  const placed = candidates
    .flatMap(({ entry, owner }, index): ReadonlyArray<Placed> => {
      const place = placeOfId(entry.id)
      return place === undefined ? [] : [{ index, owner, at: entry.at, no: place.no, of: place.index }]
    })
    .toSorted((a, b) => (a.owner === b.owner ? a.no - b.no || a.of - b.of : a.owner < b.owner ? -1 : 1))
  const shares = candidates.map(() => 0)
  for (const [position, right] of placed.entries()) {
    const left = placed[position - 1]
    if (left === undefined || !areNeighbours(left, right)) continue
    shares[left.index] = (shares[left.index] ?? 0) + NEIGHBOUR_SHARE * (scores[right.index] ?? 0)
    shares[right.index] = (shares[right.index] ?? 0) + NEIGHBOUR_SHARE * (scores[left.index] ?? 0)
  }
  return shares
}

/** The candidates of a search for words with their final scores, in the order in which they came. */
export const refine = <A extends Refinable>(
  candidates: ReadonlyArray<A>,
  terms: ReadonlyArray<Token>
): ReadonlyArray<Refined<A>> => {
  const speaker = askedAbout(candidates, terms)
  const asked = new Set(terms.map(({ term }) => term))
  const isAsked = ({ entry }: A) => speaker !== undefined && entry.speaker === speaker
  const scores = candidates.map((candidate) => {
    const coverage = 1 + COVERAGE_SHARE * coverageOf(candidate, asked)
    const asking = 1 - ASKING_SHARE * askingOf(candidate.entry)
    return (candidate.lexical ?? 0) * coverage * asking * (isAsked(candidate) ? 1 + SPEAKER_SHARE : 1)
  })
  const shares = neighbourShares(candidates, scores)
  return candidates.map((candidate, index) => {
    const share = shares[index] ?? 0
    return {
      candidate,
      score: (scores[index] ?? 0) + share,
      boosts: [...(isAsked(candidate) ? ["speaker"] : []), ...(share > 0 ? ["neighbour"] : [])]
    }
  })
}
