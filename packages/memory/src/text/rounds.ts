// Rounds: a question asked twice, the second time in more words, and one order of both answers.
// Owns the second question, what related words count, and how the places of a list are shared out. Leaves each search to
// an index, and orchestration to who asks: so every index finds alike.
// D1  There is a second round only where the language knows other words for the question, and the question is short: what
//     says much finds by its own words.
// D2  What the words of the question find leads. A related word counts where the word itself is not said, and less.
// D3  A question that asks for several things is answered out of several conversations: another message of one that is
//     in the list already gives way a little.
// D4  No more is asked for than the index may answer, and no hit is made up: both rounds are searches of the same viewer
//     under the same conditions.

import { defined } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type { Hit, Joined, RecallQuery } from "../recall.ts"
import { SIDE_SHARE, sidedness } from "./anchored.ts"
import { fused } from "./fusion.ts"
import { nudgeOf, searchKindOf } from "./rank.ts"
import { relatedTo } from "./related.ts"
import { queryTerms, termsOf, termsSaid, type Token } from "./tokens.ts"

/** A question with more terms is not asked again. */
const MAX_ASKED_TERMS = 16
/** Related words of one question. */
const MAX_RELATED = 40
/** Of the best score by words, what an entry gets whose related words make up for all that it does not say. */
const RELATED_SHARE = 0.45
/** Of its score in the second round. */
const SECOND_SHARE = 0.3
/** More of both for the one person whom the question names. */
const SPEAKER_SHARE = 0.6
/** Off, for each further message of one conversation, where several things are asked for. */
const REPEATED_SHARE = 0.1
/** Messages so near in time are of one conversation. */
const CONVERSATION_MILLIS = 6 * 3_600_000
/** Hits of each round: order needs something to choose from. */
const FEWEST = 30
const DEPTH = 2

/** The words of the question's terms by turns, so that none of them takes up all the room. */
const relatedWords = (asked: ReadonlyArray<Token>): ReadonlyArray<string> => {
  const known = new Set(asked.map(({ term }) => term))
  const words = new Map<string, string>()
  const lists = asked.map(({ term }) => relatedTo(term).filter((each) => !known.has(each.term)))
  const longest = Math.max(0, ...lists.map((list) => list.length))
  for (let at = 0; at < longest; at++) {
    for (const list of lists) {
      const each = list[at]
      if (each !== undefined && words.size < MAX_RELATED) words.set(each.term, each.word)
    }
  }
  return [...words.values()]
}

/** The same question, for more hits than are wanted. */
export const firstRound = (query: RecallQuery): RecallQuery => ({
  ...query,
  limit: Math.max(FEWEST, DEPTH * query.limit)
})

/** By words, and short enough to be read as a question. */
const isReadOn = ({ search, text }: RecallQuery): boolean =>
  search !== "vector" && queryTerms(text).length <= MAX_ASKED_TERMS

/** The question in more words; undefined where there are none, and where meaning alone is searched for. */
export const secondRound = (query: RecallQuery): RecallQuery | undefined => {
  if (!isReadOn(query)) return undefined
  const words = relatedWords(queryTerms(query.text))
  if (words.length === 0) return undefined
  return { ...firstRound(query), text: `${query.text}\n${words.join(" ")}` }
}

