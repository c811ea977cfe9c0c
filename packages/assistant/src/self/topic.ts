// Topic: what journal entries are about, by their words.
// Owns which words count and the three questions a reflection asks. Leaves the answers to reflection.ts.
// I1  Equal entries give equal questions; there are always three, and no two are the same.

import { type Json, linesIn, listIn } from "@reverie/protocol"
import type { JournalEntry } from "./journal.ts"
import { oneLine } from "./kept.ts"

const empty = new Set(
  (
    "about after again against also always another because been before being between both came come coming could does doing " +
    "down during each either else entries ever every expected from going gone have having here himself herself into itself " +
    "just keeps like made make many might more most much must need never next nobody none nothing often only other others " +
    "over perhaps same seems several shall should show shows since some somebody something sometimes still such taken than " +
    "that their them then there these they this those though through together toward under until upon very want wants well " +
    "went were what when where whether which while whom whose will with within without would back badly around come " +
    "keep deserves remembered tell tells"
  ).split(" ")
)

/** Shortest word that can tell one topic from another, in letters. */
const MIN_LETTERS = 4

/** The words that say what a text is about, in small letters. */
export const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => word.length >= MIN_LETTERS && !empty.has(word))
  )

/** The topics that carry most importance; each counts only entries that no weightier one has covered. */
const topicsOf = (entries: ReadonlyArray<JournalEntry>, count: number): ReadonlyArray<string> => {
  let open = entries.map((entry) => ({
    importance: entry.importance,
    words: new Set([...wordsOf(entry.content), ...entry.tags.map((tag) => tag.toLowerCase())])
  }))
  const topics: Array<string> = []
  while (topics.length < count && open.length > 0) {
    const weights = new Map<string, number>()
    for (const { importance, words } of open) {
      for (const word of words) weights.set(word, (weights.get(word) ?? 0) + importance)
    }
    const [heaviest] = [...weights].toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    if (heaviest === undefined) break
    topics.push(heaviest[0])
    open = open.filter(({ words }) => !words.has(heaviest[0]))
  }
  return topics
}

const askedOf = [
  (topic: string) => `What keeps coming back about "${topic}"?`,
  (topic: string) => `What went well or badly around "${topic}", and why?`,
  (topic: string) => `What should be expected next of "${topic}"?`
] as const

const askedOfAll = [
  "What of all this deserves to be remembered?",
  "What do several of these entries tell only when they are taken together?",
  "What should be expected next?"
] as const

/** Three questions about what the entries weigh most upon. */
export const reflectionQuestions = (entries: Iterable<JournalEntry>): ReadonlyArray<string> => {
  const topics = topicsOf([...entries], askedOf.length)
  return askedOf.map((ask, index) => {
    const topic = topics[index]
    return topic === undefined ? (askedOfAll[index] ?? "") : ask(topic)
  })
}

const textOf = (value: Json): string => (typeof value === "string" ? oneLine(value) : "")

/** Three questions out of a model's answer, filled up with `otherwise` where it gave fewer. */
export const readQuestions = (answer: string, otherwise: ReadonlyArray<string>): ReadonlyArray<string> => {
  const found = (listIn(answer)?.map(textOf) ?? linesIn(answer)).filter((question) => question !== "")
  return [...new Set([...found, ...otherwise])].slice(0, askedOf.length)
}
