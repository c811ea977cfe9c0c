// Form: what the answer of an assistant must look like, and whether an answer does.
// Owns taking a schema as a form, reading an answer by it, and what a model reads of one that does not fit. Leaves the
// schema itself to `input.ts`: a form is taken, inferred and refused as the input of a tool is.
// I1  An answer is one JSON object, alone or in one code fence. Nothing else is guessed.
// I2  What crosses the mailbox is the schema as its author wrote it, so that the check there refuses nothing that the author's own
//     check admits; a model learns of the narrower one that every provider takes.
// I3  Forms that say the same are compiled once, and only so many are kept.

import { type AnswerForm, type Json, MAX_FORM_CHARS, parseJson } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { clipped, WHOLE } from "../results/sentences.ts"
import { acceptInput, type AcceptedInput } from "./input.ts"

/** The form of an answer. */
export interface Form {
  /** What crosses the mailbox. */
  readonly document: AnswerForm
  /** As a model learns of it. */
  readonly schema: AcceptedInput["parameters"]
  /** What the JSON of an answer decodes to, or sentences of what does not fit. */
  readonly validate: AcceptedInput["validate"]
}

/** A schema as a form, or one sentence of why it can be none. */
export const acceptForm = (output: unknown): Form | string => {
  const accepted = output === undefined ? "its input is left out" : acceptInput(output)
  if (typeof accepted === "string") return accepted.replace(/^its input\b/, "its output")
  const { document, parameters: schema, validate } = accepted
  const { length } = JSON.stringify(document)
  return length > MAX_FORM_CHARS
    ? `its output has ${length} characters as JSON Schema, and at most ${MAX_FORM_CHARS} are taken`
    : { document, schema, validate }
}

const MOST_KNOWN = 64
const known = new Map<string, Form | string>()

/** The form that a message asks for, or why it can be none. The one that was asked for longest ago is forgotten first. */
export const formOf = (document: AnswerForm): Form | string => {
  const text = JSON.stringify(document)
  const form = known.get(text) ?? acceptForm(document)
  known.delete(text)
  known.set(text, form)
  const [oldest] = known.keys()
  if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest)
  return form
}

const FENCED = /^```[A-Za-z]*[^\S\n]*\n([\s\S]*?)\n?```$/

const jsonIn = (text: string): Result.Result<Json, ReadonlyArray<string>> => {
  const said = text.trim()
  if (said === "") return Result.fail(["the answer: is empty"])
  return Result.mapError(parseJson(FENCED.exec(said)?.[1] ?? said), (why) => [
    clipped(`the answer: is not JSON (${why})`, 300)
  ])
}

const ofAnswer = (sentence: string): string =>
  sentence.startsWith(`${WHOLE}: `) ? `the answer${sentence.slice(WHOLE.length)}` : sentence

/** What an answer says, if it has the form. */
export interface ReadAnswer {
  readonly json: Json
  /** What the form makes of it. */
  readonly value: unknown
}

/** The answer as its form reads it, or sentences of what does not fit. */
export const readAnswer = (form: Form, text: string): Effect.Effect<ReadAnswer, ReadonlyArray<string>> =>
  Effect.flatMap(Effect.fromResult(jsonIn(text)), (json) => checkAnswer(form, json))

/** The same of an answer that was read before. */
export const checkAnswer = ({ validate }: Form, json: Json): Effect.Effect<ReadAnswer, ReadonlyArray<string>> =>
  validate(json).pipe(
    Effect.map((value) => ({ json, value })),
    Effect.mapError((issues) => issues.map(ofAnswer))
  )

const MAX_REJECTION_CHARS = 2_000

/** What a model reads of an answer that does not fit. */
export const rejectionOf = (issues: ReadonlyArray<string>): string =>
  `${clipped(`Your answer was not accepted: ${issues.join("; ")}`, MAX_REJECTION_CHARS)}. Answer again with one JSON object of the form that was asked for, and nothing else.`
