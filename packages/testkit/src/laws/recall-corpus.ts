// RecallCorpus: conversations made of invented words, as an index would be told of them.
// Owns the words, which are as unequally common as real ones, and what is said around a message. Leaves asking to laws
// and benchmarks.
// C1  The same fate gives the same corpus.

import type { MemoryEntry } from "@reverie/memory"
import type { Fate } from "../world/fate.ts"
import { aMessageAt, LONG_AGO_MILLIS } from "./recall-steps.ts"

const onsets = "b d f g k l m n p r s t v z br dr gr kl pl st tr".split(" ")
const vowels = "a e i o u ai oa".split(" ")

const syllable = (no: number): string =>
  `${onsets[no % onsets.length] ?? ""}${vowels[Math.floor(no / onsets.length) % vowels.length] ?? ""}`

const SYLLABLES = onsets.length * vowels.length

/** The word of a rank: short ones are common, none is an English ending away from another. */
const wordOf = (rank: number): string => {
  const first = syllable(rank % SYLLABLES)
  const second = syllable((rank * 31 + 7) % SYLLABLES)
  return rank < SYLLABLES ? `${first}k` : `${first}${second}${Math.floor(rank / SYLLABLES).toString(36)}k`
}

export interface Vocabulary {
  readonly word: (fate: Fate) => string
  /** A word that is neither in everything nor hardly anywhere. */
  readonly tellingWord: (fate: Fate) => string
}

/** So many words; the n-th is about 1/n as common as the first. */
export const vocabularyOf = (size: number): Vocabulary => {
  const words = Array.from({ length: size }, (_, rank) => wordOf(rank))
  const bounds: Array<number> = []
  let total = 0
  for (let rank = 0; rank < size; rank++) bounds.push((total += 1_000_000 / (rank + 3)))
  const at = (target: number): number => {
    let [low, high] = [0, size - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((bounds[middle] ?? 0) < target) low = middle + 1
      else high = middle
    }
    return low
  }
  return {
    word: (fate) => words[at(fate.between(0, Math.floor(total)))] ?? "",
    tellingWord: (fate) => words[fate.between(20, 20 + Math.floor(size / 20))] ?? ""
  }
}

const speakers = ["Kim", "Lee", "Ana"] as const

/** A message of 4 to 30 words by one of three people, at an entry of the ledger. */
export const aSaying = (fate: Fate, vocabulary: Vocabulary, no: number): MemoryEntry => {
  const text = Array.from({ length: fate.between(4, 30) }, () => vocabulary.word(fate)).join(" ")
  return aMessageAt(no, fate.pick(speakers), `${text}${fate.chance(0.2) ? "?" : "."}`, {
    at: LONG_AGO_MILLIS + no * 60_000,
    importance: fate.between(3, 6)
  })
}

export const EARLIER = 3
export const LATER = 2

/** The message at a place of a conversation with what was said around it. */
export const amidst = (conversation: ReadonlyArray<MemoryEntry>, place: number): MemoryEntry => {
  const entry = conversation[place]
  if (entry === undefined) throw new Error(`nothing was said at ${place}`)
  const around = [
    ...conversation.slice(Math.max(0, place - EARLIER), place),
    ...conversation.slice(place + 1, place + 1 + LATER)
  ]
  return around.length === 0 ? entry : { ...entry, context: around.map(({ text }) => text).join("\n") }
}

/** So many messages, each with what was said around it. */
export const aConversation = (fate: Fate, vocabulary: Vocabulary, length: number): ReadonlyArray<MemoryEntry> => {
  const said = Array.from({ length }, (_, index) => aSaying(fate, vocabulary, 2 * index + 2))
  return said.map((_, place) => amidst(said, place))
}

/** A question for what someone said, by a few words, most of them telling. */
export const aQuestion = (fate: Fate, vocabulary: Vocabulary): string =>
  [
    `What did ${fate.pick(speakers)} say about`,
    vocabulary.word(fate),
    ...Array.from({ length: fate.between(2, 5) }, () => vocabulary.tellingWord(fate))
  ].join(" ")
