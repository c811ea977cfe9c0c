// Conversation: what is said to an assistant on the days of its life, and what of it is asked for at the end.
// Owns real conversations, one of our own, and the facts that are planted in them. Leaves living to life.ts.

import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"

export interface Said {
  readonly from: string
  readonly text: string
}

/** A value that no one guesses, and a question that it answers. */
export interface Planted extends Said {
  readonly question: string
  readonly value: string
}

/** Real conversations stand beside the checkout, never in it. */
export const REAL_MESSAGES = resolve(import.meta.dirname, "../../../shared/data/locomo-dev")

interface Line {
  readonly from: string
  readonly text: string
  readonly image?: string
}

/** The real messages in their order, each by its speaker; none where they are not at hand. */
export const realMessages = (): ReadonlyArray<Said> => {
  if (!existsSync(REAL_MESSAGES)) return []
  return readdirSync(REAL_MESSAGES)
    .filter((name) => name.endsWith(".jsonl") && !name.includes("questions"))
    .toSorted()
    .flatMap((name) => readFileSync(join(REAL_MESSAGES, name), "utf8").split("\n"))
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line)
    .map(({ from, image, text }) => ({ from, text: image === undefined ? text : `${text} [shows ${image}]` }))
}

const ships = ["Aurora", "Borealis", "Cormorant", "Dolphin", "Egret", "Fulmar", "Gannet"]
const cargoes = ["timber", "salt", "copper", "wool", "barley"]
const hands = ["Anselm", "Brita", "Cosimo"]

const talk = [
  (ship: string, cargo: string, index: number) =>
    `The ${ship} brought ${20 + index} tons of ${cargo} to the long pier.`,
  (ship: string) => `I talked to the mate of the ${ship} for an hour, and I like the man. He keeps pigeons on board.`,
  (ship: string, cargo: string) => `How was your morning? Mine was all paper, mostly about ${cargo} and the ${ship}.`,
  (ship: string, _: string, index: number) =>
    `The ${ship} needs a new sail, and the sailmaker wants ${90 + index} crowns.`,
  (_: string, cargo: string) => `Well, nobody here knows how to stow ${cargo}. I will ask the old hands tomorrow.`
]

/** As many messages of our own, for where no real ones are at hand: the same every time. */
export const harbourTalk = (count: number): ReadonlyArray<Said> =>
  Array.from({ length: count }, (_, index) => ({
    from: hands[index % hands.length]!,
    text: talk[(index * 3) % talk.length]!(ships[(index * 5) % ships.length]!, cargoes[index % cargoes.length]!, index)
  }))

const planted = (from: string, text: string, question: string, value: string): Planted => ({
  from,
  text,
  question,
  value
})

export const plantedFacts: ReadonlyArray<Planted> = [
  planted("Noor", "The locker in the north hall opens with 4417.", "What opens the locker in the north hall?", "4417"),
  planted(
    "Noor",
    "My niece Quilla has her birthday on 9 February.",
    "When is the birthday of the niece of Noor?",
    "9 February"
  ),
  planted("Teo", "The ferry Halcyon sails from berth 62.", "From which berth does the ferry Halcyon sail?", "berth 62"),
  planted("Noor", "I sold my grand piano to Mr. Obruchev.", "Who has bought the grand piano?", "Obruchev"),
  planted(
    "Teo",
    "The spare key of the boathouse hangs behind the barometer.",
    "Where is the key of the boathouse?",
    "barometer"
  ),
  planted("Noor", "Our cat answers to Pirouette and nothing else.", "What is the cat called?", "Pirouette"),
  planted("Teo", "I paid 1,893 crowns for the blue sloop.", "What did the blue sloop cost?", "1,893"),
  planted(
    "Noor",
    "The lighthouse keeper takes his tea with cardamom.",
    "How does the lighthouse keeper take tea?",
    "cardamom"
  ),
  planted(
    "Teo",
    "The archive of the choir lies in box Zeta-17.",
    "Where does the archive of the choir lie?",
    "Zeta-17"
  ),
  planted("Noor", "Doctor Wexelblat prescribed me drops of arnica.", "What did the doctor prescribe?", "arnica")
]

/** The messages of each day, the facts spread evenly among them all. */
export const daysOf = (
  messages: ReadonlyArray<Said>,
  facts: ReadonlyArray<Said>,
  days: number
): ReadonlyArray<ReadonlyArray<Said>> => {
  const stride = messages.length / facts.length
  const places = facts.map((_, index) => Math.floor((index + 0.5) * stride))
  const all = messages.flatMap((message, index) => {
    const fact = facts[places.indexOf(index)]
    return fact === undefined ? [message] : [fact, message]
  })
  const perDay = Math.ceil(all.length / days)
  return Array.from({ length: days }, (_, day) => all.slice(day * perDay, (day + 1) * perDay))
}
