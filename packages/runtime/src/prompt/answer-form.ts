// AnswerForm: the form that the answer of the tick at hand must have.
// Owns finding it, what a prompt has of it, and judging an answer by it. Leaves reading an answer to `tools`, and how often it is
// asked for again to `assistant`.
// N1  The form that a message asks for comes before that of the definition; a tick that no message began has none.
// N2  It is found in the history and in the definition alone: a crash, a later iteration, a replay and a fork have the same.
// N3  A tick without a form makes nothing of all this but one look at its event.

import { contextOf, mayRepair, type Restriction } from "@reverie/assistant"
import { type OutputForm, outputText, type Reply } from "@reverie/model"
import { defined } from "@reverie/protocol"
import { type Form, formOf, readAnswer, rejectionOf } from "@reverie/tools"
import * as Effect from "effect/Effect"
import type { JudgedAnswer } from "../commit/commit-draft.ts"
import type { Session } from "../session/session.ts"

/** What the wire calls every form. */
const NAME = "answer"

/** Undefined where any answer will do. */
export const answerFormOf = ({ definition, window }: Pick<Session, "definition" | "window">): Form | undefined => {
  const event = window.messages.findLast(({ role }) => role === "user")
  if (event?.output === undefined) return event === undefined || event.name === "clock" ? undefined : definition.output
  const asked = formOf(event.output)
  // What can be no form was refused at the door.
  return typeof asked === "string" ? undefined : asked
}

/** By the form: a prompt has the same object with every call. */
const outputs = new WeakMap<Form, OutputForm>()

/** The form as a prompt has it. */
export const outputOf = (form: Form | undefined): OutputForm | undefined => {
  if (form === undefined) return undefined
  const known = outputs.get(form) ?? { name: NAME, schema: form.schema }
  outputs.set(form, known)
  return known
}

/** What the form costs in a prompt, said in words: a provider that reads it natively asks for about as much. */
export const formTokensOf = (session: Session): number => {
  const output = outputOf(answerFormOf(session))
  if (output === undefined) return 0
  const { book, count } = session
  return book.rendered("answer form", [output], () => count({ role: "user", content: outputText(output), at: 0 }))
}

/** What stands in the history in the place of an answer that a hook refused. */
export const WITHHELD = { text: "(withheld)", meta: { type: "withheld" } } as const

const refusedText = (reason: string): string => `Your answer was not accepted: ${reason} Answer again.`

/**
 * What an answer comes to; undefined where any will do. `refusal`: why a hook refused it. `pressed`: what is left of the pattern
 * where it has become narrower since the tick began.
 */
export const judgedAnswer = (
  { decoded }: Pick<Session, "decoded">,
  form: Form | undefined,
  { calls, text }: Pick<Reply, "calls" | "text">,
  refusal: string | undefined,
  pressed: Restriction | undefined
): Effect.Effect<JudgedAnswer | undefined> => {
  const again = { calls: [], ...defined({ restriction: pressed }) }
  if (refusal !== undefined) {
    const mayAgain = mayRepair(contextOf(decoded), { ...again, refused: true })
    return Effect.succeed({ refusal, rejected: mayAgain ? refusedText(refusal) : undefined })
  }
  if (form === undefined || calls.length > 0) return Effect.undefined
  return readAnswer(form, text).pipe(
    Effect.map(({ json }): JudgedAnswer => ({ output: json })),
    Effect.catch((issues) => {
      const mayAgain = mayRepair(contextOf(decoded), { ...again, misshapen: true })
      return Effect.succeed({ issues, rejected: mayAgain ? rejectionOf(issues) : undefined })
    })
  )
}