const manyPattern =
  /\b(?:both|all|ways|types?|kinds?|how many)\b|\b(?:what|which)\s+(?:[\p{L}'-]+\s+){0,3}?\p{L}+(?<!s)s\s+(?:do|does|did|has|have|are|were|is|was)\b|\b(?:what|which|where|who)\b.*\b(?:has|have)\b/iu

/** The question asks for several things. */
const asksForMany = (question: string): boolean => manyPattern.test(question)

const keyOf = ({ entry, owner }: Hit): string => `${owner} ${entry.id}`

interface Weighed {
  readonly hit: Hit
  readonly score: number
}

/** The better first; of two alike the one that came first. */
const inOrder = (weighed: ReadonlyArray<Weighed>): ReadonlyArray<Weighed> =>
  weighed.toSorted((a, b) => b.score - a.score)

/** The best, each one less for every other of its conversation that stands before it. */
const sharedOut = (weighed: ReadonlyArray<Weighed>, limit: number): ReadonlyArray<Weighed> => {
  const left = [...inOrder(weighed)]
  const chosen: Array<Weighed> = []
  const countOf = ({ hit: { entry, owner } }: Weighed): number =>
    chosen.filter(({ hit }) => hit.owner === owner && Math.abs(hit.entry.at - entry.at) <= CONVERSATION_MILLIS).length
  while (left.length > 0 && chosen.length < limit) {
    let [best, most] = [0, Number.NEGATIVE_INFINITY]
    for (const [at, each] of left.entries()) {
      // The rest is in order: none of it can be more.
      if (each.score <= most) break
      const score = each.score * (1 - REPEATED_SHARE) ** Math.max(0, countOf(each) - 1)
      if (score > most) [best, most] = [at, score]
    }
    const [next] = left.splice(best, 1)
    if (next !== undefined) chosen.push({ ...next, score: most })
  }
  return chosen
}

/** What is asked for besides the names of those who speak, each term with how rare it is among the hits. */
const soughtOf = (question: string, hits: ReadonlyArray<Hit>) => {
  const asked = queryTerms(question)
  const speakers = [...new Set(hits.flatMap(({ entry }) => entry.speaker ?? []))]
  const named = speakers.filter((speaker) => termsOf(speaker).some((term) => asked.some((each) => each.term === term)))
  const names = new Set(named.flatMap(termsOf))
  const terms = asked
    .filter(({ term }) => !names.has(term))
    .map(({ term, word }) => {
      const having = hits.filter(({ entry }) => termsSaid(entry).has(term)).length
      return { term, word, weight: Math.log(1 + hits.length / (1 + having)), others: relatedTo(term) }
    })
  return { terms, speaker: named.length === 1 ? named[0] : undefined }
}

/** What the words of each hit of both rounds come to. */
const wordsOf = (
  question: string,
  hits: ReadonlyArray<Hit>,
  first: ReadonlyMap<string, number>,
  second: ReadonlyMap<string, number>
): ReadonlyArray<number> => {
  const { speaker, terms } = soughtOf(question, hits)
  const all = terms.reduce((sum, { weight }) => sum + weight, 0) || 1
  const best = Math.max(0, ...first.values()) || Math.max(0, ...second.values())
  return hits.map((hit) => {
    const words = termsSaid(hit.entry)
    const made = terms.filter(({ others, term }) => !words.has(term) && others.some((each) => words.has(each.term)))
    const related = made.reduce((sum, { weight }) => sum + weight, 0) / all
    const more = RELATED_SHARE * related * best + SECOND_SHARE * (second.get(keyOf(hit)) ?? 0)
    const isOfSpeaker = speaker !== undefined && hit.entry.speaker === speaker
    return (first.get(keyOf(hit)) ?? 0) + more * (isOfSpeaker ? 1 + SPEAKER_SHARE : 1)
  })
}

const scoresIn = (hits: ReadonlyArray<Hit>): ReadonlyMap<string, number> =>
  new Map(hits.map((hit) => [keyOf(hit), hit.why.lexical?.score ?? 0]))

/** What each hit of both rounds comes to. */
const weighedOf = (
  query: RecallQuery,
  first: ReadonlyArray<Hit>,
  second: ReadonlyArray<Hit>
): ReadonlyArray<Weighed> => {
  const known = scoresIn(first)
  const hits = [...first, ...second.filter((hit) => !known.has(keyOf(hit)))]
  const words = wordsOf(query.text, hits, known, scoresIn(second))
  const scores =
    searchKindOf(query) === "fts"
      ? words
      : fused(
          hits.map(({ entry, owner, why: { vector } }, at) => ({
            candidate: { entry, owner },
            ...defined({ lexical: (words[at] ?? 0) > 0 ? { score: words[at] ?? 0 } : undefined, vector })
          }))
        )
  return hits.map((hit, at) => ({
    hit: known.has(keyOf(hit)) ? hit : fromSecond(hit, query),
    score: (scores[at] ?? 0) * nudgeOf(hit.entry, query.now)
  }))
}

// Certainty: how far the hits answer the question.
// C1  It is the share of the question that one of the best hits says, each word by its rarity, related words by half. Half
//     of all is enough: a question has words of its own.
// C2  What a question asks about one person counts less, the more what others say answers it better than what that person
//     says, or what is said of them.

const BEST_HITS = 3
const ENOUGH = 0.5
const RELATED_PART = 0.5
/** What belongs to the person asked about has to answer so many times as well as anything else. */
const CLEARLY = 1.5
/** So many hits are looked at, however few are wanted. */
const LOOKED_AT = 25

/** A name that a text speaks of, and does not only call: "Ann's boat", "Ann went", not "Thanks, Ann!". */
const speaksOf = (text: string, name: string): boolean => {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const isCalled = /[,.!?]\s*$/.test(text.slice(Math.max(0, at - 4), at))
    if (!isCalled && /^(?:['\u2019]s|\s+\p{Ll})/u.test(text.slice(at + name.length, at + name.length + 4))) return true
  }
  return false
}

const isOf = ({ entry }: Hit, speaker: string): boolean => entry.speaker === speaker || speaksOf(entry.text, speaker)

const bestOf = (hits: ReadonlyArray<Hit>): number => Math.max(0, ...hits.map(({ score }) => score))

const certaintyIn = (query: RecallQuery, hits: ReadonlyArray<Hit>): number => {
  const { speaker, terms } = soughtOf(query.text, hits)
  const all = terms.reduce((sum, { weight }) => sum + weight, 0) || 1
  const partOf = (hit: Hit): number => {
    const words = termsSaid(hit.entry)
    const isSaid = ({ term, word }: Token) => words.has(term) || hit.why.terms.includes(word)
    return terms.reduce((sum, each) => {
      if (isSaid(each)) return sum + each.weight
      return each.others.some(({ term }) => words.has(term)) ? sum + RELATED_PART * each.weight : sum
    }, 0)
  }
  const part = Math.max(0, ...hits.slice(0, BEST_HITS).map(partOf)) / all
  const covered = Math.min(1, part / ENOUGH)
  if (speaker === undefined) return covered
  const [own, others] = [hits.filter((hit) => isOf(hit, speaker)), hits.filter((hit) => !isOf(hit, speaker))]
  const clearness = Math.min(1, bestOf(own) / (CLEARLY * (bestOf(others) || 1)))
  return covered * (others.length === 0 ? 1 : clearness ** 2)
}

/** What lies before or after something, as the question asks, comes sooner. */
const sided = ({ now, text }: RecallQuery, weighed: ReadonlyArray<Weighed>): ReadonlyArray<Weighed> => {
  const fitOf = sidedness(
    text,
    now,
    weighed.map(({ hit }) => hit)
  )
  if (fitOf === undefined) return weighed
  return weighed.map(({ hit, score }) => {
    const fit = fitOf(hit)
    const { boosts } = hit.why
    const isTold = fit === 0 || boosts.includes("time")
    return {
      hit: isTold ? hit : { ...hit, why: { ...hit.why, boosts: [...boosts, "time"] } },
      score: score * (1 + SIDE_SHARE * fit)
    }
  })
}

/** As many hits as are wanted. */
export const joined = (query: RecallQuery, first: ReadonlyArray<Hit>, second: ReadonlyArray<Hit>): Joined => {
  const weighed = sided(
    query,
    second.length === 0 ? first.map((hit) => ({ hit, score: hit.score })) : weighedOf(query, first, second)
  )
  const limit = Math.max(1, Math.trunc(query.limit))
  const most = Math.max(limit, LOOKED_AT)
  const isMany = isReadOn(query) && asksForMany(query.text)
  const ordered = isMany ? sharedOut(weighed, most) : inOrder(weighed).slice(0, most)
  const hits = ordered.map(({ hit, score }): Hit => ({ ...hit, score }))
  const certainty = query.search === "vector" ? undefined : certaintyIn(query, hits)
  return { hits: hits.slice(0, limit), ...defined({ certainty }) }
}

/** A question in both rounds, of whatever answers each. */
export const inRounds = Effect.fnUntraced(function* <E, R>(
  query: RecallQuery,
  search: (query: RecallQuery) => Effect.Effect<ReadonlyArray<Hit>, E, R>
) {
  const first = yield* search(firstRound(query))
  const again = secondRound(query)
  return joined(query, first, again === undefined ? [] : yield* search(again))
})

/** Why it was found, said of the question as it was asked. */
const fromSecond = (hit: Hit, { text }: RecallQuery): Hit => {
  const asked = new Set(queryTerms(text).map(({ word }) => word))
  const { boosts, facts, terms, vector } = hit.why
  return {
    ...hit,
    why: {
      terms: terms.filter((word) => asked.has(word)),
      ...defined({ vector }),
      facts,
      boosts: [...boosts, "related"]
    }
  }
}
