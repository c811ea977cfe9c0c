// Refine: what the words search knows of an entry beyond the weights of its words.
// Owns how much of the question an entry answers, who is asked about, what asks itself, what replies to it, and what
// stands beside it.
// N1  Each of these moves a score by a share of itself or of a neighbour's: what no word found is never found by them.
// N2  The words of an answer often stand in its question only. So a message that asks gives less of its score to itself
//     than to the message after it, when someone else said that.

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
  /** What moved it: `speaker`, `reply`, `neighbour`. */
  readonly boosts: ReadonlyArray<string>
}

/** For an entry with all words of the question, over one that has them from what was said around it only. */
const COVERAGE_SHARE = 0.4
const SPEAKER_SHARE = 0.2
/** Off a message that only asks: who asks tells little. */
const ASKING_SHARE = 0.4
/** Of the score of a message that only asks, for what replies to it. */
const REPLY_SHARE = 0.7
/** Of a neighbour's score: what follows a message is mostly about the same, what precedes it less often. */
const FOLLOWING_SHARE = 0.2
const PRECEDING_SHARE = 0.1
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

/** Two messages that stand next to each other among the candidates, by their places there. */
export interface Neighbours {
  readonly earlier: number
  readonly later: number
}

/** All pairs of candidates that are neighbours. */
export const neighboursAmong = (
  candidates: ReadonlyArray<Pick<Refinable, "entry" | "owner">>
): ReadonlyArray<Neighbours> => {
  const placed = candidates
    .flatMap(({ entry, owner }, index): ReadonlyArray<Placed> => {
      const place = placeOfId(entry.id)
      return place === undefined ? [] : [{ index, owner, at: entry.at, no: place.no, of: place.index }]
    })
    .toSorted((a, b) => (a.owner === b.owner ? a.no - b.no || a.of - b.of : a.owner < b.owner ? -1 : 1))
  return placed.flatMap((later, position) => {
    const earlier = placed[position - 1]
    return earlier === undefined || !areNeighbours(earlier, later)
      ? []
      : [{ earlier: earlier.index, later: later.index }]
  })
}

/** What a candidate's words give it, and which part of it only asks. */
interface Weighed {
  readonly entry: MemoryEntry
  /** With all that it asks. */
  readonly full: number
  readonly asking: number
  readonly score: number
}

/** What stands beside a candidate adds to its score. */
interface Shares {
  reply: number
  neighbour: number
}

const sharesOf = (
  candidates: ReadonlyArray<Pick<Refinable, "entry" | "owner">>,
  weighed: ReadonlyArray<Weighed>
): ReadonlyArray<Shares> => {
  const shares = candidates.map((): Shares => ({ reply: 0, neighbour: 0 }))
  for (const { earlier, later } of neighboursAmong(candidates)) {
    const [before, after] = [weighed[earlier], weighed[later]]
    const [ofBefore, ofAfter] = [shares[earlier], shares[later]]
    if (before === undefined || after === undefined || ofBefore === undefined || ofAfter === undefined) continue
    ofBefore.neighbour += PRECEDING_SHARE * after.score
    ofAfter.neighbour += FOLLOWING_SHARE * before.score
    if (before.entry.speaker !== after.entry.speaker) ofAfter.reply += REPLY_SHARE * before.full * before.asking
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
  const weighed = candidates.map((candidate): Weighed => {
    const { entry, lexical = 0 } = candidate
    const full = lexical * (1 + COVERAGE_SHARE * coverageOf(candidate, asked))
    const asking = askingOf(entry)
    const score = full * (1 - ASKING_SHARE * asking) * (isAsked(candidate) ? 1 + SPEAKER_SHARE : 1)
    return { entry, full, asking, score }
  })
  const shares = sharesOf(candidates, weighed)
  return candidates.map((candidate, index) => {
    const { neighbour, reply } = shares[index] ?? { reply: 0, neighbour: 0 }
    return {
      candidate,
      score: (weighed[index]?.score ?? 0) + reply + neighbour,
      boosts: [
        ...(isAsked(candidate) ? ["speaker"] : []),
        ...(reply > 0 ? ["reply"] : []),
        ...(neighbour > 0 ? ["neighbour"] : [])
      ]
    }
  })
}
