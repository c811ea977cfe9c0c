// EvalDreams: what a dream learns of labelled conversations, and how much of it is right.
// Owns living through a case in a fleet, and the two figures. Leaves the cases to `labelled.ts` and
// `labelled-held-out.ts`.
// J1  A fact says what a label says when it has its words. A denial says no label that denies nothing, unless it says one
//     that denies as well.
// J2  Precision is the share of right ones among the facts that are right or wrong; recall that of the labels which a fact says.
// J4  A model that answers nothing at all is measured by no figure: it is said what it fails with.
// J3  The model is asked by the dream alone: by day the assistant listens, with the offline one.

import type { InferOptions, Model, Prompt } from "@reverie/model"
import { defined } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { defineAssistant } from "../../define-assistant.ts"
import type { Fleet } from "../../fleet.ts"
import type { ModelChoice } from "../../models/model-choice.ts"
import { EvalBroken } from "../errors.ts"
import { openModel } from "../../models/open-model.ts"
import { purposeOf } from "../scripted-model.ts"
import { testFleet } from "../test-fleet.ts"
import type { DreamCase, FactLabel } from "./dream-case.ts"
import { heldOut } from "./labelled-held-out.ts"
import { development } from "./labelled.ts"

/** Which model dreams, and of what. */
export interface DreamEvalOptions {
  /** The model that dreams; the offline one when not said. */
  readonly model?: ModelChoice
  /** Conversations of your own, in place of those of Reverie. */
  readonly cases?: ReadonlyArray<DreamCase>
  /** Takes each case when it was dreamt of: its number, from 1, and how many there are. */
  readonly onCase?: (number: number, of: number) => void
}

/** How much of what a dream learns is right, and how much of what it should learn it learns. */
export interface DreamFigures {
  /** Conversations. */
  readonly cases: number
  /** Of the facts that are right or wrong, the share that is right: 0 to 1. */
  readonly precision: number
  /** Of what has to be learnt, the share that a fact says: 0 to 1. */
  readonly recall: number
  /** Facts that say what has to be learnt. */
  readonly right: number
  /** Facts that say nothing that was labelled. */
  readonly wrong: number
  /** Labels that no fact says. */
  readonly missed: number
}

/** What dreams of labelled conversations come to. */
export interface DreamEval {
  /** Of the conversations that Reverie's own rules were made by, or of yours. */
  readonly development: DreamFigures
  /** Of those that they were not made by; undefined for conversations of your own. */
  readonly heldOut?: DreamFigures
  /** A line for each wrong fact and each missed label of `development`. Of those held out no one is shown which fail. */
  readonly failures: ReadonlyArray<string>
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

const learntBy = async (fleet: Fleet, { said }: DreamCase): Promise<ReadonlyArray<string>> => {
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

/** By day the one, for dreams the other, and what that comes to. */
class Dreamer {
  readonly model: Model["Service"]
  #answers = 0
  #failure: unknown

  constructor(day: Model["Service"], night: Model["Service"]) {
    const heard = (prompt: Prompt, options?: InferOptions) =>
      night.infer(prompt, options).pipe(
        Effect.tap(() => Effect.sync(() => this.#answers++)),
        Effect.tapError((error) => Effect.sync(() => (this.#failure ??= error)))
      )
    this.model = {
      infer: (prompt, options) => (purposeOf(prompt) === "dream" ? heard : day.infer)(prompt, options)
    }
  }

  /** Throws what the model failed with, where it has never answered. */
  judge(): void {
    if (this.#answers === 0 && this.#failure !== undefined) throw this.#failure
  }
}

const dreamt = async (each: DreamCase, dreamer: Dreamer): Promise<ReadonlyArray<string>> => {
  await using fleet = await testFleet(listener, { model: dreamer.model, startAt: NIGHT })
  const learnt = await learntBy(fleet, each)
  dreamer.judge()
  return learnt
}

const denial = /\b(?:not|no|never|nobody|nothing|none|neither|without|cannot)\b|n't\b/i

const hasWord = (text: string, forms: string): boolean => new RegExp(`(?<![\\p{L}\\p{N}])(?:${forms})`, "iu").test(text)

const hasWords = (text: string, label: FactLabel): boolean => label.every((forms) => hasWord(text, forms))

const denies = (label: FactLabel): boolean => label.some((forms) => denial.test(forms))

/** The labels that a fact says, each by its place among them. */
const saidBy = (fact: string, labels: ReadonlyArray<FactLabel>): ReadonlyArray<number> => {
  const text = fact.replaceAll("’", "'")
  const found = labels.flatMap((label, place) => (hasWords(text, label) ? [place] : []))
  const isDenial = denial.test(text)
  return isDenial && !found.some((place) => denies(labels[place] ?? [""])) ? [] : found
}

interface Judged {
  readonly kind: string
  /** Facts that say a label. */
  readonly right: ReadonlyArray<string>
  /** Facts that say none. */
  readonly wrong: ReadonlyArray<string>
  /** Labels that no fact says. */
  readonly missed: ReadonlyArray<FactLabel>
  /** How many labels there are to be learnt. */
  readonly asked: number
}

const judge = ({ kind, learn = [], may = [] }: DreamCase, facts: ReadonlyArray<string>): Judged => {
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

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((all, each) => all + each, 0)

const figuresOf = (judged: ReadonlyArray<Judged>): DreamFigures => {
  const right = sum(judged.map((each) => each.right.length))
  const wrong = sum(judged.map((each) => each.wrong.length))
  const asked = sum(judged.map((each) => each.asked))
  const missed = sum(judged.map((each) => each.missed.length))
  return {
    cases: judged.length,
    precision: right / Math.max(1, right + wrong),
    recall: (asked - missed) / Math.max(1, asked),
    right,
    wrong,
    missed
  }
}

const failuresOf = (judged: ReadonlyArray<Judged>): ReadonlyArray<string> =>
  judged.flatMap(({ kind, missed, wrong }) => [
    ...wrong.map((fact) => `${kind}: wrong: ${fact}`),
    ...missed.map((label) => `${kind}: missed: ${label.join(" / ")}`)
  ])

/**
 * Has short labelled conversations dreamt of, each in a fleet of its own, and measures the facts that come of it: with
 * the model that you mean to use, before its dreams are those of your assistants. About 60 conversations come with
 * Reverie. Rejects with EvalBroken where a case has neither a text nor a label, and with what the model fails with.
 * @example
 * const { heldOut } = await evalDreams({ model: "openai/gpt-5-mini" })
 * console.log(heldOut?.precision, heldOut?.recall)
 */
export const evalDreams = async ({ cases, model = "offline", onCase }: DreamEvalOptions = {}): Promise<DreamEval> => {
  if (cases?.length === 0) throw new EvalBroken({ message: "there is no conversation to dream of" })
  const [day, night] = [await openModel("offline"), await openModel(model)]
  try {
    const all = [...(cases ?? development), ...(cases === undefined ? heldOut : [])]
    const judged: Array<Judged> = []
    for (const each of all) {
      judged.push(judge(each, await dreamt(each, new Dreamer(day.model, night.model))))
      onCase?.(judged.length, all.length)
    }
    const shown = judged.slice(0, cases?.length ?? development.length)
    const rest = judged.slice(shown.length)
    return {
      development: figuresOf(shown),
      ...defined({ heldOut: rest.length === 0 ? undefined : figuresOf(rest) }),
      failures: failuresOf(shown)
    }
  } finally {
    await day.close()
    await night.close()
  }
}
