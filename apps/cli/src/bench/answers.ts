// Answers: what a model answers from what it is shown, and whether that is right.
// Owns both prompts and reading the verdict. Leaves the model to its choice, scores to memory-bench.ts.
// A1  A verdict that is none counts as wrong, and is counted.
// A2  A question that is too long to be asked is not asked: it is counted by itself, and is neither right nor wrong.

import * as Effect from "effect/Effect"
import type { OpenModel } from "reverie/testing"
import type { Question } from "./suites.ts"

export interface Answered {
  readonly isRight: boolean
  /** The judge said neither yes nor no. */
  readonly isUnjudged: boolean
  readonly inputTokens: number
  readonly outputTokens: number
}

const ANSWERING =
  "You answer a question about past conversations. Use only the lines you are given; each begins with its day. " +
  "Work out dates that are said relative to a line's day. Where the lines do not hold the answer, say that it is not known. " +
  "Answer in one short sentence."

const JUDGING =
  "You judge answers. You are given a question, the reference, and an answer. Say yes when the answer agrees with the " +
  "reference in what was asked, whatever its words; more detail does no harm. Say no when it differs, leaves the asked part out, " +
  "or claims to know what the reference says is not known. Your reply is one word: yes or no."

const asked = ({ date, text }: Question): string => (date === undefined ? text : `${text} (asked on ${date})`)

const referenceOf = ({ answer, isUnanswered, rubric }: Question): string => {
  if (isUnanswered) return `It is not known.${rubric.length === 0 ? "" : ` ${rubric.join("; ")}`}`
  return [answer, ...rubric].filter((text) => text !== "").join("; ")
}

const CALL = "bench"

const said = ({ model }: OpenModel, system: string, user: string, maxOutputTokens: number) =>
  Effect.runPromise(
    model.infer({
      messages: [
        { role: "system", content: system },
        { role: "user", content: user }
      ],
      tools: [],
      callPrefix: CALL,
      maxOutputTokens
    })
  )

const ANSWER_TOKENS = 1_000

const verdictOf = (text: string): boolean | undefined => {
  const [word] = text.toLowerCase().match(/\b(?:yes|no)\b/) ?? []
  return word === undefined ? undefined : word === "yes"
}

/** Asks a question over such lines, and judges what comes. */
export const answer = async (
  question: Question,
  lines: ReadonlyArray<string>,
  { judge, model }: { readonly model: OpenModel; readonly judge: OpenModel }
): Promise<Answered> => {
  const reply = await said(model, ANSWERING, `${lines.join("\n")}\n\nQuestion: ${asked(question)}`, ANSWER_TOKENS)
  const about = `Question: ${asked(question)}\nReference: ${referenceOf(question)}\nAnswer: ${reply.text}`
  const verdict = verdictOf((await said(judge, JUDGING, about, ANSWER_TOKENS)).text)
  return {
    isRight: verdict === true,
    isUnjudged: verdict === undefined,
    inputTokens: reply.usage.inputTokens,
    outputTokens: reply.usage.outputTokens
  }
}
