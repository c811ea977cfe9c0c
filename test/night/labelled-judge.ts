// Labelled judge: what a dream learns of a labelled conversation, and how much of it is right.
// Owns the form of a case, living through one in a fleet, and the two figures. Leaves the cases to `labelled.ts` and `labelled-held-out.ts`.
// J1  A fact says what a label says when it has its words. A denial says no label that denies nothing, unless it says one
//     that denies as well.
// J2  Precision is the share of right ones among the facts that are right or wrong; recall that of the labels which a fact says.

import { defineAssistant, type Fleet } from "reverie"
import { testFleet } from "reverie/testing"

export type Label = readonly [who: string, ...what: ReadonlyArray<string>]

export interface Labelled {
  readonly kind: string
  /** All on Thursday 29 February 2024, a minute apart. */
  readonly said: ReadonlyArray<readonly [speaker: string, text: string]>
  readonly learn?: ReadonlyArray<Label>
  readonly may?: ReadonlyArray<Label>
}

const LISTENER = "listener"
const DAY = Date.UTC(2024, 1, 29, 9, 30)
const MINUTE_MILLIS = 60_000
/** The night after. */
const NIGHT = Date.UTC(2024, 1, 29, 22)

const listener = defineAssistant({
  id: LISTENER,
  instructions: "You only listen to what people tell each other, and remember it.",
  toolRules: [{ type: "exit", tool: "noop" }]
})

const learntBy = async (fleet: Fleet, { said }: Labelled): Promise<ReadonlyArray<string>> => {
  for (const [index, [from, text]] of said.entries()) {
    const at = DAY + index * MINUTE_MILLIS
    await fleet.post(LISTENER, { type: "message", text, at }, { id: `said-${index}`, from })
  }
  await fleet.idle()
  await fleet.post(LISTENER, { type: "sleep" })
  await fleet.idle()
  const facts = await fleet.memory.facts(LISTENER)
  return facts.filter(({ state }) => state === "active").map(({ text }) => text)
}

/** What a dream of the offline model learns of a case, in a fleet of its own. */
export const dreamt = async (labelled: Labelled): Promise<ReadonlyArray<string>> => {
  await using fleet = await testFleet(listener, { model: "offline", startAt: NIGHT })
  return await learntBy(fleet, labelled)
}

const denial = /\b(?:not|no|never|nobody|nothing|none|neither|without|cannot)\b|n't\b/i

const hasWord = (text: string, forms: string): boolean => new RegExp(`(?<![\\p{L}\\p{N}])(?:${forms})`, "iu").test(text)

const hasWords = (text: string, label: Label): boolean => label.every((forms) => hasWord(text, forms))

const denies = (label: Label): boolean => label.some((forms) => denial.test(forms))

/** The labels that a fact says, each by its place among them. */
const saidBy = (fact: string, labels: ReadonlyArray<Label>): ReadonlyArray<number> => {
  const text = fact.replaceAll("’", "'")
  const found = labels.flatMap((label, place) => (hasWords(text, label) ? [place] : []))
  const isDenial = denial.test(text)
  return isDenial && !found.some((place) => denies(labels[place] ?? [""])) ? [] : found
}

export interface Judged {
  readonly kind: string
  /** Facts that say a label. */
  readonly right: ReadonlyArray<string>
  /** Facts that say none. */
  readonly wrong: ReadonlyArray<string>
  /** Labels that no fact says. */
  readonly missed: ReadonlyArray<Label>
  /** How many labels there are to be learnt. */
  readonly asked: number
}

export const judge = ({ kind, learn = [], may = [] }: Labelled, facts: ReadonlyArray<string>): Judged => {
  const labels = [...learn, ...may]
  const said = facts.map((fact) => ({ fact, places: saidBy(fact, labels) }))
  const found = new Set(said.flatMap(({ places }) => places))
  return {
    kind,
    right: said.flatMap(({ fact, places }) => (places.some((place) => place < learn.length) ? [fact] : [])),
    wrong: said.flatMap(({ fact, places }) => (places.length === 0 ? [fact] : [])),
    missed: learn.filter((_, place) => !found.has(place)),
    asked: learn.length
  }
}

export interface Figures {
  readonly precision: number
  readonly recall: number
}

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((all, each) => all + each, 0)

export const figuresOf = (judged: ReadonlyArray<Judged>): Figures => {
  const right = sum(judged.map((each) => each.right.length))
  const wrong = sum(judged.map((each) => each.wrong.length))
  const asked = sum(judged.map((each) => each.asked))
  const missed = sum(judged.map((each) => each.missed.length))
  return { precision: right / Math.max(1, right + wrong), recall: (asked - missed) / Math.max(1, asked) }
}

/** What a person reads who makes the rules better. */
export const failuresText = (judged: ReadonlyArray<Judged>): string =>
  judged
    .flatMap(({ kind, missed, wrong }) => [
      ...wrong.map((fact) => `${kind}: wrong: ${fact}`),
      ...missed.map((label) => `${kind}: missed: ${label.join(" / ")}`)
    ])
    .join("\n")
