// PlainSearch: finding turns by their words alone, as any search engine does.
// Owns the baseline that a memory is measured beside: BM25 over single turns, without word forms, synonyms, time or facts.
// Leaves everything better to the fleet.

import type { Turn } from "./suites.ts"

const SATURATION = 1.2
const LENGTH_SHARE = 0.75

const wordsOf = (text: string): ReadonlyArray<string> => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** Answers the ids of the turns that a text is likest to, the likest first; those without a common word are left out. */
export const plainSearch = (turns: ReadonlyArray<Turn>): ((text: string, limit: number) => ReadonlyArray<string>) => {
  const docs = turns.map(({ text }) => wordsOf(text))
  const mean = docs.reduce((sum, { length }) => sum + length, 0) / Math.max(1, docs.length)
  const postings = new Map<string, Map<number, number>>()
  for (const [doc, words] of docs.entries()) {
    for (const word of words) {
      const counts = postings.get(word) ?? new Map<number, number>()
      postings.set(word, counts.set(doc, (counts.get(doc) ?? 0) + 1))
    }
  }
  return (text, limit) => {
    const scores = new Map<number, number>()
    for (const word of new Set(wordsOf(text))) {
      const counts = postings.get(word)
      if (counts === undefined) continue
      const rarity = Math.log(1 + (docs.length - counts.size + 0.5) / (counts.size + 0.5))
      for (const [doc, count] of counts) {
        const length = 1 - LENGTH_SHARE + (LENGTH_SHARE * (docs[doc]?.length ?? 0)) / mean
        const weight = (count * (SATURATION + 1)) / (count + SATURATION * length)
        scores.set(doc, (scores.get(doc) ?? 0) + rarity * weight)
      }
    }
    return [...scores]
      .toSorted(([a, first], [b, second]) => second - first || a - b)
      .slice(0, limit)
      .flatMap(([doc]) => turns[doc]?.id ?? [])
  }
}
