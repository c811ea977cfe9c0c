// Sayings: what a very old assistant was told, message by message.
// Owns two sources: invented words, as unequally common as real ones, and the turns of real conversations, told again
// and again by people of other names. Leaves living through them to age-life.ts.
// S1  The same place gives the same saying.

import { vocabularyOf } from "@reverie/testkit"
import { type Fate, fateOf } from "@reverie/testkit/world"
import { type Conversation, readConversations } from "./conversations.ts"

export interface Saying {
  readonly from: string
  readonly text: string
}

export interface Sayings {
  readonly name: string
  readonly at: (place: number) => Saying
}

const WORDS = 8_000
const people = ["Kim", "Lee", "Ana"] as const

const madeUp = (fate: Fate, word: (fate: Fate) => string): Saying => {
  const text = Array.from({ length: fate.between(4, 30) }, () => word(fate)).join(" ")
  return { from: fate.pick(people), text: `${text}${fate.chance(0.2) ? "?" : "."}` }
}

export const zipfSayings = (): Sayings => {
  const { word } = vocabularyOf(WORDS)
  return { name: `${WORDS} words by Zipf`, at: (place) => madeUp(fateOf(4_711 + place), word) }
}

const names =
  "Abe Ada Ben Cleo Dan Edda Finn Gwen Hugo Iris Jon Kira Lars Mona Nils Olga Paul Rosa Sven Tess Udo Vera Will Yana".split(
    " "
  )

/** Who speaks in a round of telling: each round has a pair of people of its own. */
const pairOf = (round: number): readonly [string, string] => {
  const first = round % names.length
  const second = (first + 1 + (Math.floor(round / names.length) % (names.length - 1))) % names.length
  return [names[first] ?? "", names[second] ?? ""]
}

const renamed = (text: string, cast: ReadonlyMap<string, string>): string => {
  let told = text
  for (const [name, other] of cast) told = told.replaceAll(name, other)
  return told
}

const retold = (conversations: ReadonlyArray<Conversation>): Sayings => {
  const turns = conversations.flatMap((conversation) => conversation.turns)
  const speakers = [...new Set(turns.map(({ from }) => from))]
  return {
    name: `${turns.length} turns of real conversations`,
    at: (place) => {
      const turn = turns[place % turns.length]
      if (turn === undefined) throw new Error("the conversations are empty")
      const round = Math.floor(place / turns.length)
      const cast = new Map(speakers.map((name, index) => [name, pairOf(round + (index >> 1))[index % 2] ?? name]))
      return { from: cast.get(turn.from) ?? turn.from, text: renamed(turn.text, cast) }
    }
  }
}

/** The turns of `conv-*.jsonl` in a directory. */
export const conversationSayings = async (directory: string): Promise<Sayings> => {
  const conversations = await readConversations(directory)
  if (conversations.length === 0) throw new Error(`${directory} has no conv-*.jsonl`)
  return retold(conversations)
}
