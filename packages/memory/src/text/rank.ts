// Rank: what becomes of entries that were found, in every adapter alike.
// Owns the nudges, and the reasons of a hit. Leaves finding entries, and who may read what, to the adapter, and what the
// words of an entry or two searches come to, to the modules beside it.
// R1  A nudge is small: recency and importance together move a score by at most a fifth.
// R2  The same candidates give the same hits, in whatever order they come.
// R3  Every hit says why it was found, and has no context.

import { type AssistantId, defined } from "@reverie/protocol"
import type { MemoryEntry } from "../indexing/messages.ts"
import type { Hit, RecallQuery, SearchKind, Why } from "../recall.ts"
import { fused } from "./fusion.ts"
import { refine, type Refined, whenIn } from "./refine.ts"
import { type AttachedFact, queryTerms, termsOf, termsSaid, type Token, withoutContext } from "./tokens.ts"

/** An entry that was found by its words, by its meaning, or by both. */
export interface Candidate {
  /** Whose memory it is. */
  readonly owner: AssistantId
  /** The memory itself. */
  readonly entry: MemoryEntry
  /** Facts that a dream has drawn from it. */
  readonly facts: ReadonlyArray<AttachedFact>
  /** The score in the search for words (`tokens.ts`); greater is better. */
  readonly lexical?: number
  /** The nearness to what is meant, -1 to 1; known of whatever was found and has a vector. */
  readonly vector?: number
}

/** How many candidates each search brings: the nudges need something to choose from. */
export const candidateLimit = (limit: number): number => Math.max(60, 2 * limit)

const RECENCY_SHARE = 0.05
const HALF_LIFE_MILLIS = 30 * 86_400_000
const IMPORTANCE_SHARE = 0.1
/** A nudge is reported as a reason when it comes to at least half of what it can be. */
const TOLD_PART = 0.5

/** How the search is done in fact: without a vector by words. */
export const searchKindOf = ({ search, vector }: Pick<RecallQuery, "search" | "vector">): SearchKind =>
  vector === undefined || vector.length === 0 ? "fts" : search

interface Found {
  readonly candidate: Candidate
  readonly lexical?: { readonly rank: number; readonly score: number }
  readonly vector?: { readonly rank: number; readonly score: number }
  readonly boosts: ReadonlyArray<string>
}

const recencyOf = ({ at }: MemoryEntry, now: number): number => 0.5 ** (Math.max(0, now - at) / HALF_LIFE_MILLIS)

const importanceOf = ({ importance }: MemoryEntry): number => (Math.min(Math.max(importance, 1), 10) - 1) / 9

/** By what recency and importance move a score. */
export const nudgeOf = (entry: MemoryEntry, now: number): number =>
  1 + RECENCY_SHARE * recencyOf(entry, now) + IMPORTANCE_SHARE * importanceOf(entry)

const byName = (a: Candidate, b: Candidate): number => {
  if (a.owner !== b.owner) return a.owner < b.owner ? -1 : 1
  return a.entry.id < b.entry.id ? -1 : 1
}

/** The better first; of two alike the newer one. */
const inOrder = <A extends { readonly candidate: Candidate; readonly score: number }>(
  scored: ReadonlyArray<A>
): ReadonlyArray<A> =>
  scored.toSorted(
    (a, b) => b.score - a.score || b.candidate.entry.at - a.candidate.entry.at || byName(a.candidate, b.candidate)
  )

const lexicalOrder = (candidates: ReadonlyArray<Candidate>, terms: ReadonlyArray<Token>, query: RecallQuery) =>
  inOrder(
    refine(
      candidates.filter(({ lexical }) => lexical !== undefined),
      terms,
      whenIn(query.text, query.now)
    )
  )

const vectorOrder = (candidates: ReadonlyArray<Candidate>) =>
  inOrder(
    candidates.flatMap((candidate) => (candidate.vector === undefined ? [] : [{ candidate, score: candidate.vector }]))
  )

const merged = (
  lexical: ReadonlyArray<Refined<Candidate>>,
  vector: ReadonlyArray<{ readonly candidate: Candidate; readonly score: number }>
): ReadonlyArray<Found> => {
  const found = new Map<Candidate, Found>()
  for (const [index, { boosts, candidate, score }] of lexical.entries()) {
    found.set(candidate, { candidate, boosts, lexical: { rank: index + 1, score } })
  }
  for (const [index, { candidate, score }] of vector.entries()) {
    const known = found.get(candidate) ?? { candidate, boosts: [] }
    found.set(candidate, { ...known, vector: { rank: index + 1, score } })
  }
  return [...found.values()]
}

/** What is nudged. */
const scoresOf = (found: ReadonlyArray<Found>, kind: SearchKind): ReadonlyArray<number> => {
  if (kind === "fts") return found.map(({ lexical }) => lexical?.score ?? 0)
  if (kind === "vector") return found.map(({ vector }) => (vector === undefined ? 0 : (1 + vector.score) / 2))
  return fused(found)
}

const whyOf = ({ boosts, candidate, lexical, vector }: Found, terms: ReadonlyArray<Token>, now: number): Why => {
  const { entry, facts } = candidate
  const said = termsSaid(entry)
  const telling = facts.map(({ id, text }) => ({ id, said: new Set(termsOf(text)) }))
  const isTold = ({ term }: Token) => said.has(term) || telling.some((fact) => fact.said.has(term))
  return {
    terms: terms.filter(isTold).map(({ word }) => word),
    ...defined({ lexical, vector }),
    facts: telling.filter((fact) => terms.some(({ term }) => fact.said.has(term))).map(({ id }) => id),
    boosts: [
      ...(recencyOf(entry, now) >= TOLD_PART ? ["recent"] : []),
      ...(importanceOf(entry) >= TOLD_PART ? ["important"] : []),
      ...boosts
    ]
  }
}

/** The best of the candidates, the best first. Candidates of a search that was not asked for do not count. */
export const rank = (candidates: ReadonlyArray<Candidate>, query: RecallQuery): ReadonlyArray<Hit> => {
  const kind = searchKindOf(query)
  const terms = queryTerms(query.text)
  const found = merged(
    kind === "vector" ? [] : lexicalOrder(candidates, terms, query),
    kind === "fts" ? [] : vectorOrder(candidates)
  )
  const scores = scoresOf(found, kind)
  const scored = found.map((each, index) => {
    const { candidate } = each
    return { candidate, found: each, score: (scores[index] ?? 0) * nudgeOf(candidate.entry, query.now) }
  })
  return inOrder(scored)
    .slice(0, Math.max(1, Math.trunc(query.limit)))
    .map(({ candidate, found: each, score }) => ({
      owner: candidate.owner,
      entry: withoutContext(candidate.entry),
      score,
      why: whyOf(each, terms, query.now)
    }))
}
