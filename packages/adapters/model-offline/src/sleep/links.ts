// Links: which facts have to do with one another.
// Owns finding what they share. Leaves keeping links to whoever asked.
// K1  A link needs a name other than the subject of the fact, or a word that few facts of the ask have.
// K2  Why is what they share, word for word.

import { stemOf, stemsOf } from "../words.ts"
import { gistOf, unasked } from "./likeness.ts"
import { groupsOf } from "./lines.ts"
import { namesIn } from "./names.ts"

const MAX_LINKS = 4
const MAX_WORDS_TOLD = 4
/** A word is rare when no more than this share of the facts has it, and in few of them always. */
const RARE_SHARE = 0.1
const ALWAYS_RARE = 3
const MIN_STEM_CHARS = 4

const wordsByStem = (text: string): ReadonlyMap<string, string> =>
  new Map((unasked(text).match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => [stemOf(word), word.toLowerCase()]))

/** Who a fact is about stands among its first words. */
const subjectOf = (text: string): string => unasked(text).split(/\s+/).slice(0, 2).join(" ")

const shared = (one: string, other: string, isRare: (stem: string) => boolean): ReadonlyArray<string> => {
  const subject = subjectOf(one)
  const names = namesIn(other).filter((name) => one.includes(name) && !subject.includes(name))
  const told = wordsByStem(one)
  const stems = [...gistOf(one).words.intersection(gistOf(other).words)].filter(
    (stem) => stem.length >= MIN_STEM_CHARS && isRare(stem) && !stemsOf(subject).has(stem)
  )
  const words = stems
    .flatMap((stem) => told.get(stem) ?? [])
    .filter((word) => !names.some((name) => name.toLowerCase().includes(word)))
  return [...names, ...words].slice(0, MAX_WORDS_TOLD)
}

export const linked = (data: string): string => {
  const groups = groupsOf(data)
  const texts = new Map(
    groups.flatMap(({ line, neighbours }) => [line, ...neighbours]).map(({ id, text }) => [id, text])
  )
  const counts = new Map<string, number>()
  for (const text of texts.values())
    for (const stem of gistOf(text).words) counts.set(stem, (counts.get(stem) ?? 0) + 1)
  const limit = Math.max(ALWAYS_RARE, RARE_SHARE * texts.size)
  const isRare = (stem: string): boolean => (counts.get(stem) ?? 0) <= limit
  return JSON.stringify(
    groups.map(({ line, neighbours }) => ({
      fact: line.id,
      links: neighbours
        .filter(({ id }) => id !== line.id)
        .map(({ id, text }) => ({ to: id, why: shared(line.text, text, isRare).join(", ") }))
        .filter(({ why }) => why !== "")
        .slice(0, MAX_LINKS)
    }))
  )
}
